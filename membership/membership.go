package membership

import (
	"fmt"
	"slices"
	"time"

	"github.com/coeval-dev/coeval/conn"
	"github.com/coeval-dev/coeval/council"
	"github.com/coeval-dev/coeval/crimp"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/member"
)

// Membership decides, together with those of the other mirrors, who is in a group: a
// crimp.Authority without coordinator. It belongs to one crimp.Node and to the goroutine
// that drives it, and is good for one stay in the group: after Dismissed or Denied, make a
// new one.
type Membership struct {
	opt    Options
	random *random
	now    time.Duration
	g      *crimp.Group
	begun  bool // Step was called
	done   bool

	door   *conn.Server
	asking *asking
	bytes  uint64 // of connections that have ended
	client uint64 // as whom this one asks: a new connection takes the place of the old one

	tenure
	isolation
	departure
	office
	asked    []charge // whom this mirror asks the überserver for
	reasons  reasons
	refusals Refusals
	proofs   proofs
	talk     []byte
	inParts  []*inParts

	memorized memorized
	vows      []vow
}

// Refusals counts what other members said and this one did not believe, beside what the council
// counts.
type Refusals struct {
	Outsiders uint64 // said by one that is out
	Closed    uint64 // that the group ends, while others have the world
	Evidence  uint64 // evidence that is none
	Door      uint64 // at a door, that this mirror is out, while it is in touch with the others
}

// tenure is this mirror's stay in the group. Without a council it is not in; with one, charter and
// uber are those of the council's newest decree.
type tenure struct {
	council *council.Council
	self    member.ID
	charter charter
	uber    member.ID
	state   bool // this member has the state
	lapsed  bool // it has missed rosters that nobody has any more: it only votes, and wants to go
	frozen  map[member.ID]bool
	sayAt   time.Duration // when to tell the überserver again that we have begun, or want to go
}

// isolation is whether a majority is not heard, and since when.
type isolation struct {
	cutOff bool
	cutAt  time.Duration
}

// departure is this mirror's wish to leave.
type departure struct {
	leaving bool
	yields  bool // it goes only if another has the state
	leaveBy time.Duration
	closing int // how often others were told that the group ends
}

// office is what only the überserver knows. Whoever does not lead has nothing in it, but that it
// remembers for a moment who wants to leave: where several do, they must not hand on the lead to
// each other.
type office struct {
	candidates []candidate
	newcomers  map[member.ID]*newcomer
	ready      map[member.ID]bool         // have begun, and have no vote yet
	leavers    map[member.ID]leaver       // have said that they want to leave
	expelled   map[member.ID]crimp.Reason // to be taken out
}

// leaver is a member that wants to leave. It says so again and again, for it may come to stay.
type leaver struct {
	last  crimp.Sequence
	since time.Duration
	said  time.Duration // when it was last said
}

var (
	_ crimp.Authority = (*Membership)(nil)
	_ council.Owner   = (*owner)(nil)
)

// New makes a mirror's membership. It does nothing until the node is driven.
func New(o Options) (*Membership, error) {
	if err := o.fill(); err != nil {
		return nil, err
	}
	m := &Membership{
		opt: o, random: &random{seed: o.Seed}, tenure: tenure{frozen: map[member.ID]bool{}},
		office: office{newcomers: map[member.ID]*newcomer{}, ready: map[member.ID]bool{},
			leavers: map[member.ID]leaver{}, expelled: map[member.ID]crimp.Reason{}},
		reasons: reasons{why: map[member.ID]crimp.Reason{}}, proofs: proofs{sign: o.Sign}}
	m.opt.Card = o.Identity.Card(o.Card.Addr, o.Card.Site)
	m.client = m.random.Uint64()
	if err := m.openDoor(); err != nil {
		return nil, err
	}
	if !o.Found {
		m.asking = newAsking(m, slices.Clone(o.Ask))
		m.asking.turn = 1
		if err := m.asking.dial(m.asking.targets[0], 0); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// Uber is who leads: the überserver, or zero if this mirror is not in the group.
func (m *Membership) Uber() member.ID { return m.uber }

// Leads reports whether this mirror is the überserver, as far as it knows. It may act as
// one only while Quorum is true.
func (m *Membership) Leads() bool { return m.self != 0 && m.uber == m.self && !m.done }

// Quorum reports whether enough voters are heard that what this mirror does is known to
// count. Without, the others may have gone on without it.
func (m *Membership) Quorum() bool { return m.council != nil && !m.done && m.council.Quorum() }

// Epoch is the number of the decree in force, and of its roster.
func (m *Membership) Epoch() uint32 { return m.charter.roster.Epoch }

// Voters lists who decides, witnesses included. A newcomer votes once it has the state.
func (m *Membership) Voters() []member.ID {
	return slices.Clone(m.decree().Voters)
}

// Witnesses lists those of the voters that have no world.
func (m *Membership) Witnesses() []member.ID {
	return slices.Clone(m.decree().Witnesses)
}

// decree is the newest, or an empty one where there is none.
func (m *Membership) decree() *council.Decree {
	if m.council == nil {
		return &council.Decree{}
	}
	return m.council.Decree()
}

// Need is how many of the voters must hold something so that whatever is decided later, one
// who decides has it. Witnesses hold nothing.
func (m *Membership) Need() int {
	if m.council == nil {
		return 0
	}
	return m.council.Decree().Need()
}

// Stats tells what the council has met.
func (m *Membership) Stats() council.Stats {
	if m.council == nil {
		return council.Stats{}
	}
	return m.council.Stats()
}

// Refusals tells what was not believed.
func (m *Membership) Refusals() Refusals { return m.refusals }

// Dismiss has a member taken out, for a reason that it is told. Only the überserver's word
// counts. It happens when a majority has agreed.
func (m *Membership) Dismiss(now time.Duration, id member.ID, why crimp.Reason) {
	if m.Leads() && id != m.self && m.charter.find(id) != nil {
		m.expelled[id] = why
	}
}

// Receive takes the datagrams of connections: at the door, and to whom this one asks.
func (m *Membership) Receive(now time.Duration, batch []link.Datagram) {
	m.now = now
	m.door.Receive(now, batch)
	for _, t := range m.asks() {
		t.client.Receive(now, batch)
	}
}

// Hear takes what another member's authority says.
func (m *Membership) Hear(now time.Duration, g *crimp.Group, from member.ID, b []byte) {
	m.now, m.g = max(m.now, now), g
	if m.council == nil || m.done || len(b) == 0 {
		return
	}
	if b[0] != talkWhole && !m.council.Decree().Has(from) {
		m.refusals.Outsiders++ // the council tells one that is out, and takes nothing of it
		return
	}
	switch b[0] {
	case talkWhole:
		m.takeCouncil(from, b[1:])
	case talkPart:
		if whole := m.assemble(from, b); whole != nil {
			m.takeCouncil(from, whole)
		}
	case talkClosed:
		switch d := m.council.Decree(); {
		case from != m.uber || len(b) != 1:
		case slices.ContainsFunc(d.Voters,
			func(id member.ID) bool { return id != m.uber && d.MayLead(id) }):
			m.refusals.Closed++ // others have the world
		default:
			m.end(crimp.Dismissed, crimp.ReasonClosed, "")
		}
	case talkBegun:
		if m.Leads() && len(b) == 1 && slices.Contains(m.council.Decree().Learners, from) {
			m.ready[from] = true
		}
	case talkJoin:
		m.askedFor(from, b)
	case talkSign:
		m.proofs.sign = m.proofs.sign || len(b) == 1
	case talkEvidence:
		m.hearEvidence(from, b)
	case talkLeave:
		var leave leaver
		if m.Leads() && m.council.Decree().Has(from) && read(b, &leave) {
			leave.said, leave.since = m.now, m.now
			if m.Leaves(from) {
				leave.since = m.leavers[from].since
			}
			m.leavers[from] = leave
		}
	}
}

// takeCouncil takes a message of the council. What it decides is put in force before the next
// one, which may be about the next epoch already.
func (m *Membership) takeCouncil(from member.ID, b []byte) {
	m.council.Receive(m.now, from, b)
	m.learn()
}

// Step does what is due.
func (m *Membership) Step(now time.Duration, g *crimp.Group) {
	m.now, m.g = max(m.now, now), g
	if !m.begun {
		m.begun = true
		g.Linger(linger)
		if m.opt.Found {
			m.found()
		}
	}
	m.atDoor()
	if m.asking != nil {
		m.asking.step()
	}
	if m.council == nil || m.done {
		return
	}
	m.listen()
	m.accuse()
	m.signing()
	m.council.Tick(m.now)
	m.learn()
	if m.done {
		return
	}
	m.preside()
	m.ask()
	m.learn() // what took no other's vote
	m.mind()
	m.remember()
	for _, out := range m.council.Outgoing() {
		m.say(out.To, out.Data)
	}
}

// mind does what a member does for itself: it tells when it has begun, notices when it is
// cut off, and leaves.
func (m *Membership) mind() {
	quorum := m.council.Quorum()
	switch {
	case !quorum && !m.cutOff:
		m.cutOff, m.cutAt = true, m.now
		m.g.Tell(crimp.Event{Kind: crimp.CutOff, Member: m.self})
	case quorum && m.cutOff && !m.lapsed:
		m.cutOff = false
		m.g.Tell(crimp.Event{Kind: crimp.Reunited, Member: m.self})
		if m.asking != nil && m.asking.inquiry {
			m.asking.stop()
		}
	}
	if m.leaving {
		m.depart()
	}
	if m.done {
		return
	}
	learner := !m.council.Decree().Votes(m.self)
	if m.state && learner && !m.Leads() && m.now >= m.sayAt {
		m.sayAt = m.now + m.opt.Silence/5
		_ = m.g.Confer(m.now, m.uber, []byte{talkBegun})
	}
	if m.asking == nil && (!m.state || m.cutOff && !quorum && m.now-m.cutAt > 2*m.opt.Silence) {
		m.inquire()
	}
}

// Provide answers crimp.StateWanted: the state as it is after all that has been delivered
// here.
func (m *Membership) Provide(now time.Duration, g *crimp.Group, id member.ID, state []byte) error {
	m.g = g
	return m.ProvideState(now, id, state)
}

// ProvideState is Provide for an owner that has no node at hand.
func (m *Membership) ProvideState(now time.Duration, id member.ID, state []byte) error {
	m.now = max(m.now, now)
	n := m.newcomers[id]
	if n == nil || !n.waiting || n.conn == nil || !n.conn.Open() || m.g == nil {
		return crimp.ErrNotMember
	}
	n.waiting = false
	err := n.conn.Send(channel, write(messageStart, &start{len(state) > 0, m.g.Start()}))
	if err == nil && len(state) > 0 {
		_, err = n.conn.SendBulk(stateTag, state)
	}
	if err != nil {
		return fmt.Errorf("membership: state for member %d: %w", id, err)
	}
	return nil
}

// end ends membership, or the wish for it.
func (m *Membership) end(kind crimp.EventKind, why crimp.Reason, text string) {
	if m.done {
		return
	}
	m.done = true
	if m.asking != nil {
		m.asking.close()
	}
	for _, id := range sorted(m.newcomers) {
		if n := m.newcomers[id]; n.conn != nil {
			_ = n.conn.Send(channel, []byte{messageWait})
		}
	}
	m.door.Shutdown(conn.ReasonClosing, "")
	id := m.self
	m.uber = 0
	if m.g.ID() != 0 {
		m.g.Dismiss(m.now, why)
		return
	}
	e := crimp.Event{Kind: kind, Member: id, Reason: why}
	if text != "" {
		e.Data = []byte(text)
	}
	m.g.Tell(e)
}

// Flush appends what is to be sent at the door and to whom this one asks.
func (m *Membership) Flush(now time.Duration, out []link.Datagram) []link.Datagram {
	m.now = max(m.now, now)
	out = m.door.Flush(now, out)
	for _, t := range m.asks() {
		out = t.client.Flush(now, out)
	}
	return out
}

// asks are the connections by which this one asks.
func (m *Membership) asks() []*attempt {
	if m.asking == nil {
		return nil
	}
	return m.asking.attempts
}

// Deadline is when Step and Flush should be called next, at the latest.
func (m *Membership) Deadline() time.Duration {
	if !m.begun {
		return m.now
	}
	at := m.door.Deadline()
	if m.asking != nil {
		at = min(at, m.asking.deadline())
	}
	if m.council != nil && !m.done {
		at = min(at, m.council.Deadline())
	}
	return at
}

// Done reports whether this membership has ended, and all who asked at the door know.
func (m *Membership) Done() bool { return m.done && m.door.Done() }

// Bytes is how many bytes were handed out by Flush.
func (m *Membership) Bytes() uint64 {
	l := m.door.Ledger()
	n := m.bytes + l.Total()
	for _, t := range m.asks() {
		l := t.client.Ledger()
		n += l.Total()
	}
	return n
}

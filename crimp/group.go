package crimp

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/coeval-dev/coeval/conn/seed"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/member"
)

// Group is one member's part in a group: a protocol machine without clock, socket or
// goroutine. It is given rosters by whoever decides membership (a Node does that, or a
// program of its own), datagrams and the time, and hands back datagrams and events.
type Group struct {
	opt      Options
	identity *Identity
	random   *seed.Reader
	crypt    crypt
	buffers  link.Buffers
	now      time.Duration // goes only forward

	roll
	keyring
	aging
	counters
	leaving bool
	holding bool // what is delivered waits for the state
	clashed bool // the application was told that another has our identity

	whispers whispers
	lines    lines
	beat     beat
	report   reporting
	pace     pacing
	forward  forwarding
	order    ordering
	repairing
	cohort  cohort
	witness witnessing

	outbox
	inbox
	scratch
	stats Stats
	book  Ledger
}

// roll is who is in the group. The peers stand by rising id, and byID has the same ones: all others
// of whom packets may still matter. Our own packets are in self, which is nil while this node is
// no member.
type roll struct {
	self    *peer
	peers   []*peer
	byID    map[member.ID]*peer
	members int  // in the newest epoch, we included
	bridge  bool // we pass on between our site and the rest
}

// keyring is the epochs whose packets can be opened, the newest last. We seal with sending, one of
// them, and from nextAt on with next, the one after it, if there is one.
type keyring struct {
	group   uint64
	tag     uint16 // of the group, in headers
	epochs  []*epoch
	sending *epoch
	next    *epoch
	nextAt  time.Duration
}

// aging is how history passes: by intervals, of which the next begins at turnAt.
type aging struct {
	interval uint32
	turnAt   time.Duration
	linger   time.Duration // how long one that is silent is kept beyond the history
}

// counters number the datagrams that are no data packets, for each kind by itself: a number
// is used once, for nonces are made of it.
type counters [kindBeacon - kindData + 1]uint32

func (c *counters) count(kind byte) uint32 {
	c[kind-kindData]++
	return c[kind-kindData]
}

// outbox is what goes out with the next Flush. What the last one handed out is still being
// read, so its buffers are taken back one Flush later.
type outbox struct {
	ready    []outgoing
	scrap    [][]byte
	scrapOut [][]byte
}

// post queues a datagram whose buffer nobody else keeps.
func (o *outbox) post(b []byte, to member.ID, purpose Purpose) {
	o.scrap = append(o.scrap, b)
	o.ready = append(o.ready, outgoing{data: b, to: to, purpose: purpose})
}

// inbox is what the application is told with the next Events. What the last one handed out may
// point into lentOut, which is taken back with the next.
type inbox struct {
	events  []Event
	handed  []Event
	lent    [][]byte // buffers that events refer to
	lentOut [][]byte
}

// scratch is memory for packets that are taken apart or put together.
type scratch struct {
	data       dataBody
	control    controlBody
	controlOut controlBody
	body       []byte
}

// NewGroup makes a member without a group; SetRoster puts it into one.
func NewGroup(o Options) (*Group, error) {
	if err := o.fill(); err != nil {
		return nil, err
	}
	g := &Group{
		opt: o, identity: o.Identity, random: seed.New(o.Seed), buffers: link.Buffers{
			Keep: 4 << 20}}
	g.byID = map[member.ID]*peer{}
	g.whispers.known = map[member.ID]*listener{}
	g.crypt.hash = sha256.New()
	g.pace.init(&g.opt.Pace)
	g.forward.init(&g.opt)
	g.turnAt = o.History / time.Duration(o.Intervals)
	return g, nil
}

var (
	// ErrNotMember says that there is no roster with this member yet, or no longer.
	ErrNotMember = errors.New("crimp: not a member of a group, wait for the roster")
	// ErrHolding says that a newcomer has not begun yet.
	ErrHolding = errors.New("crimp: the state has not come yet, wait for State or call Begin")
	// ErrTooLarge says that a message does not fit into a datagram.
	ErrTooLarge = errors.New("crimp: message too large, see Group.MaxMessage")
	// ErrWornOut says that a member has sent as many packets as one identifier allows.
	ErrWornOut = errors.New("crimp: a billion packets are sent, join anew for another identifier")
	// ErrRoster says that a roster does not fit what went before.
	ErrRoster = errors.New("crimp: roster is older than the one in force, or of another group")
)

// ID is this member's identifier, zero before it is in a roster.
func (g *Group) ID() member.ID {
	if g.self == nil {
		return 0
	}
	return g.self.id
}

// Begun reports whether this member takes part: it may send, and is delivered what the
// others send from now on.
func (g *Group) Begun() bool { return g.self != nil && !g.holding }

// Epoch is the number of the newest roster.
func (g *Group) Epoch() uint32 {
	if len(g.epochs) == 0 {
		return 0
	}
	return g.epochs[len(g.epochs)-1].number
}

// Members lists who is in the newest roster.
func (g *Group) Members() (ids []member.ID) {
	if len(g.epochs) > 0 {
		for _, p := range g.epochs[len(g.epochs)-1].members {
			ids = append(ids, p.id)
		}
	}
	return ids
}

// Stats counts what the machine has met.
func (g *Group) Stats() Stats { return g.stats }

// Ledger says what every byte handed out by Flush was for.
func (g *Group) Ledger() Ledger { return g.book }

// MaxMessage is the largest message that Send takes in a group of the present size.
func (g *Group) MaxMessage() int {
	proof := signatureSize
	if g.sending != nil {
		proof = g.sending.proofSize
	}
	head := repairPrefix + headerSize + dataFixed + 1 + sealSize + proof
	return g.opt.Datagram - head - g.order.room(g)
}

// SetRoster puts a roster in force. The first that names this identity makes it a
// member; one that does not name it any more ends that. Those before must have come
// before.
func (g *Group) SetRoster(now time.Duration, r Roster) error { return g.setRoster(now, r, false) }

// SetRosterFloating is SetRoster for a member that comes to a group that is under way: what
// others sent before is not missed, and what they send is held until Begin.
func (g *Group) SetRosterFloating(now time.Duration, r Roster) error {
	return g.setRoster(now, r, true)
}

func (g *Group) setRoster(now time.Duration, r Roster, floating bool) error {
	g.advance(now)
	if err := r.Check(); err != nil {
		return err
	}
	if len(g.epochs) > 0 && (r.Group != g.group || r.Epoch <= g.Epoch()) {
		return ErrRoster
	}
	if size := r.proofSize(); headerSize+dataFixed+1+sealSize+size+repairPrefix+
		64 > g.opt.Datagram {
		return fmt.Errorf(
			"crimp: %v for %d members take %d of a datagram's %d bytes: use Signatures, or "+
				"larger datagrams", r.Proof, len(r.Members), size, g.opt.Datagram)
	}
	card := g.identity.Card(r.Members[0].Addr, 0)
	own := slices.IndexFunc(r.Members, func(m Member) bool { return m.Sign == card.Sign })
	if own < 0 {
		g.dismiss(ReasonLeft)
		return nil
	}
	if r.Members[own].Agree != card.Agree {
		return errOtherCard
	}
	if err := g.whispers.same(r.Members); err != nil {
		return err
	}
	first := g.self == nil
	if first {
		m := r.Members[own]
		g.self = newPeer(m.ID, &m.Card)
		g.group, g.tag = r.Group, groupTag(r.Group)
		g.holding = floating
	} else if r.Members[own].ID != g.self.id {
		return fmt.Errorf(
			"crimp: roster calls this member %d, not %d: leave and join anew for another identifier", r.Members[own].ID, g.self.id)
	}
	for _, m := range r.Members {
		if p := g.byID[m.ID]; p != nil && p.card.Sign != m.Sign {
			return fmt.Errorf("crimp: roster gives the identifier %d to another member", m.ID)
		}
	}
	members := make([]*peer, len(r.Members))
	for i := range r.Members {
		if members[i] = g.self; i != own {
			members[i] = g.addPeer(&r.Members[i], g.holding)
		}
	}
	if err := g.Introduce(r.Group, g.self.id, r.Members); err != nil {
		return err
	}
	e, err := newEpoch(&r, g.identity, members, own)
	if err != nil {
		return err
	}
	g.self.card.Addr, g.self.card.Site = r.Members[own].Addr, r.Members[own].Site
	g.enter(e, first)
	g.depart(e, r.Gone)
	g.keepRosterLines(now)
	return nil
}

// enter puts an epoch in force. A member that has no other seals with it at once.
func (g *Group) enter(e *epoch, newcomer bool) {
	g.epochs = append(g.epochs, e)
	if len(g.epochs) > keepEpochs {
		g.epochs = append(g.epochs[:0], g.epochs[1:]...)
	}
	g.members = len(e.members)
	first := slices.IndexFunc(e.members,
		func(p *peer) bool { return p.card.Site == g.self.card.Site })
	// Where members carry for each other, nobody has to pass on between sites.
	g.bridge = g.self.card.Site != 0 && e.members[first] == g.self && !g.opt.Carry
	if newcomer {
		g.sending = e
		g.turnAt = g.now + g.opt.History/time.Duration(g.opt.Intervals)
	} else {
		e.from = g.now + g.opt.KeyGrace
		if g.next == nil {
			g.next, g.nextAt = e, e.from
		}
	}
	g.beat.soon(g.now)
	g.report.soon(g.now)
}

// depart takes those that a new epoch lacks off the list of the present.
func (g *Group) depart(e *epoch, gone []Departure) {
	for _, p := range g.peers {
		if !p.present {
			continue
		}
		if p.present = slices.Contains(e.members, p); p.present {
			continue
		}
		p.untold, p.why = true, ReasonSilent
		if p.left {
			p.why = ReasonLeft
		}
		p.frozen = false
		for i := range gone {
			d := &gone[i]
			if d.ID != p.id {
				continue
			}
			p.why = d.Reason
			if d.Last != 0 || d.Agreed {
				g.giveUpAgreed(p, d)
				g.endPeer(p, d.Last)
			}
		}
		p.period = 0
		g.pump()
	}
}

// Dismiss ends membership here, for an authority that knows that it has ended; the event
// Dismissed says why.
func (g *Group) Dismiss(now time.Duration, why Reason) {
	g.advance(now)
	g.dismiss(why)
}

// Last is the number of the last packet that this member has sent, or zero.
func (g *Group) Last() Sequence {
	if g.self == nil {
		return 0
	}
	return g.self.next - 1
}

// dismiss ends membership.
func (g *Group) dismiss(why Reason) {
	if g.self == nil {
		return
	}
	id := g.self.id
	for _, p := range g.peers {
		g.forget(p)
	}
	g.forget(g.self)
	clear(g.byID)
	g.roll = roll{byID: g.byID}
	g.keyring = keyring{group: g.group, tag: g.tag}
	g.repairs = g.repairs[:0]
	g.ready = g.ready[:0]
	g.order = ordering{}
	g.leaving = false
	g.whispers.forget()
	g.lines = lines{}
	g.emit(Event{Kind: Dismissed, Member: id, Reason: why})
}

// advance takes the driver's time, which must not run backwards.
func (g *Group) advance(now time.Duration) {
	g.now = max(g.now, now)
	// Each in its turn: rosters that follow each other quickly must not put off all keys.
	for g.next != nil && g.now >= g.nextAt {
		g.sending, g.next = g.next, nil
		g.self.fresh = g.self.next
		for _, e := range g.epochs {
			if e.number > g.sending.number && g.next == nil {
				g.next, g.nextAt = e, e.from
			}
		}
	}
}

// emit adds an event.
func (g *Group) emit(e Event) { g.events = append(g.events, e) }

// Events hands out what has happened since it was last called. What it hands out is
// good until the next call of Receive, Tick or Events.
func (g *Group) Events() []Event {
	clear(g.handed)
	g.reclaim(g.lentOut)
	g.tellLeft()
	g.handed, g.events = g.events, g.handed[:0]
	g.lentOut, g.lent = g.lent, g.lentOut[:0]
	return g.handed
}

// reclaim takes back buffers that were handed out.
func (g *Group) reclaim(list [][]byte) {
	for i, b := range list {
		g.buffers.Put(b)
		list[i] = nil
	}
}

// clock is the time as it travels in packets.
func (g *Group) clock() uint32 { return uint32(g.now / time.Microsecond) }

// Send multicasts a message. It goes out with the next Flush.
func (g *Group) Send(now time.Duration, message []byte) (Sequence, error) {
	g.advance(now)
	if err := g.maySend(message, g.Last()+1); err != nil {
		return 0, err
	}
	seq := g.self.next
	g.self.next++
	g.self.reserve(g.self.next)
	g.beat.sent(g.now)
	g.sendData(seq, message)
	return seq, nil
}

// maySend says why a message cannot be sent, or one of so high a number.
func (g *Group) maySend(message []byte, number Sequence) error {
	switch {
	case g.self == nil:
		return ErrNotMember
	case g.holding:
		return ErrHolding
	case len(message) > g.MaxMessage():
		return ErrTooLarge
	case number >= maxSequence:
		return ErrWornOut
	}
	return nil
}

// Leave tells the others that this member goes. It goes on repairing what they miss
// until the roster lacks it.
func (g *Group) Leave(now time.Duration) {
	g.advance(now)
	g.leaving = true
	g.beat.at = g.now
}

// Stay takes back Leave.
func (g *Group) Stay(now time.Duration) {
	g.advance(now)
	g.leaving = false
	g.beat.at = g.now
}

// Tick lets history pass. It should be called regularly, a few times for each
// interval of the history; the game's own tick will do.
func (g *Group) Tick(now time.Duration) {
	g.advance(now)
	if g.self == nil {
		return
	}
	step := g.opt.History / time.Duration(g.opt.Intervals)
	for g.now >= g.turnAt {
		g.turnAt += step
		if behind := g.now - g.turnAt; behind > 2*g.opt.History {
			g.turnAt = g.now // after a long stop, all of the history is old
			g.interval += uint32(g.opt.Intervals)
		}
		g.interval++
		g.expire()
	}
	g.pace.flow(g.now)
}

// Flush appends to out what is to be sent now. The data is good until the next Flush.
func (g *Group) Flush(now time.Duration, out []link.Datagram) []link.Datagram {
	g.advance(now)
	g.reclaim(g.scrapOut)
	g.scrapOut, g.scrap = g.scrap, g.scrapOut[:0]
	first := len(out)
	g.watchSite()
	if g.tellLines(); g.self == nil {
		return g.detour(g.address(out), first) // whispers need no roster
	}
	g.watchClocks()
	g.sendRepairs()
	g.closeWindow()
	g.sendControl()
	g.sendDigests()
	return g.detour(g.address(out), first)
}

// Deadline is when Flush should be called next, at the latest; calling it with each
// tick will do, but costs up to a tick of delay in recovery. It is far in the future
// when nothing is due.
func (g *Group) Deadline() time.Duration {
	if len(g.ready) > 0 {
		return g.now
	}
	lines := never
	if g.lines.table != nil {
		lines = g.lines.table.Deadline()
	}
	if g.self == nil {
		return lines
	}
	at := min(g.beat.at, g.report.at, g.turnAt, g.witness.at, lines)
	if g.members < 2 {
		return min(g.turnAt, lines) // there is nobody to talk to
	}
	for i := range g.repairs {
		at = min(at, g.repairs[i].due)
	}
	for _, p := range g.peers {
		for i := range p.losses {
			at = min(at, p.losses[i].due)
		}
		at = min(at, p.overdueAt(g))
	}
	if g.next != nil {
		at = min(at, g.nextAt)
	}
	return min(at, g.forward.closeAt)
}

const never = time.Duration(1<<63 - 1)

// groupTag is what of a group's number stands in every header.
func groupTag(group uint64) uint16 {
	return uint16(group ^ group>>16 ^ group>>32 ^ group>>48)
}

package membership

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/coeval-dev/coeval/conn"
	"github.com/coeval-dev/coeval/council"
	"github.com/coeval-dev/coeval/crimp"
	"github.com/coeval-dev/coeval/member"
)

var channels = []conn.Channel{{Mode: conn.Ordered, MaxMessage: 200 << 10}}

// candidate is one that waits to be let in.
type candidate struct {
	conn    *conn.Conn // nil for one that another asks for
	card    crimp.Card
	witness bool
	until   time.Duration // such a one is gone, unless it is asked for again
}

// there reports whether a candidate still waits.
func (c *candidate) there(now time.Duration) bool {
	if c.conn == nil {
		return now < c.until
	}
	return c.conn.Open()
}

// newcomer is one that was let in, and waits for the state.
type newcomer struct {
	conn    *conn.Conn
	since   time.Duration
	heard   bool
	waiting bool // for the state
	asked   bool // the application was asked for it
}

func (m *Membership) openDoor() error {
	so := conn.ServerOptions{Keys: m.opt.Keys, MaxClients: m.opt.MaxMembers + 8, TicketLife: -1}
	so.Protocol, so.Version, so.Wall, so.Channels, so.MaxBulk = m.opt.Protocol, joinVersion,
		m.opt.Wall, channels, -1
	so.Datagram, so.Timeout = max(m.opt.Datagram, 512), doorTimeout
	so.MaxRate, so.Rate = 64<<20, 1<<20
	m.random.Read(so.Seed[:])
	var err error
	if m.door, err = conn.NewServer(so); err != nil {
		return fmt.Errorf("membership: door: %w", err)
	}
	return nil
}

// atDoor deals with who comes.
func (m *Membership) atDoor() {
	for _, e := range m.door.Events() {
		switch e.Kind {
		case conn.Message:
			m.knock(e.Conn, e.Data)
		case conn.Disconnected:
			m.asked = slices.DeleteFunc(m.asked, func(c charge) bool { return c.conn == e.Conn })
			m.candidates = slices.DeleteFunc(m.candidates,
				func(c candidate) bool { return c.conn == e.Conn })
			for _, n := range m.newcomers {
				if n.conn == e.Conn {
					n.conn = nil
				}
			}
		}
	}
}

func deny(k *conn.Conn, why crimp.Reason, text string) {
	_ = k.Send(channel, append([]byte{messageDenied, byte(why)}, clip(text, 1024)...))
}

// knock considers one that asks to be let in.
func (m *Membership) knock(k *conn.Conn, b []byte) {
	if len(b) == 0 || b[0] != messageJoin || m.done {
		return
	}
	var j join
	if !read(b, &j) {
		deny(k, crimp.ReasonMismatch,
			"this mirror does not understand what the candidate says: run the same version")
		return
	}
	if why, text := m.opt.About.differs(&j.about); why != 0 {
		deny(k, why, text)
		return
	}
	if want := m.opt.History.Truncate(time.Microsecond); j.order != m.opt.Order ||
		j.history != want {
		deny(k, crimp.ReasonMismatch,
			fmt.Sprintf("the group has %v order and a history of %v, the candidate %v and %v",
				m.opt.Order, want, j.order, j.history))
		return
	}
	if j.member != 0 && m.council != nil {
		m.teach(k, &j)
	}
	switch {
	case m.council == nil || m.leaving || !m.council.Quorum() ||
		m.council.Silent(m.uber) > m.opt.Silence/2:
		_ = k.Send(channel, []byte{messageWait})
	case !m.Leads() && j.through && j.member == 0:
		m.askFor(k, &j)
	case !m.Leads():
		m.redirect(k)
	case j.member != 0:
		m.returns(k, &j)
	default:
		m.consider(k, &j)
	}
}

// teach gives a member the decrees that it lacks: all whom it knows may be gone, so that nobody
// else can tell it.
func (m *Membership) teach(k *conn.Conn, j *join) {
	if me := m.charter.find(j.member); me == nil || me.Sign != j.card.Sign {
		return
	}
	for epoch := max(j.epoch, m.Epoch()-min(m.Epoch(), 64)) + 1; epoch <= m.Epoch() &&
		epoch != 0; epoch++ {
		if l, ok := m.council.Past(epoch); ok {
			_ = k.Send(channel, l.Append([]byte{messageDecree}))
		}
	}
}

// redirect sends a candidate to the überserver.
func (m *Membership) redirect(k *conn.Conn) {
	if uber := m.charter.find(m.uber); uber != nil && m.uber != m.self {
		_ = k.Send(channel, write(messageRedirect, &address{uber.Addr}))
		return
	}
	_ = k.Send(channel, []byte{messageWait})
}

// returns deals with one that says it is a member: it lost whom it had the state from, or
// wants to know whether it still is one.
func (m *Membership) returns(k *conn.Conn, j *join) {
	me := m.charter.find(j.member)
	if me == nil || me.Sign != j.card.Sign {
		deny(k, cmp.Or(m.reasons.why[j.member], crimp.ReasonSilent),
			"the group has gone on without this mirror")
		return
	}
	if m.council.Decree().Votes(j.member) {
		_ = k.Send(channel, []byte{messageWait}) // it is one; the council will reach it
		return
	}
	m.await(j.member, k)
}

// await has a newcomer wait for the state.
func (m *Membership) await(id member.ID, k *conn.Conn) {
	n := m.newcomers[id]
	if n == nil {
		n = &newcomer{since: m.now}
		m.newcomers[id] = n
	}
	n.conn, n.waiting, n.asked = k, true, false
}

// consider decides about a candidate.
func (m *Membership) consider(k *conn.Conn, j *join) {
	if m.opt.Admit != nil {
		if err := m.opt.Admit(Candidate{Client: k.Client(), UserData: k.UserData(), Addr: k.Addr(),
			Card: j.card}); err != nil {
			deny(k, crimp.ReasonRefused, err.Error())
			return
		}
	}
	if m.isBarred(&j.card) {
		deny(k, crimp.ReasonEquivocated, "")
		return
	}
	if !m.opt.Identity.Good(&j.card) {
		deny(k, crimp.ReasonRefused, "the candidate shows a key that is none")
		return
	}
	if j.card.Sign == m.opt.Card.Sign {
		deny(k, crimp.ReasonReplaced, "the candidate has this mirror's own identity")
		return
	}
	if old := m.charter.holder(j.card.Sign); old != nil {
		if !m.council.Decree().Votes(old.ID) {
			m.welcome(old.ID, k) // it was let in, and not told in time
			return
		}
		m.expelled[old.ID] = crimp.ReasonReplaced // it has lost its former self
	} else if m.charter.size()+len(m.candidates) >= m.opt.MaxMembers {
		deny(k, crimp.ReasonFull,
			fmt.Sprintf("the group has %d members, as many as it may have", m.charter.size()))
		return
	}
	m.candidates = slices.DeleteFunc(m.candidates,
		func(c candidate) bool { return c.card.Sign == j.card.Sign })
	m.candidates = append(m.candidates, candidate{conn: k, card: j.card, witness: j.witness})
}

// tellWelcome gives one that was let in the newest decree, with its proof.
func (m *Membership) tellWelcome(id member.ID, k *conn.Conn) {
	if l, ok := m.council.Past(m.council.Decree().Epoch); ok {
		_ = k.Send(channel, write(messageWelcome, &welcome{id, l.Append(nil)}))
	}
}

// welcome tells a candidate that it is in, and by which decree.
func (m *Membership) welcome(id member.ID, k *conn.Conn) {
	m.tellWelcome(id, k)
	m.await(id, k)
	m.newcomers[id].waiting = !m.charter.isWitness(id)
}

// cleared welcomes those whom a decree lets in, and drops what it has decided.
func (m *Membership) cleared(d *council.Decree) {
	m.candidates = slices.DeleteFunc(m.candidates, func(c candidate) bool {
		h := m.charter.holder(c.card.Sign)
		if h == nil || !slices.Contains(d.Learners, h.ID) || !m.Leads() {
			return false
		}
		if c.conn != nil {
			m.welcome(h.ID, c.conn)
		} else {
			m.await(h.ID, nil) // who asked for it tells it
			m.newcomers[h.ID].waiting = false
		}
		return true
	})
	out := func(id member.ID) bool { return m.charter.find(id) == nil }
	maps.DeleteFunc(m.newcomers,
		func(id member.ID, _ *newcomer) bool { return out(id) || d.Votes(id) })
	maps.DeleteFunc(m.expelled, func(id member.ID, _ crimp.Reason) bool { return out(id) })
	maps.DeleteFunc(m.leavers, func(id member.ID, _ leaver) bool { return out(id) })
	maps.DeleteFunc(m.ready,
		func(id member.ID, _ bool) bool { return !slices.Contains(d.Learners, id) })
}

// turnAway sends on those who wait for something that only the überserver gives.
func (m *Membership) turnAway() {
	for i := range m.candidates {
		if k := m.candidates[i].conn; k != nil {
			m.redirect(k)
		}
	}
	m.candidates = nil
	for _, id := range sorted(m.newcomers) {
		if n := m.newcomers[id]; n.waiting {
			if n.conn != nil {
				m.redirect(n.conn)
			}
			delete(m.newcomers, id)
		}
	}
}

// askForStates asks the application for the state, for newcomers that can be given one.
func (m *Membership) askForStates() {
	for _, id := range sorted(m.newcomers) {
		if n := m.newcomers[id]; n.waiting && !n.asked && n.conn != nil && n.conn.Open() &&
			m.g.CaughtUp(id) {
			n.asked = true
			m.g.Tell(crimp.Event{Kind: crimp.StateWanted, Member: id})
		}
	}
}

package mirror

import (
	"slices"
	"time"

	"github.com/coeval-dev/coeval/member"
	"github.com/coeval-dev/coeval/timeline"
	"github.com/coeval-dev/coeval/timeline/kinds"
	"github.com/coeval-dev/coeval/world"
)

// This file is what a mirror has to do with its timeline, which computes the worlds.

// slack is how long settling may stand still before the game does: as long as it takes to agree
// that someone is gone.
func (m *Mirror) slack() time.Duration { return 2*m.opt.History + time.Second }

// measure is the clock by which the timeline measures what steps and copies take here, or nil if
// it was told.
func (m *Mirror) measure() func() time.Duration {
	if m.opt.Step > 0 && m.opt.Copy > 0 {
		return nil
	}
	return func() time.Duration { return time.Since(m.born) }
}

// openLine makes the timeline, from the beginning or from what another mirror has told.
func (m *Mirror) openLine(w *world.World, h *handover) error {
	self := m.roll.self
	o := kinds.Options{Delays: m.opt.Delays, Mirrors: []member.ID{self}, Judge: self == m.roll.uber}
	o.Margins, o.Settled, o.Clock = m.opt.Margins, m.settled, m.measure()
	o.Repair = m.opt.Repair
	o.Held, o.Slack = true, m.slack()
	o.Step, o.Copy = m.opt.Step, m.opt.Copy
	if h != nil {
		o.Pending, o.Term, o.Judge = h.pending, h.term, false
	}
	line, err := kinds.Open(m.opt.Timeline, w, o)
	if err != nil {
		return err
	}
	m.line = line.Timeline
	m.ruled = rulings{line: line.Ruled, to: w.Tick()}
	m.settle = newSettling(m.opt.HashEvery, w.Tick())
	m.show.was = timeline.Stats{}
	m.show.stale = true
	return nil
}

// awaitMirrors tells a timeline that waits for whom to wait: for all that were started, and no more
// for one that is gone.
func (m *Mirror) awaitMirrors(gone *peer) {
	if !m.line.Waits() {
		return
	}
	list := m.line.Members()
	wait := func(id member.ID, s *standing) {
		known := func(x timeline.Membership) bool { return x.Mirror == id }
		if s.started && !slices.ContainsFunc(list, known) {
			list = append(list, timeline.Membership{Mirror: id, From: s.from})
		}
	}
	wait(m.roll.self, &m.in.standing)
	for _, p := range m.peers {
		wait(p.id, &p.standing)
	}
	for i := range list {
		if x := &list[i]; gone != nil && x.Mirror == gone.id {
			x.Left, x.Until = true, max(gone.bound(), gone.implied)
		} else if x.Mirror == m.roll.self {
			x.From = max(x.From, m.in.from)
		}
	}
	if err := m.line.SetMirrors(m.worldTime(), list); err != nil {
		m.again(err.Error())
	}
}

// due is the tick that is stamped now. While the group halts, time goes on without the world, so
// that mirrors go on promising, and know by that who holds what was decided.
func (m *Mirror) due() world.Tick {
	if m.halt.at != 0 {
		return timeline.NewClock(m.line.Settled()).Upcoming(m.clock.now() - m.pause.shift)
	}
	return m.line.Stamp(m.worldTime())
}

// advance lets the timeline compute what is due, and keeps what it says.
func (m *Mirror) advance() error {
	if m.line == nil || m.clock.unsure || m.life.still() {
		return nil
	}
	m.in.stamp = max(m.in.stamp, m.due())
	if m.line.Waits() {
		m.giveInOrder()
	}
	if err := m.line.Advance(m.worldTime()); err != nil {
		return m.failed(err)
	}
	for _, n := range m.line.Notices() {
		m.note(&n)
		m.tellEvents(&n)
	}
	m.judged()
	m.show.count(m.line.Stats())
	return nil
}

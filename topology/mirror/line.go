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

// lineOptions are those of the timeline.
func (m *Mirror) lineOptions() kinds.Options {
	self := m.roll.self
	o := kinds.Options{Delays: m.opt.Delays, Mirrors: []member.ID{self}, Judge: self == m.roll.uber}
	o.Margins, o.Clock = m.opt.Margins, m.measure()
	o.Repair = m.opt.Repair
	o.Held, o.Slack = true, m.slack()
	o.Step, o.Copy = m.opt.Step, m.opt.Copy
	return o
}

// openLine makes the timeline, from the beginning or from what another mirror has told.
func (m *Mirror) openLine(w *world.World, h *handover) error {
	if err := m.openWorld(w, h); err != nil {
		return err
	}
	m.settle = newSettling(m.opt.HashEvery, m.at(w))
	return nil
}

// openWorld makes the timeline of a world.
func (m *Mirror) openWorld(w *world.World, h *handover) error {
	o := m.lineOptions()
	o.Settled = m.settled
	if w.Tick() == 0 {
		o.Pending = m.joinAll()
	}
	if h != nil {
		o.Pending, o.Term, o.Judge = timeline.Unshift(h.pending, m.levels.base), h.term, false
	}
	line, err := kinds.Open(m.opt.Timeline, w, o)
	if err != nil {
		return err
	}
	if m.line, err = timeline.Shift(line.Timeline, m.levels.base); err != nil {
		return err
	}
	m.ruled = rulings{line: line.Ruled, to: m.at(w)}
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

// due is the tick that is stamped now. While the group halts, or a level comes to its end, time
// goes on without the world, so that mirrors go on promising, and know by that who holds what was
// decided.
func (m *Mirror) due() world.Tick {
	switch clock := timeline.NewClock(m.line.Settled()); {
	case m.halt.at != 0:
		return clock.Upcoming(m.clock.now() - m.pause.shift)
	case m.levels.next != 0:
		return clock.Upcoming(m.pause.now(m.clock.now(), clock))
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

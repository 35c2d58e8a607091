package mirror

import (
	"fmt"
	"slices"

	"github.com/coeval-dev/coeval/timeline"
	"github.com/coeval-dev/coeval/topology/server"
	"github.com/coeval-dev/coeval/world"
)

// This file is the moment when another level begins: when all mirrors hold everything up to the
// last tick of the world before, so that it can be settled to its end. Until then the world stands
// still there, and time goes on; the new world catches up with it.

// turnLevel begins the next level, if it is time for that.
func (m *Mirror) turnLevel() error {
	v := &m.levels
	if v.next == 0 || m.clock.unsure || m.life.still() || m.settle.liar != 0 ||
		m.settle.bound() < v.next || m.worldTime() < timeline.NewClock(m.line.Settled()).Time(
		v.next) || !v.made.ready() {
		return nil
	}
	if v.made.err != nil {
		m.again(fmt.Sprintf("level %q: %v", v.made.level.Name, v.made.err))
		return nil
	}
	if err := m.settleRest(v.next); err != nil {
		return m.failed(err)
	}
	if m.life.broken() {
		return nil
	}
	var rest []timeline.Command // of mirrors that had not heard that the world ends
	for c := range m.line.Pending {
		if c.Tick > v.next {
			c.Image = slices.Clone(c.Image)
			rest = append(rest, c)
		}
	}
	made := v.made.made
	m.show.level = v.made.level
	v.base, v.next, v.made = v.next, 0, nil
	if err := m.openWorld(made.World().Host().Clone(), nil); err != nil {
		return m.failed(err)
	}
	m.in.said = nil
	if err := m.keepWorld(m.line.Settled()); err != nil {
		m.keeping.err = err
	}
	m.levelBegan()
	if err := m.showLevel(made); err != nil {
		return err
	}
	for _, c := range rest {
		m.submit(c)
	}
	return nil
}

// settleRest settles all ticks up to the last of this world: nothing more comes for them.
func (m *Mirror) settleRest(last world.Tick) error {
	m.line.Hold(last)
	clock := timeline.NewClock(m.line.Settled())
	until := clock.Time(last) + m.opt.window() + 2*m.game.TickLength()
	if err := m.line.Advance(until); err != nil {
		return err
	}
	if at := m.at(m.line.Settled()); at != last {
		return fmt.Errorf("mirror: the world before is settled up to tick %d of %d", at, last)
	}
	return nil
}

// levelBegan tells that another level is played here from now on.
func (m *Mirror) levelBegan() {
	m.tell(News{Kind: LevelBegan, Tick: m.at(m.line.Settled()), Text: m.show.level.Name})
}

// showLevel has clients come into the world that has begun.
func (m *Mirror) showLevel(made *server.Prepared) error {
	s := &m.show
	s.notices, s.tick, s.settled, s.stale = nil, 0, 0, true
	return s.server.Follow(made)
}

// takeLevel has the server here go on in the level of a world that comes from elsewhere.
func (m *Mirror) takeLevel(was *server.Level) error {
	if m.show.server == nil || sameLevel(was, &m.show.level) {
		return nil
	}
	made, err := m.show.server.Prepare(m.show.level)
	if err != nil {
		return err
	}
	m.levelBegan()
	return m.showLevel(made)
}

// joinAll are the commands by which those who have a player are in a world that has just begun.
// Nobody stamped them, and all mirrors have the same.
func (m *Mirror) joinAll() (list []timeline.Command) {
	b := m.levels.base
	for _, h := range m.roll.registry.list() {
		if h.terms[0].from <= b && (h.left == 0 || h.left > b+1) {
			list = append(list, timeline.Command{Kind: timeline.Join, Tick: 1, Player: h.player})
		}
	}
	return list
}

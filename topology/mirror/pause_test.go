package mirror

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/netsim/simtest"
	"github.com/coeval-dev/coeval/timeline/kinds"
	"github.com/coeval-dev/coeval/topology/client"
	"github.com/coeval-dev/coeval/world"
)

// pauses asks a mirror until the world stands still, or goes on, on all that run.
func (f *fleet) pauses(at *machine, on bool) {
	f.until(heal, "the world stands still, or goes on", func() bool {
		if at.dead || at.ended != nil {
			at = f.alive()[0]
		}
		if err := at.mirror.SetPaused(on, "tea"); err != nil && !errors.Is(err, errIdle) {
			f.fail("%v", err)
		}
		return f.paused(on)
	})
}

// paused says whether the world stands still, or goes on, on all mirrors that run.
func (f *fleet) paused(on bool) bool {
	for _, s := range f.alive() {
		m := s.mirror
		if m.Server() == nil || m.Server().Paused() != on || m.Paused() != on {
			return false
		}
	}
	return true
}

// ticks lists what the mirrors that run show.
func (f *fleet) ticks() (list []world.Tick) {
	for _, s := range f.alive() {
		t := world.Tick(0)
		if s.mirror.line != nil {
			t = s.mirror.line.Leading().Tick()
		}
		list = append(list, t)
	}
	return list
}

// changes is how often it was decided that the world stands still or goes on, where most is known.
func (f *fleet) changes() (most uint32) {
	for _, s := range f.alive() {
		most = max(most, s.mirror.pause.changes)
	}
	return most
}

// stays sees that nothing is computed for a while, once what came late is repaired, unless it is
// decided that the world goes on.
func (f *fleet) stays(d time.Duration) {
	changes := f.changes()
	f.net.Run(time.Second)
	list, was := f.alive(), f.ticks()
	if f.net.Run(d); f.changes() != changes {
		return
	}
	for i, s := range list {
		if m := s.mirror; m.line != nil && m.line.Leading().Tick() != was[i] && !s.dead {
			f.fail("%s computed up to %d, and the world stands still at %d", s.name,
				m.line.Leading().Tick(), was[i])
		}
	}
}

// TestPause: the world stands still on all mirrors after one tick, for as long as anybody likes.
// Who comes meanwhile, a player or a mirror, finds it so. It goes on where it stood.
func TestPause(t *testing.T) {
	simtest.Alone(t, 3, func(n *netsim.Net) error {
		f := fleetOf(n, 3, 2, road, Options{})
		defer f.close()
		n.Run(time.Second)
		f.pauses(f.machines[1], true)
		n.Run(500 * time.Millisecond) // repairs of what came late are over
		if f.err != nil {
			return f.err
		}
		at := f.machines[0].mirror.pause.at
		for i, tick := range f.ticks() {
			if tick != at {
				f.fail("%s stands still at %d, and was to at %d", f.machines[i].name, tick, at)
			}
		}
		f.stays(time.Minute)
		late := f.play(900, f.machines[2], near)
		f.launch("d", road)
		f.until(heal, "a mirror comes in", func() bool { return f.whole() && f.paused(true) })
		told := func() bool {
			for _, b := range f.bots {
				if b.Player() == world.Nobody || !b.Paused() || b.Phase() != client.Playing {
					return false
				}
			}
			return true
		}
		f.until(heal, "players are told", told)
		f.stays(10 * time.Second)
		f.machines[1].kill()
		n.Run(3 * time.Second) // its players go elsewhere
		f.until(heal, "the others go on without it", f.whole)
		f.until(heal, "its players are told", told)
		f.stays(time.Second)
		f.pauses(f.machines[2], false)
		began := n.Now()
		f.until(heal, "all play", f.allPlay)
		f.recovers(true)
		if f.err == nil && late.player == world.Nobody {
			f.fail("who came meanwhile does not play")
		}
		passed := at + world.Tick((n.Now()-began)/f.machines[0].mirror.game.TickLength())
		for _, tick := range f.ticks() {
			if tick > passed+30 || tick+30 < passed {
				f.fail("tick %d, %v after it went on at tick %d", tick, n.Now()-began, at)
			}
		}
		return f.err
	})
}

// TestPauseOfEachTimeline: each kind of timeline stands still and goes on.
func TestPauseOfEachTimeline(t *testing.T) {
	for _, kind := range kinds.Names() {
		t.Run(kind, func(t *testing.T) {
			simtest.Alone(t, 1, func(n *netsim.Net) error {
				f := fleetOf(n, 3, 1, road, Options{Timeline: kind, Delays: kindDelays[kind]})
				defer f.close()
				for range 2 {
					f.pauses(f.machines[n.Rand().IntN(3)], true)
					f.stays(8 * time.Second)
					f.pauses(f.machines[n.Rand().IntN(3)], false)
					f.until(heal, "all play", f.allPlay)
				}
				f.recovers(true)
				return f.err
			})
		})
	}
}

// TestPauseAndUberDies: the überserver dies at each moment after it is asked that the world stands
// still, and after it is asked that it goes on. All mirrors agree on what came of it.
func TestPauseAndUberDies(t *testing.T) {
	for _, on := range []bool{true, false} {
		for step := range 17 {
			after := time.Duration(step) * 30 * time.Millisecond
			t.Run(fmt.Sprint(on, after), func(t *testing.T) {
				simtest.Alone(t, 1, func(n *netsim.Net) error {
					f := fleetOf(n, 3, 1, road, Options{})
					defer f.close()
					if !on {
						f.pauses(f.machines[2], true)
						n.Run(time.Second)
					}
					if err := f.machines[1].mirror.SetPaused(on, "tea"); err != nil {
						f.fail("%v", err)
					}
					n.Run(after)
					f.machines[0].kill()
					f.until(heal, "the others agree", func() bool {
						return f.whole() && (f.paused(true) || f.paused(false))
					})
					f.pauses(f.machines[2], true)
					f.stays(2 * time.Second)
					f.pauses(f.machines[1], false)
					f.recovers(true)
					return f.err
				})
			})
		}
	}
}

// TestPauseAndFaults: mirrors die, the überserver above all, and lines are cut, at any moment while
// the world is paused and goes on. All mirrors agree on what it is in the end, and on every world.
func TestPauseAndFaults(t *testing.T) {
	simtest.Alone(t, 12, func(n *netsim.Net) error {
		r := n.Rand()
		c := apart(time.Duration(5+r.IntN(60))*time.Millisecond,
			time.Duration(r.IntN(15))*time.Millisecond, float64(r.IntN(6))/100)
		f := fleetOf(n, 3+r.IntN(2), 1, c, Options{})
		defer f.close()
		for range 4 {
			f.shake(r.IntN(3))
			n.Run(time.Duration(r.IntN(600)) * time.Millisecond)
			on := r.Chance(0.5)
			for range 1 + r.IntN(3) { // somebody may change their mind before it is so
				list := f.alive()
				_ = list[r.IntN(len(list))].mirror.SetPaused(on, "tea")
				n.Run(time.Duration(r.IntN(400)) * time.Millisecond)
				on = !on
			}
			f.until(heal, "all agree", func() bool {
				return f.whole() && (f.paused(true) || f.paused(false))
			})
			if f.err == nil && f.paused(true) {
				f.stays(time.Duration(r.IntN(8000)) * time.Millisecond)
			}
			for _, s := range f.machines {
				if s.dead {
					s.start()
				}
			}
			f.until(heal, "all are back", func() bool {
				return f.whole() && (f.paused(true) || f.paused(false))
			})
			if f.err != nil {
				return f.err
			}
		}
		n.Run(5 * time.Second) // what was asked may have been on its way for long
		f.pauses(f.machines[0], false)
		f.recovers(true)
		return f.err
	})
}

// shake has something go wrong within the next second.
func (f *fleet) shake(what int) {
	r := f.net.Rand()
	soon := time.Duration(r.IntN(1000)) * time.Millisecond
	list := f.alive()
	one, other := list[r.IntN(len(list))], list[r.IntN(len(list))]
	dies := func(is func(s *machine) bool) func() {
		return func() {
			list := f.alive()
			for _, s := range list { // one at a time, once all have a vote: the rest must be enough
				if f.net.Now()-s.serving < 4*time.Second || len(list) < len(f.machines) {
					return
				}
			}
			if i := slices.IndexFunc(list, is); i >= 0 && f.whole() {
				list[i].kill()
			}
		}
	}
	switch {
	case what == 0: // whoever decides then
		f.net.After(soon, dies(func(s *machine) bool { return s.mirror.leads() }))
	case what == 1:
		f.net.After(soon, dies(func(s *machine) bool { return s == one }))
	case one != other:
		f.net.After(soon, func() {
			f.net.Cut(one.between, other.between)
			f.net.After(time.Duration(r.IntN(4000))*time.Millisecond,
				func() { f.net.Heal(one.between, other.between) })
		})
	}
}

// TestPauseAndPartitions: one mirror is cut off, the überserver or another, while somebody pauses
// the game or has it go on, and is as the others are when it is back.
func TestPauseAndPartitions(t *testing.T) {
	simtest.Alone(t, 6, func(n *netsim.Net) error {
		f := fleetOf(n, 3, 1, road, Options{})
		defer f.close()
		for _, on := range []bool{true, false} {
			lone := n.Rand().IntN(3)
			rest := make([]*netsim.Endpoint, 0, 2)
			for i, s := range f.machines {
				if i != lone {
					rest = append(rest, s.between)
				}
			}
			one := []*netsim.Endpoint{f.machines[lone].between}
			n.After(time.Duration(n.Rand().IntN(600))*time.Millisecond,
				func() { n.Partition(one, rest) })
			for range 10 {
				_ = f.machines[(lone+n.Rand().IntN(2))%3].mirror.SetPaused(on, "tea")
				n.Run(time.Duration(n.Rand().IntN(600)) * time.Millisecond)
			}
			n.HealPartition(one, rest)
			f.until(heal, "all are back", func() bool {
				return f.whole() && (f.paused(true) || f.paused(false))
			})
			f.pauses(f.machines[lone], on)
			if on {
				f.stays(5 * time.Second)
			}
		}
		f.recovers(true)
		return f.err
	})
}

// TestPauseRefused: what makes no sense is not done, and says so.
func TestPauseRefused(t *testing.T) {
	n := netsim.New(netsim.Options{Seed: 4})
	f := fleetOf(n, 3, 1, road, Options{})
	defer f.close()
	m := f.machines[1].mirror
	f.pauses(f.machines[1], true)
	if err := m.Halt(time.Second); !errors.Is(err, ErrPaused) {
		t.Errorf("a group that is paused halts: %v", err)
	}
	changes := m.pause.changes
	f.pauses(f.machines[2], false)
	m.queue(item{kind: itemPause, what: pauseAsk, load: changes - 1, text: "late"})
	n.Run(time.Second)
	if !f.paused(false) {
		t.Error("what was asked before somebody else decided counts")
	}
	u := f.machines[0].mirror
	before := u.stats.Refusals
	u.hearPause(2, &item{kind: itemPause, what: pauseAt, epoch: u.roll.epoch, tick: 1 << 20})
	if u.stats.Refusals != before+1 || u.Paused() {
		t.Errorf("who is not überserver pauses the world")
	}
	early := &packet{items: []item{{kind: itemPause, what: pauseAt, epoch: m.roll.epoch + 1}}}
	if m.understands(m.peers.of(1), early) {
		t.Error("what an überserver says who is not known yet is taken")
	}
	f.until(10*time.Second, "it halts", func() bool {
		if err := m.Halt(time.Second); err != nil {
			f.fail("%v", err)
		}
		return m.Halting().Final
	})
	if err := m.SetPaused(true, ""); !errors.Is(err, ErrHalts) {
		t.Errorf("a group that halts is paused: %v", err)
	}
	f.until(10*time.Second, "it goes on", func() bool { return m.Halting().Tick == 0 })
	f.recovers(true)
	if f.err != nil {
		t.Error(f.err)
	}
}

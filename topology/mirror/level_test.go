package mirror

import (
	"errors"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/netsim/simtest"
	"github.com/coeval-dev/coeval/timeline/kinds"
	"github.com/coeval-dev/coeval/topology/server"
	"github.com/coeval-dev/coeval/world"
)

// changes asks a mirror until another level has begun on all that run.
func (f *fleet) changesTo(at *machine, l server.Level) {
	f.until(heal, "level "+l.Name+" begins on all", func() bool {
		if at.dead || at.ended != nil {
			at = f.alive()[0]
		}
		if _, err := at.mirror.Change(l); err != nil && !errors.Is(err, errIdle) {
			f.fail("%v", err)
		}
		return f.in(l)
	})
}

// in says whether all mirrors that run, and all who play, are in a level.
func (f *fleet) in(l server.Level) bool {
	for _, s := range f.alive() {
		m := s.mirror
		if m.levels.next != 0 || !sameLevel(&m.show.level, &l) || m.Server() == nil ||
			m.Server().Level().Secret != l.Secret {
			return false
		}
	}
	for _, b := range f.bots {
		if b.ended == nil && b.Level().Name != l.Name {
			return false
		}
	}
	return true
}

// agreed says whether all mirrors that run are in one level, whichever.
func (f *fleet) agreed() bool {
	list := f.alive()
	return f.whole() && f.in(list[0].mirror.show.level)
}

var foundry = server.Level{Name: "foundry", Seed: 7, Secret: 11}

// TestLevel: another level begins on all mirrors with one tick. Players stay connected and play on
// in it as who they were. Who comes later, a player or a mirror, comes into it; and another may
// follow.
func TestLevel(t *testing.T) {
	simtest.Alone(t, 3, func(n *netsim.Net) error {
		f := fleetOf(n, 3, 2, road, Options{})
		defer f.close()
		n.Run(time.Second)
		asked := n.Now()
		f.changesTo(f.machines[1], foundry)
		took := n.Now() - asked
		base := f.machines[0].mirror.Base()
		for _, s := range f.machines {
			if s.mirror.Base() != base || base == 0 {
				f.fail("%s: the world began at tick %d, and on another at %d", s.name,
					s.mirror.Base(), base)
			}
			if s.mirror.stats.Rejoins != 0 {
				f.fail("%s has joined anew", s.name)
			}
		}
		f.recovers(true)
		if w := f.machines[2].mirror.line.Leading(); f.err == nil {
			now := world.Tick(f.machines[2].mirror.Now() / f.machines[2].mirror.game.TickLength())
			if at := base + w.Tick(); at+30 < now || at > now+2 {
				f.fail("the world is at tick %d of the group, and %d is due", at, now)
			}
			if want := 6; len(f.machines[2].mirror.roll.registry.clients) != want {
				f.fail("not all have their players")
			}
		}
		late := f.play(900, f.machines[2], near)
		f.launch("d", road)
		f.until(heal, "a mirror comes in", f.agreed)
		f.until(heal, "who came later plays", late.plays)
		f.machines[0].kill()
		f.until(heal, "the others go on", func() bool { return f.whole() && f.allPlay() })
		f.changesTo(f.machines[3], server.Level{Name: "duel", Seed: 3, Secret: 9})
		f.recovers(true)
		t.Logf("seed %d: the level began %v after it was asked for", n.Seed(), took)
		return f.err
	})
}

// TestLevelOfEachTimeline: each kind of timeline that has a window begins another level, and the
// others say that they cannot.
func TestLevelOfEachTimeline(t *testing.T) {
	for _, kind := range kinds.Names() {
		t.Run(kind, func(t *testing.T) {
			simtest.Alone(t, 1, func(n *netsim.Net) error {
				f := fleetOf(n, 3, 1, road, Options{Timeline: kind, Delays: kindDelays[kind]})
				defer f.close()
				if kinds.Trails(kind) || kind == "timewarp" {
					f.changesTo(f.machines[2], foundry)
				} else if _, err := f.machines[2].mirror.Change(foundry); !errors.Is(err,
					ErrCannotChange) {
					f.fail("%v", err)
				}
				f.recovers(true)
				return f.err
			})
		})
	}
}

// TestLevelAndUberDies: the überserver dies at each moment after it is asked for another level. All
// mirrors are in the old one, or all in the new.
func TestLevelAndUberDies(t *testing.T) {
	old, turned := 0, 0
	for step := range 18 {
		after := time.Duration(step) * 90 * time.Millisecond
		t.Run(after.String(), func(t *testing.T) {
			simtest.Alone(t, 1, func(n *netsim.Net) error {
				f := fleetOf(n, 3, 1, road, Options{})
				defer f.close()
				end := n.Now() + after
				for n.Now() < end {
					_, _ = f.machines[1].mirror.Change(foundry)
					n.Run(min(30*time.Millisecond, end-n.Now()))
				}
				f.machines[0].kill()
				f.until(heal, "the others agree", f.agreed)
				if n.Run(forgetLevel); f.err == nil && f.in(foundry) {
					turned++
				} else {
					old++
				}
				f.changesTo(f.machines[2], server.Level{Name: "range", Seed: 5, Secret: 13})
				f.recovers(true)
				return f.err
			})
		})
	}
	if t.Logf("%d stayed in the old level, %d went on in the new", old, turned); old == 0 ||
		turned == 0 {
		t.Error("it is always the same")
	}
}

// TestLevelAndFaults: mirrors die, the überserver above all, and lines are cut, at any moment while
// another level is asked for, by more than one. All mirrors agree on which it is in the end, and on
// every world.
func TestLevelAndFaults(t *testing.T) {
	simtest.Alone(t, 12, func(n *netsim.Net) error {
		r := n.Rand()
		c := apart(time.Duration(5+r.IntN(60))*time.Millisecond,
			time.Duration(r.IntN(15))*time.Millisecond, float64(r.IntN(6))/100)
		f := fleetOf(n, 3+r.IntN(2), 1, c, Options{})
		defer f.close()
		for round := range 4 {
			f.shake(r.IntN(3))
			if r.Chance(0.5) {
				f.shake(r.IntN(3))
			}
			n.Run(time.Duration(r.IntN(600)) * time.Millisecond)
			wanted := []server.Level{{Name: "foundry", Secret: uint64(2*round + 1)},
				{Name: "range", Secret: uint64(2*round + 2)}}
			both := r.Chance(0.3)
			for end := n.Now() + time.Duration(r.IntN(3000))*time.Millisecond; n.Now() < end; {
				list := f.alive()
				for i, l := range wanted {
					if i == 0 || both {
						_, _ = list[(i+round)%len(list)].mirror.Change(l)
					}
				}
				if r.Chance(0.01) { // somebody has other wishes
					_ = list[0].mirror.SetPaused(r.Chance(0.5), "tea")
				}
				n.Run(30 * time.Millisecond)
			}
			for _, s := range f.machines {
				if s.dead {
					s.start()
				}
			}
			f.until(heal, "all are back", f.agreed)
			f.pauses(f.alive()[0], false)
			f.settles(heal)
			if f.err != nil {
				return f.err
			}
		}
		n.Run(forgetLevel) // what was asked may have been on its way for long
		f.changesTo(f.machines[0], foundry)
		f.recovers(true)
		return f.err
	})
}

// TestLevelAndPartitions: one mirror is cut off, the überserver or another, while somebody wants
// another level, and is in the level of the others when it is back.
func TestLevelAndPartitions(t *testing.T) {
	simtest.Alone(t, 6, func(n *netsim.Net) error {
		f := fleetOf(n, 3, 1, road, Options{})
		defer f.close()
		for round := range 2 {
			lone := n.Rand().IntN(3)
			rest := make([]*netsim.Endpoint, 0, 2)
			for i, s := range f.machines {
				if i != lone {
					rest = append(rest, s.between)
				}
			}
			one := []*netsim.Endpoint{f.machines[lone].between}
			n.After(time.Duration(n.Rand().IntN(1500))*time.Millisecond,
				func() { n.Partition(one, rest) })
			l := server.Level{Name: "foundry", Secret: uint64(round + 1)}
			at := f.machines[(lone+n.Rand().IntN(2))%3]
			for range 20 + n.Rand().IntN(200) {
				_, _ = at.mirror.Change(l)
				n.Run(30 * time.Millisecond)
			}
			n.HealPartition(one, rest)
			f.until(heal, "all are back", f.agreed)
			f.changesTo(at, l)
		}
		f.recovers(true)
		return f.err
	})
}

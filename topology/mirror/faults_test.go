package mirror

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/netsim/simtest"
)

// heal is how long a group may take, after the last fault, until all mirrors that run serve again
// in one group.
const heal = 20 * time.Second

// fleetOf makes a fleet of so many mirrors with a few players on each, and lets them play.
func fleetOf(n *netsim.Net, mirrors, players int, road netsim.Conditions, o Options) *fleet {
	f := newFleet(n, o)
	for i := range mirrors {
		f.launch(string(rune('a'+i)), road)
		n.Run(100 * time.Millisecond)
	}
	f.until(20*time.Second, "all serve", f.whole)
	for i, s := range f.machines {
		for k := range players {
			f.play(uint64(i+1)*100+uint64(k), s, near)
		}
	}
	f.until(10*time.Second, "all play", f.allPlay)
	return f
}

func (f *fleet) allPlay() bool {
	for _, b := range f.bots {
		if !b.plays() {
			return false
		}
	}
	return true
}

// recovers waits until everything is as it should be after faults: one group, everyone plays,
// worlds settle and are the same.
func (f *fleet) recovers(clients bool) {
	f.until(heal, "all mirrors that run serve in one group", f.whole)
	if clients {
		f.until(heal, "all play", f.allPlay)
	}
	f.settles(10 * time.Second)
	for _, s := range f.machines {
		if s.ended != nil && !errors.Is(s.ended, ErrEnded) {
			f.fail("%s has ended: %v", s.name, s.ended)
		}
	}
	for _, b := range f.bots {
		if b.ended != nil {
			f.fail("client %d has ended: %v", b.id, b.ended)
		}
	}
}

var road = apart(40*time.Millisecond, 5*time.Millisecond, 0.01)

// TestMirrorDies: a mirror is killed; its players go on at another one, in their own bodies; it
// comes back as a new one.
func TestMirrorDies(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes its time")
	}
	simtest.Alone(t, 4, func(n *netsim.Net) error {
		f := fleetOf(n, 3, 2, road, Options{})
		defer f.close()
		n.Run(2 * time.Second)
		died := n.Now()
		victim := f.machines[1+n.Rand().IntN(2)]
		victim.kill()
		f.until(5*time.Second, "its players play elsewhere",
			func() bool { return n.Now() > died+300*time.Millisecond && f.allPlay() })
		t.Logf("seed %d: players of a dead mirror play again after %v", n.Seed(), n.Now()-died)
		f.until(8*time.Second, "the others settle without it", f.whole)
		n.Run(2 * time.Second)
		victim.start()
		f.recovers(true)
		return f.err
	})
}

// TestUberDies: the same for the überserver.
func TestUberDies(t *testing.T) {
	simtest.Alone(t, 4, func(n *netsim.Net) error {
		f := fleetOf(n, 3, 2, road, Options{})
		defer f.close()
		n.Run(2 * time.Second)
		died := n.Now()
		f.machines[0].kill()
		for _, b := range f.bots {
			b.gap = 0
		}
		f.until(8*time.Second, "another leads", f.whole)
		t.Logf("seed %d: another leads after %v", n.Seed(), n.Now()-died)
		f.until(8*time.Second, "its players play elsewhere", f.allPlay)
		longest := time.Duration(0)
		for _, b := range f.bots {
			longest = max(longest, b.gap)
		}
		t.Logf("seed %d: nobody's game stood still for longer than %v", n.Seed(), longest)
		n.Run(2 * time.Second)
		f.machines[0].start()
		f.recovers(true)
		return f.err
	})
}

// TestTwoOfFiveDie: any two at once, the überserver among them or not.
func TestTwoOfFiveDie(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes its time")
	}
	simtest.Alone(t, 4, func(n *netsim.Net) error {
		f := fleetOf(n, 5, 1, road, Options{})
		defer f.close()
		n.Run(time.Second)
		a := n.Rand().IntN(5)
		b := (a + 1 + n.Rand().IntN(4)) % 5
		f.machines[a].kill()
		f.machines[b].kill()
		f.recovers(true)
		f.machines[a].start()
		n.Run(time.Duration(n.Rand().IntN(1500)) * time.Millisecond)
		f.machines[b].start()
		f.recovers(true)
		return f.err
	})
}

// TestPartitions: the group is cut in two; the smaller part stops, and joins again when it can.
func TestPartitions(t *testing.T) {
	simtest.Alone(t, 6, func(n *netsim.Net) error {
		f := fleetOf(n, 3, 1, road, Options{})
		defer f.close()
		n.Run(time.Second)
		lone := n.Rand().IntN(3)
		var rest []*netsim.Endpoint
		for i, s := range f.machines {
			if i != lone {
				rest = append(rest, s.between)
			}
		}
		n.Partition([]*netsim.Endpoint{f.machines[lone].between}, rest)
		n.Run(time.Duration(500+n.Rand().IntN(6000)) * time.Millisecond)
		n.HealPartition([]*netsim.Endpoint{f.machines[lone].between}, rest)
		f.recovers(true)
		return f.err
	})
}

// TestOneWayCut: a path that works in one direction only.
func TestOneWayCut(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes its time")
	}
	simtest.Alone(t, 4, func(n *netsim.Net) error {
		f := fleetOf(n, 3, 1, road, Options{})
		defer f.close()
		n.Run(time.Second)
		a := n.Rand().IntN(3)
		b := (a + 1 + n.Rand().IntN(2)) % 3
		n.CutOneWay(f.machines[a].between, f.machines[b].between)
		n.Run(time.Duration(500+n.Rand().IntN(5000)) * time.Millisecond)
		n.Path(f.machines[a].between, f.machines[b].between).Heal()
		f.recovers(true)
		return f.err
	})
}

// TestHeavyLoss: 30 % of what mirrors send each other is lost.
func TestHeavyLoss(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes its time")
	}
	simtest.Alone(t, 3, func(n *netsim.Net) error {
		f := fleetOf(n, 3, 1, apart(40*time.Millisecond, 20*time.Millisecond, 0.3), Options{})
		defer f.close()
		n.Run(10 * time.Second)
		f.recovers(true)
		for _, s := range f.machines {
			if s.mirror.Stats().Rejoins > 0 {
				t.Logf("seed %d: %s had to join anew %d times", n.Seed(), s.name,
					s.mirror.Stats().Rejoins)
			}
		}
		return f.err
	})
}

// TestClockOfAMirrorJumps: forward, back, and by little.
func TestClockOfAMirrorJumps(t *testing.T) {
	simtest.Alone(t, 4, func(n *netsim.Net) error {
		f := fleetOf(n, 3, 1, road, Options{})
		defer f.close()
		n.Run(time.Second)
		jump := []time.Duration{
			5 * time.Second, -3 * time.Second, 800 * time.Millisecond,
			-50 * time.Millisecond}[n.Rand().IntN(4)]
		f.machines[n.Rand().IntN(3)].skew += jump
		n.Run(4 * time.Second)
		f.recovers(true)
		return f.err
	})
}

// TestMirrorStalls: a machine that stands still for a while, as one that is suspended or has no
// memory left.
func TestMirrorStalls(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes its time")
	}
	simtest.Alone(t, 4, func(n *netsim.Net) error {
		f := fleetOf(n, 3, 1, road, Options{})
		defer f.close()
		n.Run(time.Second)
		s := f.machines[n.Rand().IntN(3)]
		pause := time.Duration(200+n.Rand().IntN(5000)) * time.Millisecond
		s.stalled = n.Now() + pause
		n.Run(pause)
		f.recovers(true)
		return f.err
	})
}

// TestEventBasedFaults: the überserver of the event-based protocol dies, and a mirror.
func TestEventBasedFaults(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes its time")
	}
	simtest.Alone(t, 4, func(n *netsim.Net) error {
		f := fleetOf(n, 4, 1, road, Options{Timeline: "ruled"})
		defer f.close()
		n.Run(2 * time.Second)
		f.machines[n.Rand().IntN(2)*2].kill()
		f.recovers(true)
		return f.err
	})
}

// TestEveryTimelineSurvives: a mirror and the überserver die under each kind of timeline that
// promises to be exact.
func TestEveryTimelineSurvives(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes its time")
	}
	for _, kind := range []string{
		"trailing", "timewarp", "rollback", "lockstep", "conservative", "ruled"} {
		t.Run(kind, func(t *testing.T) {
			simtest.Alone(t, 2, func(n *netsim.Net) error {
				f := fleetOf(n, 4, 1, road, Options{Timeline: kind, Delays: kindDelays[kind]})
				defer f.close()
				n.Run(time.Second)
				f.machines[0].kill()
				f.recovers(true)
				f.machines[2].kill()
				f.recovers(true)
				f.machines[0].start()
				f.recovers(true)
				return f.err
			})
		})
	}
}

// TestChaos: faults of all kinds, one after the other and at once, by the seed.
func TestChaos(t *testing.T) {
	if testing.Short() {
		t.Skip("it is one goroutine")
	}
	simtest.Alone(t, 6, func(n *netsim.Net) error {
		f := fleetOf(n, 4, 1, apart(30*time.Millisecond, 10*time.Millisecond, 0.03), Options{})
		defer f.close()
		r := n.Rand()
		for range 6 {
			n.Run(time.Duration(r.IntN(2500)) * time.Millisecond)
			s := f.machines[r.IntN(len(f.machines))]
			dead := 0
			for _, x := range f.machines {
				if x.dead {
					dead++
				}
			}
			switch what := r.IntN(5); {
			case s.dead:
				s.start()
			case what == 0 && dead == 0:
				s.kill()
			case what == 1:
				s.skew += time.Duration(r.IntN(4000)-2000) * time.Millisecond
			case what == 2:
				s.stalled = n.Now() + time.Duration(r.IntN(3000))*time.Millisecond
			default:
				other := f.machines[(r.IntN(len(f.machines)-1)+1)%len(f.machines)]
				if other != s {
					n.Cut(s.between, other.between)
					n.After(time.Duration(r.IntN(4000))*time.Millisecond,
						func() { n.Heal(s.between, other.between) })
				}
			}
			if f.err != nil {
				return f.err
			}
		}
		n.Run(5 * time.Second)
		for _, s := range f.machines {
			if s.dead {
				s.start()
			}
		}
		f.recovers(true)
		if f.err != nil {
			return f.err
		}
		for _, s := range f.machines {
			if s.mirror.Stats().Differed > 0 {
				return fmt.Errorf("seed %d: %s found its settled world different", n.Seed(), s.name)
			}
		}
		return nil
	})
}

// TestLeavesInGoodOrder: a mirror that leaves has its players moved before; nobody's game stands
// still.
func TestLeavesInGoodOrder(t *testing.T) {
	simtest.Alone(t, 3, func(n *netsim.Net) error {
		f := fleetOf(n, 3, 2, road, Options{})
		defer f.close()
		n.Run(time.Second)
		s := f.machines[n.Rand().IntN(3)]
		for _, b := range f.bots {
			b.gap = 0
		}
		s.mirror.Leave()
		f.until(8*time.Second, "it is out", func() bool { return s.ended != nil })
		s.dead = true
		s.public.Restart(time.Millisecond)
		f.recovers(true)
		longest := time.Duration(0)
		for _, b := range f.bots {
			longest = max(longest, b.gap)
		}
		t.Logf("seed %d: the longest that anybody saw nothing new was %v", n.Seed(), longest)
		return f.err
	})
}

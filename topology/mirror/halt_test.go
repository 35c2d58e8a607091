package mirror

import (
	"errors"
	"net/netip"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/keep"
	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/netsim/simtest"
	"github.com/coeval-dev/coeval/topology/server"
	"github.com/coeval-dev/coeval/world"
)

// A handing is a group that gives its game to another, under the eyes of a judge.
type handing struct {
	*fleet        // the group that has the game
	next   *fleet // the one that takes it
	tick   world.Tick
	final  uint64           // the hash of the last world
	ceded  bool             // some mirror has said so
	marks  map[*machine]int // how often each was asked to write down that it was
	public *netsim.Endpoint // where the next group will be
}

// handOverFleet makes a group with bots.
func handOverFleet(n *netsim.Net, mirrors, bots int, c netsim.Conditions) *handing {
	x := &handing{fleet: newFleet(n, Options{}), next: newFleet(n, Options{}),
		public: n.Endpoint("sn"), marks: map[*machine]int{}}
	for i := range mirrors {
		x.launch(string(rune('a'+i)), c)
		n.Run(50 * time.Millisecond)
	}
	x.until(20*time.Second, "all serve", x.whole)
	for i := range bots {
		x.play(uint64(i+1), x.machines[i%mirrors], c)
	}
	x.until(10*time.Second, "all play", x.allPlay)
	for _, s := range x.machines {
		s.mirror.opt.Handover.Ceded = x.mark(s)
	}
	n.Every(5*time.Millisecond, x.watch)
	return x
}

// watch sees that no tick is computed after one that was ceded, and that all have one last world.
func (x *handing) watch() {
	for _, s := range x.alive() {
		h := s.mirror.Halting()
		if h.Ceded {
			x.ceded = true
			for _, other := range x.alive() {
				if x.marks[other] < slowMarks {
					x.fail("%s says that the game is ceded, and %s could forget it", s.name,
						other.name)
				}
			}
		}
		if x.ceded && s.mirror.line != nil && s.mirror.line.Leading().Tick() > x.tick {
			x.fail("%s computes tick %d after the game was ceded at %d", s.name,
				s.mirror.line.Leading().Tick(), x.tick)
		}
	}
}

// slowMarks is how often a mirror is asked to write down that the game was ceded before it has.
const slowMarks = 20

// mark has a mirror write that down on a slow disk.
func (x *handing) mark(s *machine) func(world.Tick, []netip.AddrPort) bool {
	return func(t world.Tick, to []netip.AddrPort) bool {
		if t != x.tick || len(to) != 1 || to[0] != x.public.PublicAddr() {
			x.fail("%s is told that it was ceded after %d to %v", s.name, t, to)
		}
		x.marks[s]++
		return x.marks[s] >= slowMarks
	}
}

// halted has the group halt, by asking one mirror, and fetches the last world from another.
func (x *handing) halted(ask, fetch *machine, limit time.Duration) *keep.Snapshot {
	x.until(10*time.Second, "the group halts", func() bool {
		if err := ask.mirror.Halt(limit); err != nil && !errors.Is(err, errIdle) {
			x.fail("%v", err)
		}
		return fetch.mirror.Halting().Final
	})
	if x.err != nil {
		return nil
	}
	s, err := fetch.mirror.Final()
	if err != nil {
		x.fail("%v", err)
		return nil
	}
	x.tick, x.final = s.World.Tick(), s.World.Hash()
	for _, other := range x.alive() {
		if h := other.mirror.Halting(); h.Final && h.Tick == x.tick {
			if s, err := other.mirror.Final(); err != nil || s.World.Hash() != x.final {
				x.fail("%s has another last world: %v", other.name, err)
			}
		}
	}
	return s
}

// found has the next group begin with the last world, with some mirrors.
func (x *handing) found(s *keep.Snapshot, c netsim.Conditions) {
	x.next.o.Handover, x.next.o.Server.Level = Handover{Inherit: s, Epoch: 7}, server.Level{}
	m := &machine{fleet: x.next, name: "n", between: x.net.Endpoint("mn"),
		public: x.public, skew: -x.net.Now()}
	m.between.SetInbox(1 << 16)
	m.public.SetInbox(1 << 16)
	x.next.machines = append(x.next.machines, m)
	for _, b := range x.bots {
		x.net.Connect(b.end, m.public, c)
	}
	m.start()
	x.next.o.Handover = Handover{}
}

// TestHandsOver: a group of mirrors gives its game to another, and players go on in their bodies.
func TestHandsOver(t *testing.T) {
	c := apart(30*time.Millisecond, 5*time.Millisecond, 0.02)
	n := netsim.New(netsim.Options{Seed: 3})
	x := handOverFleet(n, 3, 4, c)
	defer x.close()
	defer x.next.close()
	for _, b := range x.bots {
		b.gap = 0
	}
	s := x.halted(x.machines[2], x.machines[1], 5*time.Second)
	if x.err != nil {
		t.Fatal(x.err)
	}
	began := n.Now()
	addr := x.public.PublicAddr()
	x.until(5*time.Second, "it is ceded", func() bool {
		if err := x.machines[1].mirror.Cede(x.tick, []netip.AddrPort{addr}); err != nil {
			x.fail("%v", err)
		}
		return x.machines[1].mirror.Halting().Ceded
	})
	x.found(s, c)
	x.until(10*time.Second, "all play at the new group", func() bool {
		s := x.next.machines[0].mirror.Server()
		return x.allPlay() && s.Population().Players == len(x.bots)
	})
	if x.err != nil || x.next.err != nil {
		t.Fatal(x.err, x.next.err)
	}
	w := x.next.machines[0].mirror
	if _, epoch := w.Decree(); epoch < 7 {
		t.Errorf("decree %d, want 7 at least", epoch)
	}
	if got := w.Timeline().Settled().Tick(); got < x.tick {
		t.Errorf("the new group has settled %d, and the last of the old was %d", got, x.tick)
	}
	longest := time.Duration(0)
	for _, b := range x.bots {
		longest = max(longest, b.gap)
	}
	t.Logf("halted at tick %d; all played again %v after the last world was there; the longest "+
		"without a new state was %v", x.tick, n.Now()-began, longest)
	x.until(20*time.Second, "the old mirrors end", func() bool { return len(x.alive()) == 0 })
	for _, s := range x.machines {
		if x.err == nil && !errors.Is(s.ended, ErrCeded) {
			t.Errorf("%s ended by %v", s.name, s.ended)
		}
	}
	if x.err != nil {
		t.Fatal(x.err)
	}
}

// TestNobodyTakesIt: a group that halted goes on with the game, and what would have been the last
// world is what all settle.
func TestNobodyTakesIt(t *testing.T) {
	n := netsim.New(netsim.Options{Seed: 5})
	x := handOverFleet(n, 3, 3, road)
	defer x.close()
	x.halted(x.machines[0], x.machines[2], time.Second)
	x.until(5*time.Second, "it goes on", func() bool {
		for _, s := range x.machines {
			if s.mirror.Halting().Tick != 0 {
				return false
			}
		}
		return true
	})
	x.settles(10 * time.Second)
	if x.err != nil {
		t.Fatal(x.err)
	}
	if got := x.hashes[x.tick]; got != x.final {
		t.Errorf("tick %d was settled as %x, and the last world was %x", x.tick, got, x.final)
	}
	x.until(5*time.Second, "all play", x.allPlay)
	if x.err != nil {
		t.Error(x.err)
	}
}

// TestHandsOverOrGoesOn: mirrors die while their group halts and cedes. Either the game is ceded,
// and no mirror of the group computes a tick more, or all that live go on with it.
func TestHandsOverOrGoesOn(t *testing.T) {
	cededs := 0
	simtest.Alone(t, 12, func(n *netsim.Net) error {
		r := n.Rand()
		c := apart(time.Duration(5+r.IntN(60))*time.Millisecond,
			time.Duration(r.IntN(15))*time.Millisecond, float64(r.IntN(5))/100)
		x := handOverFleet(n, 3+r.IntN(2), 2, c)
		defer x.close()
		addr := x.public.PublicAddr()
		die := time.Duration(r.IntN(1500)) * time.Millisecond
		victim := x.machines[r.IntN(len(x.machines))]
		if r.Chance(0.5) { // whoever decides
			for _, s := range x.machines {
				if s.mirror.leads() {
					victim = s
				}
			}
		}
		began := n.Now()
		n.After(die, func() { victim.kill() })
		limit := time.Duration(300+r.IntN(3000)) * time.Millisecond
		asked, wants := false, die/2+time.Duration(r.IntN(int(2*limit)))
		n.Every(40*time.Millisecond, func() {
			for _, s := range x.alive() {
				if h := s.mirror.Halting(); h.Final && !asked {
					f, err := s.mirror.Final()
					if err != nil {
						x.fail("%v", err)
						return
					}
					x.tick, x.final, asked = f.World.Tick(), f.World.Hash(), true
				} else if h.Final && n.Now() >= began+wants {
					_ = s.mirror.Cede(x.tick, []netip.AddrPort{addr})
				} else if h.Tick == 0 && !asked {
					_ = s.mirror.Halt(limit)
				}
			}
		})
		x.until(40*time.Second, "it is ceded, or goes on", func() bool {
			if !asked || victim.dead && n.Now() < die {
				return false
			}
			over, on := 0, 0
			for _, s := range x.machines {
				switch {
				case s.dead:
				case errors.Is(s.ended, ErrCeded) || s.ended == nil && s.mirror.Halting().Ceded:
					over++
				case s.ended == nil && s.mirror.Halting().Tick == 0 && s.settled > x.tick:
					on++
				}
			}
			x.watch()
			return victim.dead && (over == len(x.machines)-1 || on == len(x.machines)-1)
		})
		if x.err == nil && !x.ceded && x.hashes[x.tick] != x.final {
			x.fail("tick %d was settled otherwise than the last world had it", x.tick)
		}
		if x.ceded {
			cededs++
		}
		return x.err
	})
	t.Logf("%d games were ceded", cededs)
}

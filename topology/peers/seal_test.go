package peers_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/member"
	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/topology/peers"
	"github.com/coeval-dev/coeval/world"
)

// sealed lets some play in lock step, where all commit first.
func sealed(t *testing.T, seed uint64, players int, path netsim.Conditions, m peers.Match) *table {
	m.Start, m.Commit = players, true
	tb := newTable(t, netsim.New(netsim.Options{Seed: seed}), m)
	tb.path = path
	for i := range players {
		tb.sit(fmt.Sprint("p", i), func(o *peers.Options) {
			o.Style = peers.Lockstep()
			o.After = func(w *world.World, in *world.Inputs, _ bool) {
				if tb.after != nil {
					tb.after(o.Name, w, in)
				}
			}
		})
	}
	tb.until("all play", 10*time.Second, tb.allPlay)
	return tb
}

// count is in how many lines somebody says something.
func (tb *table) count(what string) (n int) {
	for _, l := range tb.log {
		if strings.Contains(l, what) {
			n++
		}
	}
	return n
}

// unseen fails where somebody has the command of another for a tick to which it has not committed
// itself.
func (tb *table) unseen() {
	for _, s := range tb.seats {
		if s.down || s.Phase() != peers.Playing {
			continue
		}
		mine, theirs := s.Committed(), s.Seen()
		for _, o := range tb.seats { // what is decided, though it may not know it yet
			for _, l := range o.LapsesOf(s.ID()) {
				mine = max(mine, l[1])
			}
		}
		if theirs > mine {
			tb.dump()
			tb.t.Fatalf("seed %d: %s has committed up to %d and has seen %d", tb.net.Seed(),
				s.name, mine, theirs)
		}
	}
}

// plays lets time go by, and looks that nobody peeks.
func (tb *table) plays(d time.Duration) {
	for end := tb.net.Now() + d; tb.net.Now() < end; {
		tb.run(20 * time.Millisecond)
		tb.unseen()
	}
}

// TestNobodyPeeks plays in lock step with commitments, over a bad network. Nobody ever has the
// command of another for a tick to which it has not committed itself. One who commits to nothing
// is shown nothing but what is decided without it, lapses, and is put out in the end.
func TestNobodyPeeks(t *testing.T) {
	for seed := range uint64(4) {
		tb := sealed(t, seed, 4, netsim.WiFi, peers.Match{Lapses: 2})
		tb.plays(6 * time.Second)
		tb.goesOn(100, 10*time.Second)
		for _, s := range tb.seats {
			if n := s.Stats(); n.Unopened > 0 || n.Lapses > 0 {
				t.Errorf("seed %d: %s: %d commands do not fit what was told before, %d lapses",
					seed, s.name, n.Unopened, n.Lapses)
			}
		}
		cheat := tb.seats[2]
		id := cheat.ID()
		cheat.CommitToNothing()
		tb.until("the cheat is out", 20*time.Second, func() bool {
			tb.unseen()
			return tb.said("p0: left member") || tb.said("p1: left member")
		})
		if n := len(tb.seats[0].LapsesOf(id)); n != 2 {
			t.Errorf("seed %d: it has lapsed %d times, want 2", seed, n)
		}
		cheat.crash()
		tb.goesOn(60, 10*time.Second)
	}
}

// TestLapse has one commit and not reveal, in several ways. Its last command is repeated, the same
// for all, and it plays on. The others wait a bounded time, and nobody peeks.
func TestLapse(t *testing.T) {
	for name, holds := range map[string]func(s *seat) func(member.ID) bool{
		"from all": func(*seat) func(member.ID) bool {
			return func(member.ID) bool { return true }
		},
		"until they vote": func(s *seat) func(member.ID) bool {
			return func(member.ID) bool { return !s.Voting() }
		},
		"from all but one": func(s *seat) func(member.ID) bool {
			return func(to member.ID) bool { return to != s.ID()%4+1 }
		},
	} {
		for which := range 2 { // who leads, and one who does not
			t.Run(fmt.Sprint(name, " seat ", which), func(t *testing.T) {
				tb := sealed(t, 7, 4, netsim.Cable, peers.Match{})
				tb.goesOn(100, 10*time.Second)
				s := tb.seats[which]
				from, id := s.World().Tick(), s.ID()
				s.Withhold(holds(s))
				before := tb.seats[2].Stats().Waited
				tb.plays(900 * time.Millisecond)
				s.BeHonest()
				tb.plays(3 * time.Second)
				lapses := tb.seats[2].LapsesOf(id)
				if name == "from all but one" {
					if len(lapses) != 0 {
						t.Errorf("it lapses, and one has told the others: %v", lapses)
					}
				} else if len(lapses) == 0 || lapses[0][0] < from {
					tb.dump()
					t.Errorf("from tick %d it has lapsed in %v", from, lapses)
				}
				if w := tb.seats[2].Stats().Waited - before; w > 1500*time.Millisecond &&
					name != "from all but one" {
					t.Errorf("another waited for %v", w)
				}
				if s.Phase() != peers.Playing || s.ID() != id || s.Stats().Returns > 0 {
					t.Errorf("it does not play on: %v", s.Peer)
				}
				tb.goesOn(100, 5*time.Second)
			})
		}
	}
}

// TestLapseRepeats looks at what is repeated: the same command, without its edges.
func TestLapseRepeats(t *testing.T) {
	tb := sealed(t, 3, 3, netsim.Cable, peers.Match{})
	s := tb.seats[2]
	given := map[string]map[world.Tick]walk{}
	tb.after = func(name string, w *world.World, in *world.Inputs) {
		if given[name] == nil {
			given[name] = map[world.Tick]walk{}
		}
		given[name][w.Tick()], _ = world.Given[walk](in, s.Player())
	}
	tb.goesOn(60, 5*time.Second)
	s.Withhold(func(member.ID) bool { return true })
	tb.plays(800 * time.Millisecond)
	s.BeHonest()
	tb.goesOn(60, 5*time.Second)
	lapses := tb.seats[0].LapsesOf(s.ID())
	if len(lapses) != 1 {
		tb.dump()
		t.Fatalf("it has lapsed %d times", len(lapses))
	}
	from, until := lapses[0][0], lapses[0][1]
	last := given["p0"][from-1]
	last.Fire = false
	for _, s := range tb.seats {
		for n := from; n <= until; n++ {
			if c := given[s.name][n]; c != last {
				t.Errorf("%s, tick %d of %d to %d: %+v, want %+v", s.name, n, from, until, c, last)
			}
		}
	}
	if last == (walk{}) {
		t.Error("what is repeated does nothing")
	}
}

// TestLossIsNoLapse plays over lines that lose a fifth of all packets. Nobody who is honest lapses.
func TestLossIsNoLapse(t *testing.T) {
	path := netsim.Both(netsim.Profile{Latency: 40 * time.Millisecond, Loss: 0.2,
		Jitter: netsim.Jitter{Shape: netsim.Uniform, Amount: 10 * time.Millisecond}})
	for seed := uint64(1); seed < 3; seed++ {
		for _, rate := range []int{20, 60} {
			m := peers.Match{Start: 4, Commit: true}
			tb := newTable(t, netsim.New(netsim.Options{Seed: seed}), m)
			tb.path = path
			for i := range 4 {
				tb.sit(fmt.Sprint("p", i), func(o *peers.Options) {
					o.Style, o.Packets = peers.Lockstep(), rate
				})
			}
			tb.until("all play", 20*time.Second, tb.allPlay)
			left := tb.count(": left")
			tb.plays(12 * time.Second)
			for _, s := range tb.seats {
				if n := s.Stats(); n.Lapses+n.Stalls > 0 || tb.count(": left") != left {
					tb.dump()
					t.Fatalf("seed %d, %d packets: %s: %+v", seed, rate, s.name, n)
				}
			}
		}
	}
}

// TestLapsesOnPurpose has one withhold what it has committed to again and again. That is bounded:
// it is put out.
func TestLapsesOnPurpose(t *testing.T) {
	tb := sealed(t, 5, 4, netsim.Cable, peers.Match{})
	tb.goesOn(60, 5*time.Second)
	s := tb.seats[1]
	id := s.ID()
	s.Withhold(func(member.ID) bool { return true })
	before := tb.seats[2].Stats().Waited
	took := tb.until("it is out", 20*time.Second, func() bool {
		tb.unseen()
		return tb.said(fmt.Sprint("p2: left member ", id))
	})
	s.crash()
	if n := tb.count(fmt.Sprint("p2: lapsed member ", id)); n != 4 {
		t.Errorf("it has lapsed %d times, want 4", n)
	}
	t.Logf("it is out after %v, and another waited for %v", took,
		tb.seats[2].Stats().Waited-before)
	tb.goesOn(100, 5*time.Second)
}

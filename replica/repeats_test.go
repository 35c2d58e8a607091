package replica

import (
	"fmt"
	"slices"
	"testing"

	"github.com/coeval-dev/coeval/world"
)

var classics = everyStrategy[1:]

func newClassic(t testing.TB, strategy Strategy, seed uint64) (*site, *guest) {
	t.Helper()
	s := newSite(t, Options{Strategy: strategy}, seed, 6)
	s.hist = map[world.ID]map[uint32][]int32{}
	return s, newGuest(s, 1, seed)
}

// settle lets a network without faults bring a guest up to a world that stands
// still, and fails if that takes too long.
func (g *guest) settle(t *testing.T) {
	t.Helper()
	g.loss, g.ackLoss, g.jitter = 0, 0, 0
	for n := 0; n < 60; n++ {
		for range g.every {
			g.tick()
		}
		if n > 10 && g.exact() {
			return
		}
	}
	t.Fatalf("not exact: %v, %+v", g.fails, g.r.Stats())
}

// waiting is how many packets were taken and not read yet.
func (g *guest) waiting() int {
	stats := g.r.Stats()
	n := g.taken - int(stats.Packets+stats.Rejected+stats.Stale)
	for _, refused := range g.fails {
		n += refused
	}
	return n
}

// Reliable messages that are slower than packets make packets of Doom3 wait,
// and cost none of them.
func TestDoom3WaitsForMessages(t *testing.T) {
	for _, late := range []int{1, 5, 20} {
		t.Run(fmt.Sprintf("late=%d", late), func(t *testing.T) {
			s, g := newClassic(t, Doom3, 3)
			g.jitter = 4
			waited := 0
			for range 600 {
				s.step()
				before := len(g.inorder)
				g.tick()
				for i := min(before, len(g.inorder)); i < len(g.inorder); i++ {
					g.inorder[i].at += late
				}
				waited = max(waited, g.waiting())
			}
			if waited == 0 {
				t.Error("no packet had to wait, so nothing was tried")
			}
			if len(g.fails) > 0 {
				t.Errorf("packets were refused: %v", g.fails)
			}
			g.settle(t)
		})
	}
}

// If messages never come, a client of Doom3 keeps a bounded number of packets
// and tells the server of those it gives up.
func TestDoom3HoldsABoundedNumber(t *testing.T) {
	s, g := newClassic(t, Doom3, 4)
	told := 0
	for range 1500 {
		s.step()
		g.tick()
		g.inorder = nil
		told += len(g.up)
		if n := g.waiting(); n > 64 {
			t.Fatalf("%d packets wait", n)
		}
	}
	if told == 0 || g.r.Stats().Rejected == 0 {
		t.Error("none was given up, so nothing was tried")
	}
}

// Doom3 says everything again until it is acknowledged, and then no more.
func TestDoom3RepeatsUntilAcknowledged(t *testing.T) {
	s, g := newClassic(t, Doom3, 5)
	g.look()
	sent := func() (n int) {
		g.s.Encode(s.worker, Room{Packet: 1150, Budget: 4600})
		g.s.Messages()
		for i := range g.s.Staged() {
			n += len(g.s.flights.staged[i].flight.Said)
			g.carrier++
			g.s.Sent(i, g.carrier)
		}
		return n
	}
	first := sent()
	if first == 0 {
		t.Fatal("nothing was sent")
	}
	for range 3 {
		if n := sent(); n != first {
			t.Fatalf("%d entities, not the same %d again", n, first)
		}
	}
	for c := uint64(1); c <= g.carrier; c++ {
		g.s.Arrived(c)
	}
	if n := sent(); n != 0 {
		t.Errorf("%d entities are sent that were acknowledged", n)
	}
}

// What returns to view is sent in full by those whose bases are snapshots, and as a difference by
// Doom3 and Quake.
func TestReturnToView(t *testing.T) {
	for _, strategy := range classics {
		t.Run(strategy.String(), func(t *testing.T) {
			s, g := newClassic(t, strategy, 6)
			g.look()
			now := func() {
				g.s.Encode(s.worker, Room{Packet: 1150, Budget: 4600})
				g.s.Messages()
				for i := range g.s.Staged() {
					g.carrier++
					g.s.Sent(i, g.carrier)
					g.s.Arrived(g.carrier)
				}
			}
			now()
			now()
			h := g.s.view.list[len(g.s.view.list)-1].handle
			if !g.s.bases.Bound(h) {
				t.Fatal("an entity that arrived is not known")
			}
			g.s.see(nil)
			for range 3 {
				now()
				s.pub.tick++ // so that an empty snapshot is due at some time
			}
			g.s.Look(&g.view)
			if g.s.at(h).unique == 0 {
				t.Fatal("the entity was forgotten at once")
			}
			g.s.bases.Begin()
			want := strategy == Doom3 || strategy == Doom3Exact || strategy == Quake
			if bound := g.s.bases.Bound(h); bound != want {
				t.Errorf("known to the client: %v, should be %v", bound, want)
			}
		})
	}
}

// Quake3 says that something is gone in every snapshot until one that says so
// has become the base.
func TestQuake3RepeatsThatSomethingIsGone(t *testing.T) {
	s, g := newClassic(t, Quake3, 7)
	g.look()
	gone := func(arrives bool) (n int) {
		g.s.Encode(s.worker, Room{Packet: 1150, Budget: 4600})
		g.s.Messages()
		for i := range g.s.Staged() {
			for _, e := range g.s.flights.staged[i].flight.Said {
				if e.What != Held {
					n++
				}
			}
			g.carrier++
			g.s.Sent(i, g.carrier)
			if arrives {
				g.s.Arrived(g.carrier)
			}
		}
		return n
	}
	gone(true)
	gone(true)
	g.s.see(nil)
	first := gone(false)
	if first == 0 {
		t.Fatal("nothing is gone")
	}
	for range 3 {
		if n := gone(false); n != first {
			t.Fatalf("%d are said to be gone, not the same %d again", n, first)
		}
	}
	gone(true)
	if n := gone(true); n != 0 {
		t.Errorf("%d are said to be gone though the base says so", n)
	}
}

// Snapshots of several packets, of which many are lost, bring a client up to date all the same.
func TestQuake3WithSeveralPackets(t *testing.T) {
	s, g := newClassic(t, Quake3, 8)
	g.room = Room{Packet: 100, Budget: 1000}
	g.loss, g.ackLoss, g.jitter = 0.3, 0.1, 6
	based, several := 0, 0
	for range 1500 {
		s.step()
		g.tick()
		if n := g.s.Staged(); n > 1 {
			several++
		}
		if _, _, ok := g.s.bases.Held(0, 0); ok {
			based++
		}
	}
	if based == 0 || several == 0 {
		t.Errorf("%d bases, %d of several packets: nothing was tried", based, several)
	}
	g.settle(t)
}

// A packet that the server takes for arrived and the client never saw does
// harm for a while only.
func TestClassicsRecover(t *testing.T) {
	for _, strategy := range classics {
		for seed := range uint64(8) {
			t.Run(fmt.Sprintf("%v/seed=%d", strategy, seed), func(t *testing.T) {
				s, g := newClassic(t, strategy, seed)
				stolen := 0
				for i := range 600 {
					s.step()
					g.tick()
					if i%50 == 20 && len(g.down) > 0 {
						g.down = slices.Delete(g.down, 0, 1)
						stolen++
					}
				}
				if stolen == 0 {
					t.Fatal("nothing was tried")
				}
				g.settle(t)
			})
		}
	}
}

// A packet that comes twice changes nothing.
func TestClassicsTakeAPacketOnce(t *testing.T) {
	for _, strategy := range classics {
		t.Run(strategy.String(), func(t *testing.T) {
			s, g := newClassic(t, strategy, 9)
			for range 300 {
				s.step()
				for _, p := range g.down {
					if p.at == g.now+1 {
						g.down = append(g.down, p)
					}
				}
				g.tick()
			}
			if g.r.Stats().Stale == 0 {
				t.Error("nothing came twice")
			}
			if n := g.s.Ledger().Rejects; n > 0 {
				t.Errorf("%d packets were refused", n)
			}
			g.settle(t)
		})
	}
}

// stage encodes a snapshot for a guest without a network, and gives what it
// says of entities and copies of its packets, which are those from first on.
func (g *guest) stage() (said []Said, packets [][]byte, first uint64) {
	g.s.Encode(g.site.worker, Room{Packet: 1150, Budget: 4600})
	first = g.carrier + 1
	for i := range g.s.Staged() {
		said = append(said, g.s.flights.staged[i].flight.Said...)
		packets = append(packets, slices.Clone(g.s.Packet(i)))
		g.carrier++
		g.s.Sent(i, g.carrier)
	}
	return said, packets, first
}

// A packet of Doom3 that advances overtook is read against the bases as they
// were when it was made.
func TestDoom3OvertakenByAdvances(t *testing.T) {
	s, g := newClassic(t, Doom3, 10)
	messages := func() {
		for _, m := range g.s.Messages() {
			if err := g.r.Message(slices.Clone(m)); err != nil {
				t.Fatal(err)
			}
		}
	}
	overtaken := 0
	for range 60 {
		s.step()
		g.look()
		_, slow, at := g.stage() // on the base before
		messages()
		s.step()
		_, fast, from := g.stage()
		messages()
		for _, p := range fast {
			if err := g.r.Packet(p); err != nil {
				t.Fatal(err)
			}
		}
		for c := from; c <= g.carrier; c++ {
			g.s.Arrived(c)
		}
		s.step()
		_, _, lost := g.stage() // tells of the advance, which is all that comes of it
		messages()
		for c := lost; c <= g.carrier; c++ {
			g.s.Lost(c)
		}
		for _, p := range slow {
			if err := g.r.Packet(p); err != nil {
				t.Fatalf("overtaken: %v", err)
			}
			overtaken++
		}
		for c := at; c < from; c++ {
			g.s.Arrived(c)
		}
		g.show()
	}
	if overtaken == 0 {
		t.Error("nothing was overtaken")
	}
}

// Also what was known before is repeated by Doom3 when it changes, and what
// returns to view until that is known.
func TestDoom3RepeatsChangesAndReturns(t *testing.T) {
	s, g := newClassic(t, Doom3, 11)
	arrive := func() {
		_, _, first := g.stage()
		for c := first; c <= g.carrier; c++ {
			g.s.Arrived(c)
		}
	}
	g.look()
	arrive()
	if said, _, _ := g.stage(); len(said) != 0 {
		t.Fatalf("%d entities are sent that are known", len(said))
	}
	for range 30 {
		s.step()
	}
	changed, _, _ := g.stage()
	again, _, _ := g.stage()
	if len(changed) == 0 || len(again) != len(changed) {
		t.Errorf("%d entities changed, and then %d were repeated", len(changed), len(again))
	}
	arrive()
	g.s.see(nil)
	arrive()
	arrive()
	g.s.Look(&g.view)
	back, _, _ := g.stage()
	again, _, _ = g.stage()
	if len(back) == 0 || len(again) != len(back) {
		t.Errorf("%d entities returned, and then %d were repeated", len(back), len(again))
	}
}

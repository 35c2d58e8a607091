package replica

import (
	"slices"
	"testing"

	"github.com/coeval-dev/coeval/world"
)

// A class with an interval is updated no more often than that, and is right in
// the end.
func TestInterval(t *testing.T) {
	s := newSite(t, Options{Classes: map[string]Policy{"walker": {Interval: 30, Far: 60}}}, 11, 4)
	s.hist = map[world.ID]map[uint32][]int32{}
	g := newGuest(s, 1, 11)
	last := map[world.ID]world.Tick{}
	g.check = func(n *Snapshot) {
		for _, u := range n.Updates {
			if u.ID.Class() == 1 && u.What == Held {
				if before, ok := last[u.ID]; ok && n.Tick-before < 30 {
					t.Errorf("%v was sent at tick %d and again at %d", u.ID, before, n.Tick)
				}
				last[u.ID] = n.Tick
			} else if u.What != Held {
				delete(last, u.ID)
			}
		}
	}
	for range 600 {
		s.step()
		g.tick()
	}
	if len(last) == 0 {
		t.Fatal("no walker was ever sent")
	}
	g.check = nil
	// more than the longest interval, with the world's clock standing still for nobody
	for range 25 {
		s.step()
		for range g.every {
			g.tick()
		}
	}
}

// A class that the client takes over is sent until the client has it, and not
// again but for a new owner or its end.
func TestTakeover(t *testing.T) {
	s := newSite(t, Options{Classes: map[string]Policy{"pebble": {Takeover: true}}}, 12, 4)
	g := newGuest(s, 1, 12)
	g.loss = 0.2
	updates, gone := map[world.ID]int{}, 0
	g.check = func(n *Snapshot) {
		for _, u := range n.Updates {
			if u.ID.Class() != 2 {
				continue
			}
			if u.What == Held {
				updates[u.ID]++
			} else {
				gone++
			}
		}
	}
	for range 900 {
		s.step()
		g.tick()
	}
	if len(updates) < 10 || gone < 10 {
		t.Fatalf("%d pebbles came and %d went; the test shows nothing", len(updates), gone)
	}
	total := 0
	for _, n := range updates {
		total += n
	}
	if total > len(updates)*5/4 {
		t.Errorf("%d updates of %d pebbles", total, len(updates))
	}
}

// What leaves the view is told apart from what is no more, and what returns
// needs little to be told again.
func TestLeavingAndReturning(t *testing.T) {
	s := newSite(t, Options{}, 13, 2)
	g := newGuest(s, 1, 13)
	var left, removed int
	g.check = func(n *Snapshot) {
		for _, u := range n.Updates {
			there := s.w.Has(u.ID)
			switch u.What {
			case Left:
				left++
			case Removed:
				removed++
				if there {
					t.Errorf("%v was said to be removed, and is there", u.ID)
				}
			}
		}
	}
	for range 6000 {
		s.step()
		g.tick()
	}
	if left < 5 || removed < 5 {
		t.Errorf("%d left and %d were removed; the test shows nothing", left, removed)
	}
	// Lamps that come back into view were never forgotten.
	for h, e := range g.r.entities {
		if e != nil && e.class == 0 && e.what == Left && len(g.kept()[h]) == 0 {
			t.Errorf("nothing is kept of %v", e.id)
		}
	}
}

// What a tight budget leaves out is listed, or said to be too much to list, so
// that a client never takes what is old for unchanged.
func TestDeferredIsMarked(t *testing.T) {
	s := newSite(t, Options{}, 14, 12)
	s.hist = map[world.ID]map[uint32][]int32{}
	g := newGuest(s, 1, 14)
	g.room = Room{Packet: 1150, Budget: 70}
	deferred, behind, certain := 0, 0, 0
	g.check = func(n *Snapshot) {
		deferred += len(n.Deferred)
		if n.Behind {
			behind++
		}
		if !n.Certain {
			return
		}
		certain++
		for _, u := range n.Updates {
			if u.What != Held {
				g.w.Host().Drop(u.ID)
			} else if err := g.w.Host().Put(u.ID, u.Entry, u.Image); err != nil {
				t.Fatal(err)
			}
		}
		for id := range g.w.Entities() {
			was := s.hist[id][uint32(n.Tick)]
			if was != nil && !slices.Contains(n.Deferred, id) &&
				!slices.Equal(was, g.w.Host().Image(id)) {
				t.Errorf("tick %d: %v is not as it was, and not deferred", n.Tick, id)
			}
		}
	}
	for range 900 {
		s.step()
		g.tick()
	}
	if deferred+behind == 0 || certain == 0 {
		t.Errorf("%d deferred, %d times behind, %d times certain; the test shows nothing", deferred,
			behind, certain)
	}
	t.Logf("%d deferred, %d times behind, %d times certain", deferred, behind, certain)
}

// Commands of other players in view are relayed, one's own are not.
func TestRelayedCommands(t *testing.T) {
	s := newSite(t, Options{}, 15, 3)
	g := newGuest(s, 1, 15)
	latest := map[world.Player][]int32{}
	g.check = func(n *Snapshot) {
		for _, c := range n.Commands {
			if c.Player == 1 {
				t.Fatal("a player's own command came back")
			}
			if latest[c.Player] = slices.Clone(c.Image); c.Image == nil {
				delete(latest, c.Player)
			}
		}
	}
	for range 300 {
		s.step()
		g.tick()
	}
	settle(t, g, 5)
	if len(latest) == 0 {
		t.Fatal("no one was relayed")
	}
	want := make([]int32, len(testGame.Commands().Slots))
	for p, image := range latest {
		if !s.w.Host().RelayImage(p, want) || !slices.Equal(image, want) {
			t.Errorf("player %d commands %v, and is said to command %v", p, want, image)
		}
	}
}

// All that a server does for its clients in a tick allocates nothing once it
// has been going for a while.
func TestNoAllocations(t *testing.T) {
	for name, classes := range map[string]map[string]Policy{
		"plain": nil, "beyond": walkerBeyond, "taken over": walkerTakenOver,
	} {
		c := newCrowd(t, Options{Classes: classes}, 40, 40)
		for range 2000 {
			c.advance()
		}
		if n := testing.AllocsPerRun(300, func() { c.advance() }); n > 0.5 {
			t.Errorf("%s: %.1f allocations a tick", name, n)
		}
	}
}

// The ledger's parts add up to what was sent.
func TestLedgerAddsUp(t *testing.T) {
	s := newSite(t, Options{}, 16, 6)
	g := newGuest(s, 1, 16)
	for range 600 {
		s.step()
		g.tick()
	}
	l := g.s.Ledger()
	sum := l.Header + l.Views + l.Events + l.Tail
	for _, c := range l.Classes {
		sum += c.Bits
	}
	if per := (float64(l.Bytes)*8 - sum) / float64(l.Packets); per < -1 || per > 16 {
		t.Errorf("%.1f bits a packet are not accounted for", per)
	}
	if int(l.Bytes) > g.bytes || l.Packets != uint64(g.packets) {
		t.Errorf("%d bytes in %d packets, and %d and %d were sent", l.Bytes, l.Packets, g.bytes,
			g.packets)
	}
}

// A worker may serve several worlds, whose entities go by the same numbers.
func TestWorkerOfTwoWorlds(t *testing.T) {
	a, b := newSite(t, Options{}, 17, 6), newSite(t, Options{}, 18, 6)
	b.worker = a.worker
	var guests []*guest
	for i := range 6 {
		guests = append(guests, newGuest([]*site{a, b}[i%2], world.Player(1+i/2), 17))
	}
	for range 300 {
		a.step()
		b.step()
		for _, g := range guests {
			g.tick()
		}
	}
	for _, g := range guests {
		if s := g.r.Stats(); s.Mismatch+s.Rejected > 0 {
			t.Fatalf("%+v %v", s, g.fails)
		}
		settle(t, g, 5)
	}
}

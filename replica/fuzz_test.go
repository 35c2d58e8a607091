package replica

import (
	"slices"
	"testing"

	"github.com/coeval-dev/coeval/world"
)

// FuzzReceive gives a receiver that is in the middle of a game any bytes for a
// packet. It must go on as if nothing had been.
func FuzzReceive(f *testing.F) {
	for strategy := range strategyNames {
		s := newSite(f, Options{Strategy: Strategy(strategy)}, 8, 3)
		g := newGuest(s, 1, 8)
		for range 40 {
			s.step()
			g.tick()
		}
		for _, p := range g.down {
			f.Add(uint8(strategy), p.data)
		}
	}
	f.Fuzz(func(t *testing.T, strategy uint8, data []byte) {
		s := newSite(t, Options{Strategy: Strategy(int(strategy) % len(strategyNames))}, 8, 3)
		g := newGuest(s, 1, 8)
		for range 30 {
			s.step()
			g.tick()
		}
		if err := g.r.Packet(data); err == nil {
			t.Skip("it happens to be one")
		}
		for range 60 {
			s.step()
			g.tick()
		}
		settle(t, g, 30)
	})
}

// FuzzReceiveTakenBack is FuzzReceive for a server whose world is taken back all the time, so that
// entities go and come again under other handles.
func FuzzReceiveTakenBack(f *testing.F) {
	play := func(m *mirror, g *guest, ticks int) {
		for range ticks {
			m.advance(0.5, 0)
			g.tick()
		}
	}
	for strategy := range strategyNames {
		m := newMirror(f, Options{Strategy: Strategy(strategy)}, 8, 3)
		g := newGuest(m.site, 1, 8)
		play(m, g, 40)
		for _, p := range g.down {
			f.Add(uint8(strategy), p.data)
		}
	}
	f.Fuzz(func(t *testing.T, strategy uint8, data []byte) {
		m := newMirror(t, Options{Strategy: Strategy(int(strategy) % len(strategyNames))}, 8, 3)
		g := newGuest(m.site, 1, 8)
		play(m, g, 30)
		if err := g.r.Packet(data); err == nil {
			t.Skip("it happens to be one")
		}
		play(m, g, 60)
		settle(t, g, 30)
	})
}

// FuzzReceiverMessage gives a receiver any bytes for reliable messages, one after the other. What
// it hands out is events of the game, and it takes back nothing that it did not hand out as
// provisional before.
func FuzzReceiverMessage(f *testing.F) {
	s := newSite(f, Options{}, 9, 3)
	g := newGuest(s, 1, 9)
	for range 200 {
		s.step()
		g.tick()
		for _, m := range g.inorder[:min(len(g.inorder), 1)] {
			f.Add(m.data, m.data)
		}
	}
	m := newMirror(f, Options{}, 9, 3)
	g = newGuest(m.site, 1, 9)
	for range 60 {
		m.advance(0.5, 0)
		g.tick()
		if n := len(g.inorder); n > 1 {
			f.Add(g.inorder[n-2].data, g.inorder[n-1].data)
		}
	}
	f.Add([]byte{messageBases, 1, 3, 1, 2, 0, 0}, []byte{messageAdvance, 1})
	f.Add([]byte{messageLeading, 0, 5, 0, 0, 0, 0}, []byte{messageLeading, 2, 5, 0, 0, 0, 3, 5})
	f.Fuzz(func(t *testing.T, first, second []byte) {
		r := NewReceiver(s.p, ReceiverOptions{})
		w, err := testGame.New(world.Settings{Partial: true})
		if err != nil {
			t.Fatal(err)
		}
		believed := map[world.Emitted]int{}
		for _, data := range [][]byte{first, second} {
			refused, settled := r.Message(data) != nil, r.Settled()
			list := r.Events()
			if refused && (len(list) > 0 || r.Settled() != settled) {
				t.Fatal("events of a message that was refused")
			}
			for i := range list {
				e := &list[i]
				if e.Retracted {
					believed[e.Emitted]--
				}
				if believed[e.Emitted] < 0 || e.Retracted && e.Provisional {
					t.Fatalf("taken back without having been told: %+v", e)
				}
				if e.Provisional {
					believed[e.Emitted]++
				}
				_ = e.Deliver(w)
			}
			for _, e := range r.events.provisional {
				if e.Tick <= r.Settled() {
					t.Fatalf("settled at %d, and it waits for %+v", r.Settled(), e.Emitted)
				}
			}
		}
	})
}

// FuzzSenderMessage gives a server any bytes from a client.
func FuzzSenderMessage(f *testing.F) {
	f.Add([]byte{messageReject, 3, 1, 0})
	f.Add([]byte{messageFresh, 2, 0, 1})
	f.Fuzz(func(t *testing.T, data []byte) {
		s := newSite(t, Options{}, 10, 3)
		g := newGuest(s, 1, 10)
		for range 20 {
			s.step()
			g.tick()
		}
		_ = g.s.Message(data)
		for range 60 {
			s.step()
			g.tick()
		}
		settle(t, g, 30)
	})
}

// FuzzCommands gives a server any bytes for a client's commands: what it takes
// are commands that the game could have made.
func FuzzCommands(f *testing.F) {
	p, err := NewProtocol(testGame, Options{})
	if err != nil {
		f.Fatal(err)
	}
	w := NewCommandWriter(p)
	image := slices.Clone(p.start(int32(p.commands)))
	shown := world.Sight{Ago: 157}
	shown.Add(world.Claim{Target: world.MakeID(0, 0, 3, 1), Place: [3]int32{-5, 1000, 0}})
	m, err := w.Append(nil, 1000, [][]int32{image, image}, []world.Sight{{Ago: 160}, shown}, 200)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(m)
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, data []byte) {
		in := testGame.NewInputs()
		_, _ = NewCommandReader(p).Read(data, 1000, func(tick world.Tick, image []int32,
			s *world.Sight) {
			if err := in.GiveImage(1, image); err != nil {
				t.Fatalf("%v: %v", image, err)
			}
			if s.Claimed > world.MaxClaims || s.Base != 0 {
				t.Fatalf("a sight of %+v", s)
			}
		})
	})
}

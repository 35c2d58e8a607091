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

// FuzzReceiverMessage gives a receiver any bytes for a reliable message.
func FuzzReceiverMessage(f *testing.F) {
	s := newSite(f, Options{}, 9, 3)
	g := newGuest(s, 1, 9)
	for range 200 {
		s.step()
		g.tick()
		for _, m := range g.inorder[:min(len(g.inorder), 1)] {
			f.Add(m.data)
		}
	}
	f.Add([]byte{messageBases, 1, 3, 1, 2, 0, 0})
	f.Add([]byte{messageAdvance, 1})
	f.Fuzz(func(t *testing.T, data []byte) {
		r := NewReceiver(s.p, ReceiverOptions{})
		if r.Message(data) != nil {
			if len(r.Events()) > 0 {
				t.Fatal("events of a message that was refused")
			}
			return
		}
		w, err := testGame.New(world.Settings{Partial: true})
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range r.Events() {
			_ = w.Deliver(e.Emitted, e.Fields())
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
	m, err := w.Append(nil, CommandHeader{Tick: 1000, Seen: true, SeenTick: 990, SeenPart: 3}, [][]int32{image, image}, 200)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(m)
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, data []byte) {
		in := testGame.NewInputs()
		_, _ = NewCommandReader(p).Read(data, 1000, func(tick world.Tick, image []int32) {
			if err := in.GiveImage(1, image); err != nil {
				t.Fatalf("%v: %v", image, err)
			}
		})
	})
}

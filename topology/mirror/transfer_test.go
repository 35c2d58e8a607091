package mirror

import (
	"testing"
	"time"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/timeline"
)

// newcomer makes a group of two, and its second mirror as it is when it waits for the state that
// the first sends it, which is given as well.
func newcomer(t testing.TB) (*fleet, *machine, []byte) {
	n := netsim.New(netsim.Options{Seed: 1})
	f := newFleet(n, Options{})
	a := f.launch("a", road)
	n.Run(100 * time.Millisecond)
	b := f.launch("b", road)
	f.until(10*time.Second, "both serve", f.whole)
	if f.err != nil {
		t.Fatal(f.err)
	}
	m := b.mirror
	state := a.mirror.handOver(m.roll.self)
	self, uber, epoch := m.roll.self, m.roll.uber, m.roll.epoch
	m.reset()
	m.roll.self, m.roll.uber, m.roll.epoch = self, uber, epoch
	return f, b, state
}

// FuzzTransfer: a mirror goes on from whatever state it is sent, or refuses it and asks again. It
// never panics, and never ends because of it. So that more than the beginning is tried, the world
// in the state is made whole again.
func FuzzTransfer(f *testing.F) {
	fl, b, state := newcomer(f)
	k, world := b.mirror.codec, []byte(nil)
	h := &handover{roll: newRoll(60)}
	c := bits.CursorOver(state)
	if h.fields(&c, k); !c.Done() {
		f.Fatal("the state is not what it was")
	}
	world, h.world = h.world, nil
	f.Add(written(h, k))
	for _, change := range []func(h *handover){
		func(h *handover) { h.term, h.changes = 1<<32-1, append(h.changes, 1<<40) },
		func(h *handover) { h.rulings = append(h.rulings, []byte{1, 2, 3}) },
		func(h *handover) { h.mirrors = append(h.mirrors, newPeer(2), newPeer(1<<16-1)) },
		func(h *handover) { h.level.Data = make([]byte, 100) },
		func(h *handover) {
			h.pending = []timeline.Command{{Kind: timeline.Give, Tick: 1 << 40, Origin: 7, Seq: 1,
				Player: 9, Image: neutralImage(b.mirror.game)}, {Kind: timeline.Join, Player: 9}}
			h.undecided = h.pending
		},
	} {
		changed := *h
		change(&changed)
		f.Add(written(&changed, k))
	}
	fl.close()
	f.Fuzz(func(t *testing.T, data []byte) {
		h := &handover{roll: newRoll(60)}
		c := bits.CursorOver(data)
		if h.fields(&c, k); c.Done() && h.version == handoverVersion && len(h.world) == 0 {
			h.world = world
			data = written(h, k)
		}
		f, b, _ := newcomer(t)
		defer f.close()
		if err := b.mirror.takeOver(data); err != nil {
			t.Log(err)
			b.mirror.again("the world that came makes no sense")
		}
		f.net.Run(300 * time.Millisecond)
		if b.ended != nil {
			t.Errorf("it ended: %v", b.ended)
		}
	})
}

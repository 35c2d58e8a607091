package mirror

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/coeval-dev/coeval/crimp"
	"github.com/coeval-dev/coeval/world"
)

// TestPromisesAreKept: whatever is stamped, packed and sent, in packets of whatever size, no item
// is at or before an earlier promise, and those who listen find every item with its number.
func TestPromisesAreKept(t *testing.T) {
	g := testGame(t)
	k, image := newCodec(g), neutralImage(g)
	rapid.Check(t, func(r *rapid.T) {
		var in ingress
		in.started = true
		p := newPeer(2)
		stamped, seq := []world.Tick{}, crimp.Sequence(0)
		heard := 0
		for range rapid.IntRange(1, 30).Draw(r, "packets") {
			in.stamp += world.Tick(rapid.IntRange(0, 3).Draw(r, "ticks"))
			for range rapid.IntRange(0, 6).Draw(r, "commands") {
				tick := in.open() + world.Tick(rapid.IntRange(0, 5).Draw(r, "ahead"))
				in.add(item{kind: itemGive, player: 1, tick: tick, image: image})
				stamped = append(stamped, tick)
			}
			for first := true; first || len(in.pending) > 0; first = false {
				h := in.nextHeader(in.closed(0))
				b, n, err := in.pack(k, &h, in.pending, rapid.IntRange(40, 200).Draw(r, "room"))
				if err != nil {
					r.Fatal(err)
				}
				in.dropSent(n)
				seq++
				got := k.parse(b)
				if got.err != nil || !p.wants(seq) {
					r.Fatalf("packet %d: %v", seq, got.err)
				}
				p.put(seq, got)
				for _, it := range got.items {
					if it.tick <= p.promise {
						r.Fatalf("a command for tick %d after a promise of %d", it.tick, p.promise)
					}
					if heard++; it.seq != uint32(heard) || it.tick != stamped[heard-1] {
						r.Fatalf("command %d of tick %d came as %d of %d", heard, stamped[heard-1],
							it.seq, it.tick)
					}
				}
				if !p.promised(&got.header) {
					r.Fatalf("a promise of %d after %d", got.promise, p.promise)
				}
				p.passed()
				k.done(got)
			}
		}
		if heard != len(stamped) {
			r.Fatalf("%d of %d commands were sent", heard, len(stamped))
		}
	})
}

func TestWhatDoesNotFit(t *testing.T) {
	g := testGame(t)
	var in ingress
	in.add(item{kind: itemChat, text: "more than there is room for"})
	h := in.nextHeader(0)
	if _, _, err := in.pack(newCodec(g), &h, in.pending, 20); err == nil {
		t.Error("it was packed")
	}
}

// TestNotStarted: a mirror that was not started stamps nothing, and promises what it holds.
func TestNotStarted(t *testing.T) {
	in := ingress{stamp: 100}
	if h := in.nextHeader(in.closed(30)); h.promise != 30 || !h.waiting {
		t.Errorf("%+v", h)
	}
	in.started, in.from = true, 120
	if h := in.nextHeader(in.closed(30)); h.promise != 120 || h.waiting {
		t.Errorf("%+v", h)
	}
}

// TestTakesBackItsPromise: one that promises less than before, or counts fewer commands, is not
// believed.
func TestTakesBackItsPromise(t *testing.T) {
	p := newPeer(2)
	for _, c := range []struct {
		promise world.Tick
		count   uint32
		want    bool
	}{{10, 3, true}, {10, 3, true}, {9, 3, false}, {11, 2, false}, {12, 4, true}} {
		if got := p.promised(&header{promise: c.promise, count: c.count}); got != c.want {
			t.Errorf("a promise of %d after %d commands is believed: %v", c.promise, c.count, got)
		}
	}
	if p.promise != 12 || p.count != 4 {
		t.Errorf("%+v", p.standing)
	}
}

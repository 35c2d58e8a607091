package client

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/predict"
	"github.com/coeval-dev/coeval/world"
)

var styles = []predict.Style{predict.Doom3, predict.Quake3, predict.HalfLife, predict.None}

// TestAnyFrameRate: however many frames there are in a second, there is one command for each tick,
// and they go to the server about once a tick.
func TestAnyFrameRate(t *testing.T) {
	for _, style := range styles {
		for _, rate := range []int{20, 60, 144, 500} {
			if testing.Short() && rate > 60 {
				continue // as under the race detector, where each takes ten times as long
			}
			t.Run(fmt.Sprintf("%v/%d", style, rate), func(t *testing.T) {
				r := newRig(t, style)
				began, fresh := 0, 0
				for range 3 * rate {
					r.frame(t, time.Second/time.Duration(rate))
					if r.view.Began {
						began++
					}
				}
				if r.view.Phase != Playing || r.view.Status != "" || began != 1 {
					t.Fatalf("%v, %q, %d worlds began", r.view.Phase, r.view.Status, began)
				}
				before, sent := r.client.Stats(), r.client.Ledger().Packets
				from := r.client.Sent()
				for range 5 * rate {
					r.frame(t, time.Second/time.Duration(rate))
					if r.view.Fresh {
						fresh++
					}
					if x := body(r.view.World, r.view.Me); x == nil {
						t.Fatal("the player has no body")
					}
				}
				after := r.client.Stats()
				made, ticks := after.Commands-before.Commands, uint64(r.client.Sent()-from)
				if made != ticks || ticks < 295 || ticks > 310 || fresh != 5*rate {
					t.Errorf("%d commands for %d ticks, shown in %d frames", made, ticks, fresh)
				}
				if n := r.client.Ledger().Packets - sent; n > 5*80 || n < uint64(5*min(rate, 45)) {
					t.Errorf("%d packets in five seconds", n)
				}
			})
		}
	}
}

// TestShownInTheSameFrame: what a command causes is shown in the frame in which it was made, where
// it is predicted, and later where it is not.
func TestShownInTheSameFrame(t *testing.T) {
	for _, style := range styles {
		r := newRig(t, style)
		still := func(world.Tick, world.Player, *world.World, *world.Inputs) {}
		press := func(t world.Tick, me world.Player, _ *world.World, in *world.Inputs) {
			_ = world.Give(in, me, walk{X: 1}) // it is of the game's type
		}
		command := Command(still)
		frame := func() *walker {
			r.now += yard.TickLength()
			must(t, r.server.Tick(r.now))
			r.view = r.client.Frame(r.now, command)
			if r.view.World == nil {
				return nil
			}
			return body(r.view.World, r.view.Me)
		}
		for range 180 {
			frame()
		}
		at := *body(r.view.World, r.view.Me)
		command = press
		frames := 1
		for ; *frame() == at; frames++ {
			if frames > 60 {
				t.Fatalf("%v: nothing moves", style)
			}
		}
		if (frames <= 2) != (style != predict.None) {
			t.Errorf("%v: moved in frame %d after the key", style, frames)
		}
	}
}

// TestTruthIsOne: what is shown without prediction is the truth itself, and with it the truth is
// what the server said last.
func TestTruthIsOne(t *testing.T) {
	for _, style := range styles {
		r := newRig(t, style)
		for range 180 {
			r.frame(t, yard.TickLength())
		}
		if same := r.view.World == r.view.Truth; same != (style == predict.None) {
			t.Errorf("%v: what is shown is the truth: %v", style, same)
		}
		for id := range r.view.Truth.Entities() {
			if r.view.Truth.Owner(id) != r.server.World().Owner(id) {
				t.Errorf("%v: %v has another owner", style, id)
			}
		}
		if known := r.view.Truth.Tick(); known+6 < r.server.World().Tick() {
			t.Errorf("%v: the truth is of tick %d, and the server at %d", style, known,
				r.server.World().Tick())
		}
	}
}

// TestStyleNoneKeepsNoWorlds: a client that predicts nothing takes a small part of the memory of
// one that does.
func TestStyleNoneKeepsNoWorlds(t *testing.T) {
	if testing.Short() {
		t.Skip("nothing in it runs at once")
	}
	size := func(style predict.Style) uint64 {
		r := newRig(t, style)
		for range 120 {
			r.frame(t, yard.TickLength())
		}
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		r.client.predict = nil
		runtime.GC()
		runtime.ReadMemStats(&after)
		runtime.KeepAlive(r)
		return before.HeapAlloc - min(before.HeapAlloc, after.HeapAlloc)
	}
	plain, whole := size(predict.None), size(predict.Doom3)
	t.Logf("%d bytes without prediction, %d with", plain, whole)
	if plain*10 > whole {
		t.Errorf("%d bytes without prediction, %d with", plain, whole)
	}
}

// TestStylesChange: the style changes while the game goes on, also to none and back, and the player
// stays in control.
func TestStylesChange(t *testing.T) {
	r := newRig(t, predict.None)
	for i := range 12 {
		r.client.SetStyle(styles[(i*7+i/4)%len(styles)])
		for range 120 {
			r.frame(t, yard.TickLength())
		}
		style := r.client.Style()
		if x := body(r.view.World, r.view.Me); x == nil || r.view.Status != "" ||
			r.client.Stats().Bad != 0 {
			t.Fatalf("%v: %q, %+v", style, r.view.Status, r.client.Stats())
		}
		was := r.client.Stats().Commands
		for range 60 {
			r.frame(t, yard.TickLength())
		}
		if made := r.client.Stats().Commands - was; made < 55 || made > 65 {
			t.Errorf("%v: %d commands in a second", style, made)
		}
	}
}

func mallocs() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.Mallocs
}

// TestSteadyFrameAllocatesNothing: what is still seen are rings that grow to their size, so the
// limit is not zero, but far below one in a frame.
func TestSteadyFrameAllocatesNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("nothing in it runs at once")
	}
	for _, style := range styles {
		r := newRig(t, style)
		for range 1200 {
			r.frame(t, yard.TickLength())
		}
		const frames = 600
		n := uint64(0)
		for range frames {
			r.now += yard.TickLength()
			must(t, r.server.Tick(r.now))
			before := mallocs()
			v := r.client.Frame(r.now, toAndFro)
			n += mallocs() - before
			must(t, v.Err)
		}
		each := float64(n) / frames
		t.Logf("%v: %.3f allocations a frame", style, each)
		if each > 0.1 {
			t.Errorf("%v: %.3f allocations a frame", style, each)
		}
	}
}

// BenchmarkFrame is a frame of a client that sees twenty birds, one of three with a snapshot,
// beside the tick of its server.
func BenchmarkFrame(b *testing.B) {
	for _, style := range styles {
		b.Run(style.String(), func(b *testing.B) {
			r := newRig(b, style)
			for range 1200 {
				r.frame(b, yard.TickLength())
			}
			var spent time.Duration
			b.ReportAllocs()
			b.ResetTimer()
			for range b.N {
				r.now += yard.TickLength()
				must(b, r.server.Tick(r.now))
				from := time.Now()
				v := r.client.Frame(r.now, toAndFro)
				spent += time.Since(from)
				must(b, v.Err)
			}
			b.ReportMetric(float64(spent.Nanoseconds())/float64(b.N), "ns/frame")
		})
	}
}

// TestChangeOfSides: someone who goes to watch is shown the others, and who comes back to play is
// in control at once, by prediction as before.
func TestChangeOfSides(t *testing.T) {
	for _, style := range styles {
		r := newRig(t, style)
		for i := range 3 {
			for range 180 {
				r.frame(t, yard.TickLength())
			}
			x := body(r.view.World, r.view.Me)
			if x == nil || r.view.Me == world.Nobody || r.client.Watching() {
				t.Fatalf("%v: player %d has no body in round %d", style, r.view.Me, i)
			}
			ahead := r.view.World.Tick() > r.view.Truth.Tick()
			if at := x.Pos; ahead != (style != predict.None) {
				t.Errorf("%v: at %v, is the present predicted: %v", style, at, ahead)
			}
			r.client.SetSpectating(true)
			for range 120 {
				r.frame(t, yard.TickLength())
			}
			if r.view.Me != world.Nobody || world.Count[bird](r.view.World) != 20 ||
				r.client.Stats().Bad != 0 {
				t.Fatalf("%v: player %d watches %d birds", style, r.view.Me,
					world.Count[bird](r.view.World))
			}
			r.client.SetSpectating(false)
		}
	}
}

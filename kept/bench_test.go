package kept_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/coeval-dev/coeval/kept"
	"github.com/coeval-dev/coeval/world"
)

// BenchmarkTick is what a desk takes of a tick with 10,000 entities that are kept, of which some
// change: with the rows handed to a store that forgets them.
func BenchmarkTick(b *testing.B) {
	for _, share := range []int{0, 60, 1} { // none, one in sixty, all of them
		b.Run(fmt.Sprintf("one in %d changes", share), func(b *testing.B) {
			x := crowd(b, 10_000)
			n, rows := 0, x.desk.Stats().Rows
			b.ReportAllocs()
			for b.Loop() {
				b.StopTimer()
				if n++; share > 0 {
					i := 0
					for _, t := range world.All[trader](x.w) {
						if i++; (i+n)%share == 0 {
							t.Gold = n % 1000
						}
					}
				}
				if err := x.w.Host().Step(nil); err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
				x.desk.Tick(x.w)
				b.StopTimer()
				for j := x.desk.Take(x.w.Tick()); j != nil; j = x.desk.Take(x.w.Tick()) {
					x.desk.Done(j, nil) // a store of no substance
				}
				b.StartTimer()
			}
			b.ReportMetric(float64(x.desk.Stats().Rows-rows)/float64(n), "rows/op")
		})
	}
}

// BenchmarkColdTick is the same where the game has had the caches in between, as a large one has.
func BenchmarkColdTick(b *testing.B) {
	x := crowd(b, 10_000)
	other := make([]byte, 64<<20)
	n := 0
	b.ReportAllocs()
	for b.Loop() {
		b.StopTimer()
		n++
		for _, t := range world.All[trader](x.w) {
			t.Gold = n % 1000
		}
		if err := x.w.Host().Step(nil); err != nil {
			b.Fatal(err)
		}
		for i := 0; i < len(other); i += 64 {
			other[i]++
		}
		b.StartTimer()
		x.desk.Tick(x.w)
		b.StopTimer()
		for j := x.desk.Take(x.w.Tick()); j != nil; j = x.desk.Take(x.w.Tick()) {
			x.desk.Done(j, nil)
		}
		b.StartTimer()
	}
}

func crowd(b testing.TB, n int) *stall {
	x := open(b, new(kept.Memory), kept.Options{World: 3, Every: 60})
	x.step(func(in *world.Inputs) {
		for p := range n {
			in.Join(world.Player(p + 1))
		}
	})
	for loaded := 0; loaded < n; {
		x.step(nil)
		loaded = 0
		for _, t := range world.All[trader](x.w) {
			if t.Loaded() {
				loaded++
			}
		}
	}
	if err := x.desk.Work(context.Background(), x.store); err != nil {
		b.Fatal(err)
	}
	return x
}

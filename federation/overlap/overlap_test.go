package overlap_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/coeval-dev/coeval/federation/overlap"
)

type number struct {
	id   uint32
	side overlap.Side
}

// What is found is what comparing each with each finds, whatever is put, moved and removed.
func TestFindsWhatOverlaps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s overlap.Space
		all := map[number]overlap.Box{}
		dims := rapid.SampledFrom([]uint16{1, 2, 3, 5, 7, 0x8001})
		for range rapid.IntRange(1, 200).Draw(t, "steps") {
			n := number{rapid.Uint32Range(0, 40).Draw(t, "id"),
				overlap.Side(rapid.IntRange(0, 1).Draw(t, "side"))}
			if rapid.IntRange(0, 3).Draw(t, "remove") == 0 {
				s.Remove(n.id, n.side)
				delete(all, n)
				continue
			}
			b := overlap.Box{Dims: dims.Draw(t, "dims")}
			for d := range overlap.MaxDimensions {
				if b.Dims&(1<<d) != 0 {
					b.Lo[d] = rapid.Int64Range(-100, 100).Draw(t, "lo")
					b.Hi[d] = b.Lo[d] + rapid.SampledFrom([]int64{1, 2, 7, 30, 1000}).Draw(t, "len")
				}
			}
			s.Put(n.id, n.side, &b)
			all[n] = b
		}
		pairs := map[uint32][]uint32{}
		s.Pairs(func(u uint32, subs []uint32) {
			if pairs[u] != nil {
				t.Fatalf("update %d comes twice", u)
			}
			pairs[u] = slices.Clone(subs)
		})
		for n, b := range all {
			var want []uint32
			for m, c := range all {
				if m.side != n.side && b.Overlaps(&c) {
					want = append(want, m.id)
				}
			}
			slices.Sort(want)
			got := s.Find(&b, 1-n.side, nil)
			slices.Sort(got)
			if !slices.Equal(got, want) {
				t.Fatalf("%v: found %v, want %v", n, got, want)
			}
			if n.side == overlap.Update {
				if p := pairs[n.id]; !slices.Equal(sorted(p), want) {
					t.Fatalf("pairs of %d: %v, want %v", n.id, p, want)
				}
			}
		}
	})
}

func sorted(s []uint32) []uint32 { slices.Sort(s); return s }

// crowd makes updates and subscriptions in two dimensions, of which each overlaps five on average.
func crowd(each int) (*overlap.Space, []overlap.Box) {
	rng := rand.New(rand.NewPCG(1, 2))
	const side = 1 << 20
	// Two squares of edge e overlap with a chance of (2e/side)^2.
	e := int64(1)
	for float64(each)*4*float64(e)*float64(e)/side/side < 5 {
		e++
	}
	s := &overlap.Space{}
	boxes := make([]overlap.Box, 2*each)
	for i := range boxes {
		b := &boxes[i]
		b.Dims = 3
		for d := range 2 {
			b.Lo[d] = rng.Int64N(side - e)
			b.Hi[d] = b.Lo[d] + e
		}
		s.Put(uint32(i/2), overlap.Side(i%2), b)
	}
	return s, boxes
}

// All of 100,000 updates and subscriptions, and one that moves.
func BenchmarkPairs(b *testing.B) {
	s, boxes := crowd(50_000)
	pairs := 0
	b.ReportAllocs()
	for b.Loop() {
		pairs = 0
		s.Pairs(func(_ uint32, subs []uint32) { pairs += len(subs) })
	}
	b.ReportMetric(float64(pairs)/float64(len(boxes)/2), "overlaps/update")
}

func BenchmarkMove(b *testing.B) {
	s, boxes := crowd(50_000)
	var out []uint32
	i := 0
	b.ReportAllocs()
	for b.Loop() {
		box := &boxes[i%len(boxes)]
		for d := range 2 {
			box.Lo[d]++
			box.Hi[d]++
		}
		s.Put(uint32(i%len(boxes)/2), overlap.Side(i%2), box)
		out = s.Find(box, 1-overlap.Side(i%2), out[:0])
		i++
	}
}

func ExampleSpace() {
	var s overlap.Space
	box := func(x0, x1, y0, y1 int64) *overlap.Box {
		return &overlap.Box{Dims: 3, Lo: [16]int64{x0, y0}, Hi: [16]int64{x1, y1}}
	}
	s.Put(1, overlap.Subscription, box(0, 100, 0, 100))   // who watches the south-west
	s.Put(2, overlap.Subscription, box(90, 200, 90, 200)) // and the north-east
	fmt.Println(s.Find(box(95, 99, 95, 99), overlap.Subscription, nil))
	fmt.Println(s.Find(box(10, 12, 95, 99), overlap.Subscription, nil))
	// Output:
	// [1 2]
	// [1]
}

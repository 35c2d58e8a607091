package arena

import (
	"testing"
	"time"

	"github.com/coeval-dev/coeval/interest"
	"github.com/coeval-dev/coeval/world"
)

// BenchmarkStep200Large is a tick of 200 bots on the large map, without their thinking.
func BenchmarkStep200Large(b *testing.B) {
	w, bots, in := crowded(b, "maze", 200)
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		b.StopTimer()
		think(b, w, bots, in)
		b.StartTimer()
		if err := w.Host().Step(in); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(world.Count[Shot](w)), "shots")
}

// BenchmarkThink200Large is what 200 bots think in a tick.
func BenchmarkThink200Large(b *testing.B) {
	w, bots, in := crowded(b, "maze", 200)
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		think(b, w, bots, in)
		b.StopTimer()
		if err := w.Host().Step(in); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
}

// BenchmarkFollow200Large is what a server does before snapshots: index, rooms and doors.
func BenchmarkFollow200Large(b *testing.B) { benchInterest(b, true) }

// BenchmarkViews200Large is the views of 200 clients, each of whom moves.
func BenchmarkViews200Large(b *testing.B) { benchInterest(b, false) }

func benchInterest(b *testing.B, follow bool) {
	w, bots, in := crowded(b, "maze", 200)
	it := newInterest()
	finder, views := interest.NewFinder(), make([]interest.View, len(bots))
	shown, n := 0, 0
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		b.StopTimer()
		for range 3 { // 20 snapshots a second
			think(b, w, bots, in)
			if err := w.Host().Step(in); err != nil {
				b.Fatal(err)
			}
		}
		if follow {
			b.StartTimer()
		}
		if err := it.Follow(w); err != nil {
			b.Fatal(err)
		}
		if follow {
			b.StopTimer()
		} else {
			b.StartTimer()
		}
		for i := range views {
			finder.Update(&views[i], it.Index, it.Rules,
				it.Observer(world.Player(i+1), 100*time.Millisecond))
		}
		b.StopTimer()
		for i := range views {
			n++
			shown += len(views[i].Entries()) - len(bots)
		}
		b.StartTimer()
	}
	b.ReportMetric(float64(shown)/float64(n), "shown/client")
}

// BenchmarkEye is the region in sight, as a client draws it each frame.
func BenchmarkEye(b *testing.B) {
	w, _, _ := crowded(b, "maze", 20)
	var s Scene
	var e Eye
	s.Look(w)
	b.ReportAllocs()
	for b.Loop() {
		for _, f := range world.All[Fighter](w) {
			e.See(&s, f.Pos, ViewReach)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*20), "ns/view")
}

// BenchmarkParseLarge is what loading the large map costs, and BenchmarkSurveyLarge what bots need
// of it besides.
func BenchmarkParseLarge(b *testing.B) {
	m, err := MapNamed("maze")
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := Parse(m.Text()); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSurveyLarge(b *testing.B) {
	m, err := MapNamed("maze")
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		m.survey()
	}
}

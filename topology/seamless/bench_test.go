package seamless

import (
	"testing"

	"github.com/coeval-dev/coeval/games/crowd"
	"github.com/coeval-dev/coeval/world"
	"github.com/coeval-dev/coeval/zone"
)

// crowded makes two zones of a square with so many people in it, each of whom walks.
func crowded(tb testing.TB, people int) []*body {
	tb.Helper()
	settings := crowd.SettingsFor(people, 7)
	settings.Allocator = 1
	w, err := crowd.Game.New(settings)
	if err != nil {
		tb.Fatal(err)
	}
	in := crowd.Game.NewInputs()
	for p := range people {
		in.Join(world.Player(p + 1))
		_ = world.Give(in, world.Player(p+1), crowd.Walk{X: int8(p%3 - 1), Y: int8(p/3%3 - 1)})
	}
	if err := w.Host().Step(in); err != nil {
		tb.Fatal(err)
	}
	where, err := placesOf(crowd.Title)
	if err != nil {
		tb.Fatal(err)
	}
	bounds, _ := where.extent(w)
	plan, err := Divide(bounds, 2, crowd.Sight, 2)
	if err != nil {
		tb.Fatal(err)
	}
	zones, err := split(crowd.Title, where, plan, w)
	if err != nil {
		tb.Fatal(err)
	}
	return zones
}

// What a zone's tick costs beside its world's: a sweep, what is near to the border shown, and what
// the other shows taken in. What is handed over is left out of it.
func BenchmarkBorders(b *testing.B) {
	zones := crowded(b, 1000)
	ghosts := make([][]zone.Ghost, 2)
	var shown int
	var size [2]int
	b.ReportAllocs()
	for tick := zone.Tick(2); b.Loop(); tick++ {
		for i, x := range zones {
			var out zone.Output
			x.Step(&zone.Input{Tick: tick, Ghosts: ghosts[i], Closed: []zone.ID{1, 2}}, &out)
		}
		for i, x := range zones {
			g := zone.Ghost{From: x.self, Tick: tick, Since: tick - 1}
			if tick == 2 {
				g.Since = 0
			}
			g.Data = x.Observe(zones[1-i].self, g.Since, nil)
			ghosts[1-i] = []zone.Ghost{g}
			size[i] = len(g.Data)
		}
		shown = zones[0].census.ghosts
	}
	b.ReportMetric(float64(zones[0].census.entities), "entities")
	b.ReportMetric(float64(shown), "ghosts")
	b.ReportMetric(float64(size[1]), "bytes/show")
}

// The same world whole, to compare.
func BenchmarkWhole(b *testing.B) {
	zones := crowded(b, 1000)
	b.ReportAllocs()
	for b.Loop() {
		for _, x := range zones {
			if err := x.w.Host().Step(nil); err != nil {
				b.Fatal(err)
			}
		}
	}
}

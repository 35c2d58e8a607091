package predict

import (
	"testing"
	"time"

	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/world"
)

// TestLocalEntitiesComeOnce: however often the past is predicted again, a local entity is there
// once, steps once for each tick, and is found in the world that is shown.
func TestLocalEntitiesComeOnce(t *testing.T) {
	for _, style := range []Style{Doom3, Quake3} {
		s := newSite(t, yard, 3)
		a := s.join(netsim.LTE, 1, Options{Style: style}, fight)
		s.join(netsim.Cable, 2, Options{Style: style}, fight)
		s.run(20 * time.Second)
		if n := a.c.Stats().Repredictions; n < 30 {
			t.Fatalf("%v: only %d repredictions", style, n)
		}
		type shot struct {
			by   world.ID
			tick world.Tick
		}
		seen, own := map[shot]bool{}, 0
		me, _ := ownOf(a)
		for id, f := range world.All[flash](a.shown) {
			if seen[shot{f.By, f.Tick}] {
				t.Errorf("%v: there are two of %+v", style, f)
			}
			seen[shot{f.By, f.Tick}] = true
			if f.By == me {
				own++
			}
			if f.Tick+f.Age != a.shown.Tick() || world.Get[flash](a.shown, id) != f {
				t.Errorf("%v: at tick %d %v is %+v", style, a.shown.Tick(), id, f)
			}
		}
		if own < 20 {
			t.Errorf("%v: %d flashes of %d are the player's own", style, own, len(seen))
		}
		for _, w := range append(a.c.past.worlds, a.c.truth, a.c.alone, a.c.plain, a.c.before) {
			if world.Count[flash](w) != 0 {
				t.Fatalf("%v: the local entities are attached to the world of tick %d", style,
					w.Tick())
			}
		}
	}
}

func ownOf(g *guest) (world.ID, *walker) { return own(g.shown, g.me) }

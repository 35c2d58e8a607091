package predict

import (
	"slices"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/replica"
	"github.com/coeval-dev/coeval/world"
)

// TestNone: without prediction each entity is shown as the server had it at the tick of the newest
// snapshot that told of it, each event once, and commands come in time on every network all the
// same.
func TestNone(t *testing.T) {
	for _, c := range []netsim.Conditions{netsim.LAN, netsim.WiFi, netsim.LTE, netsim.Satellite} {
		s := newSite(t, yard, 3)
		g := s.join(c, 1, Options{Style: None}, fight)
		s.join(netsim.Cable, 2, Options{}, fight)
		checked := 0
		g.check = func(g *guest, x *replica.Snapshot) {
			for _, u := range x.Updates {
				if u.What == replica.Held {
					checked++
					if !slices.Equal(g.c.Truth().Host().Image(u.ID), s.images[x.Tick][u.ID]) {
						t.Errorf("%s: %v is held as %v at tick %d", c.Name, u.ID,
							g.c.Truth().Host().Image(u.ID), x.Tick)
					}
				}
			}
		}
		s.run(5 * time.Second)
		late := 0
		fired := map[world.Emitted]int{}
		for range 20 {
			before := g.repeated
			s.run(time.Second)
			late += max(g.repeated-before, 0)
		}
		if g.shown != g.c.Truth() || len(g.c.past.worlds) != 0 {
			t.Errorf("%s: it keeps worlds", c.Name)
		}
		for e, f := range g.notices {
			if f.shown > 1 {
				t.Errorf("%s: %v was shown %d times", c.Name, e, f.shown)
			}
			fired[e] += f.shown
		}
		if checked < 1000 || len(fired) < 50 {
			t.Errorf("%s: %d images and %d events were looked at", c.Name, checked, len(fired))
		}
		if late > 60 {
			t.Errorf("%s: %d commands of 1200 were made up", c.Name, late)
		}
	}
}

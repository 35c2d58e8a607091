package turns_test

import (
	"math/rand/v2"
	"testing"

	"github.com/coeval-dev/coeval/timeline/turns"
	"github.com/coeval-dev/coeval/world"
)

// TestLocal has commands come late, so that ticks are computed again. What they spawn of local
// classes is shown, once for each tick, steps as ticks go by, and changes nothing.
func TestLocal(t *testing.T) {
	const ticks, late = 200, 5
	r := rand.New(rand.NewPCG(4, 4))
	s := newScript(r, 2, ticks)
	w, err := rules.New(world.Settings{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	c, err := turns.NewCopy(w, s, turns.Options{Depth: late + 1})
	if err != nil {
		t.Fatal(err)
	}
	for n := 1; n <= ticks+late; n++ {
		for p, st := range s.streams {
			if at := n - late*p; at >= 1 && at <= ticks { // the second player's come late
				_, _ = st.Put(uint64(at), s.items[p][at-1])
				c.Learn(world.Tick(at))
			}
		}
		if err := c.Repair(); err != nil {
			t.Fatal(err)
		}
		if n > ticks {
			continue
		}
		if went, err := c.Advance(); !went || err != nil {
			t.Fatal(went, err)
		}
		sparks := map[world.Tick]int{}
		for _, s := range world.All[spark](c.World()) {
			sparks[s.Tick]++
		}
		if shown := c.Shown(); shown > 5 && (len(sparks) != 3 || sparks[shown] != 2 ||
			sparks[shown-2] != 2) {
			t.Fatalf("at tick %d there are sparks of %v", shown, sparks)
		}
	}
	if c.Stats().Again == 0 {
		t.Error("nothing was computed again")
	}
	if got, want := c.World().Hash(), s.truly(t, ticks); got != want {
		t.Errorf("hash %x, want %x", got, want)
	}
}

package kept_test

import (
	"testing"

	"github.com/coeval-dev/coeval/kept"
	"github.com/coeval-dev/coeval/world"
)

// TestAnotherWorld: when another world follows, as with the next level, it is played at once: it
// does not wait until it has come as far as the one before had.
func TestAnotherWorld(t *testing.T) {
	var store kept.Memory
	x := open(t, &store, kept.Options{World: 7})
	x.join(1, 2)
	for range 40 {
		x.step(nil)
	}
	for level := range 3 {
		x.give(2, order{Buy: 1, Price: 1})
		for range 10 {
			x.step(nil)
		}
		if got := x.trader(2).Bought; got != level+1 {
			t.Fatalf("level %d: %d trades", level, got)
		}
		x.desk.Begin()
		w, err := market.New(world.Settings{Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		x.w = w
		x.join(1, 2)
	}
}

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

// TestWorldBeforeIsWritten: what is left to be written of the world before waits for the new one to
// be safe, and not until that has come as far.
func TestWorldBeforeIsWritten(t *testing.T) {
	var store kept.Memory
	x := open(t, &store, kept.Options{World: 7, Every: -1})
	x.join(1, 2)
	for range 40 {
		x.step(nil)
	}
	x.trader(2).Gold = 77
	if err := x.w.Host().Step(nil); err != nil {
		t.Fatal(err)
	}
	x.desk.Tick(x.w)
	x.desk.Begin()
	w, err := market.New(world.Settings{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	x.w = w
	wrote := 0
	for range 5 {
		if err := x.w.Host().Step(nil); err != nil {
			t.Fatal(err)
		}
		x.desk.Tick(x.w)
		for j := x.desk.Take(x.w.Tick()); j != nil; j = x.desk.Take(x.w.Tick()) {
			if j.Kind() == "write" {
				wrote += j.Rows()
			}
			x.desk.Done(j, j.Run(t.Context(), &store))
		}
		in := x.w.Game().NewInputs()
		if err := x.desk.Tell(in); err != nil {
			t.Fatal(err)
		}
		if err := x.w.Host().Step(in); err != nil {
			t.Fatal(err)
		}
		x.desk.Tick(x.w)
	}
	if wrote == 0 {
		t.Error("nothing was written of the world before")
	}
}

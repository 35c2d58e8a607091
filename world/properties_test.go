package world

import (
	"errors"
	"slices"
	"sync"
	"testing"

	"pgregory.net/rapid"
)

func TestCopyIsIndependent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newArena(t, Settings{Seed: rapid.Uint64().Draw(t, "seed")})
		run(t, w, 1, rapid.IntRange(0, 120).Draw(t, "before"))
		c := newArena(t, Settings{})
		run(t, c, 2, rapid.IntRange(0, 120).Draw(t, "other")) // what it held must not matter
		if err := c.Host().CopyFrom(w); err != nil {
			t.Fatal(err)
		}
		if d := Differ(w, c); d != nil {
			t.Fatal("copy: ", d)
		}
		at := w.Hash()
		run(t, c, 3, rapid.IntRange(1, 60).Draw(t, "after"))
		if w.Hash() != at {
			t.Fatal("stepping the copy changed the original")
		}
		// Both go the same way, and the one that was copied finds the same changes.
		d := w.Host().Clone()
		for range 30 {
			run(t, w, 4, 1)
			run(t, d, 4, 1)
			if diff := Differ(w, d); diff != nil {
				t.Fatal("after the copy: ", diff)
			}
			for id := range w.Entities() {
				if w.Host().Changed(id) != d.Host().Changed(id) {
					t.Fatal("one copy says that ", id, " changed, the other not")
				}
			}
		}
	})
}

func TestSaveThenLoadIsIdentical(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newArena(t,
			Settings{Seed: rapid.Uint64().Draw(t, "seed"), Secret: 5,
				Allocator: rapid.IntRange(0, Predicted-1).Draw(t, "allocator")})
		run(t, w, 1, rapid.IntRange(0, 400).Draw(t, "ticks"))
		data := w.Host().Save(nil)
		l, err := arena.Load(data)
		if err != nil {
			t.Fatal(err)
		}
		if d := Differ(w, l); d != nil {
			t.Fatal(d)
		}
		if !slices.Equal(data, l.Host().Save(nil)) {
			t.Fatal("saved again it is not the same")
		}
		for id := range w.Entities() {
			a, b := w.Host().Fields(id), l.Host().Fields(id)
			if !slices.Equal(a, b) { // to the last bit, derived fields too
				t.Fatal(id, a, b)
			}
			if w.Host().Entry(id) != l.Host().Entry(id) {
				t.Fatal(id, w.Host().Entry(id), l.Host().Entry(id))
			}
		}
		run(t, w, 2, 50)
		run(t, l, 2, 50)
		if d := Differ(w, l); d != nil {
			t.Fatal("after loading: ", d)
		}
	})
}

func TestImagesAreIdempotent(t *testing.T) {
	w := newArena(t, Settings{Seed: 3})
	for range 300 {
		run(t, w, 3, 1)
		for i, c := range w.game.classes {
			for id := range w.Host().Of(i) {
				image := make([]int32, c.layout.Len())
				pg, s := w.tables[i].find(id)
				if err := c.layout.QuantiseInto(&w.sync, c.kind.syncer(w.tables[i].at(pg, s)),
					image); err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(image, w.Host().Image(id)) {
					t.Fatalf("tick %d, %s %v: image %v, quantised again %v", w.tick, c.name, id,
						w.Host().Image(id), image)
				}
			}
		}
	}
}

func TestIdentifiersAreNeverReused(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newArena(t, Settings{Seed: rapid.Uint64().Draw(t, "seed")})
		used, last := map[ID]bool{}, map[ID]bool{}
		for range 300 {
			run(t, w, 9, 1)
			now := map[ID]bool{}
			for id := range w.Entities() {
				now[id] = true
				if used[id] && !last[id] {
					t.Fatal(id, " came back")
				}
				used[id] = true
			}
			last = now
		}
	})
}

// TestOrderOfInsertionNeverMatters puts the same entities into partial worlds in different orders,
// some of them more than once, and steps them.
func TestOrderOfInsertionNeverMatters(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newArena(t, Settings{Seed: 1})
		run(t, w, 5, rapid.IntRange(1, 200).Draw(t, "ticks"))
		ids := slices.Collect(w.Entities())
		order := rapid.Permutation(ids).Draw(t, "order")
		partial := func(ids []ID, twice bool) *World {
			p := newArena(t, Settings{Seed: 1, Partial: true})
			p.Host().SetTick(w.tick)
			for _, id := range ids {
				for range 2 {
					if err := p.Host().Put(id, w.Host().Entry(id), w.Host().Image(id)); err != nil {
						t.Fatal(err)
					}
					if !twice {
						break
					}
					p.Host().Drop(id)
					if err := p.Host().Put(id, w.Host().Entry(id), w.Host().Image(id)); err != nil {
						t.Fatal(err)
					}
				}
			}
			return p
		}
		a, b := partial(ids, false), partial(order, true)
		for range 20 {
			if d := Differ(a, b); d != nil {
				t.Fatal(d)
			}
			if err := errors.Join(a.Host().Step(nil), b.Host().Step(nil)); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// TestChanceDoesNotDependOnWhoIsInView hides entities and looks at what the others draw.
func TestChanceDoesNotDependOnWhoIsInView(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newArena(t, Settings{Seed: rapid.Uint64().Draw(t, "seed")})
		run(t, w, 5, 30)
		p := newArena(t, Settings{Seed: w.settings.Seed, Partial: true})
		p.Host().SetTick(w.tick)
		var shown []ID
		for id := range w.Host().Of(classOf[drone](arena).number) {
			if rapid.Bool().Draw(t, "shown") {
				shown = append(shown, id)
				if err := p.Host().Put(id, w.Host().Entry(id), w.Host().Image(id)); err != nil {
					t.Fatal(err)
				}
			}
		}
		for range 20 {
			run(t, w, 5, 1)
			if err := p.Host().Step(nil); err != nil {
				t.Fatal(err)
			}
			for _, id := range shown {
				if !slices.Equal(w.Host().Image(id), p.Host().Image(id)) {
					t.Fatalf("drone %v wanders elsewhere when others are hidden", id)
				}
			}
		}
	})
}

// TestWorldsOfOneGameRunAtOnce is for the race detector: a Game is shared, and nothing else is.
func TestWorldsOfOneGameRunAtOnce(t *testing.T) {
	first := newArena(t, Settings{Seed: 6})
	run(t, first, 6, 100)
	var group sync.WaitGroup
	hashes := make([]uint64, 4)
	for i := range hashes {
		w := first.Host().Clone()
		group.Go(func() {
			inputs, in := RandomInputs(arena, 6, 3), arena.NewInputs()
			for range 100 {
				inputs(w.tick+1, in)
				if err := w.Host().Step(in); err != nil {
					t.Error(err)
				}
			}
			hashes[i] = w.Hash()
		})
	}
	group.Wait()
	for _, h := range hashes {
		if h != hashes[0] {
			t.Errorf("%x", hashes)
		}
	}
}

func TestInputsOfAnotherGame(t *testing.T) {
	w := newArena(t, Settings{})
	in := village.NewInputs()
	if err := w.Host().Step(in); err == nil || w.Tick() != 0 {
		t.Error(err, w.Tick())
	}
	if arena.NewInputs().CopyFrom(in) == nil || w.Host().CopyFrom(mustVillage(t)) == nil {
		t.Error("copied from another game")
	}
}

func mustVillage(t *testing.T) *World {
	w, err := village.New(Settings{})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

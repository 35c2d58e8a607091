package world

import (
	"errors"
	"slices"
	"testing"

	"github.com/coeval-dev/coeval/bits"
	"pgregory.net/rapid"
)

func TestPutRefusesWhatNoWorldMakes(t *testing.T) {
	w := newArena(t, Settings{Seed: 1})
	run(t, w, 1, 20)
	p := newArena(t, Settings{Seed: 1, Partial: true})
	ships, n := classOf[ship](arena).number, 0
	for id := range w.Host().Of(ships) {
		image := w.Host().Image(id)
		for i := range image {
			for _, v := range []int32{-1 << 31, 1<<31 - 1} {
				bad := slices.Clone(image)
				bad[i] = v
				if sl := arena.classes[ships].Schema().Slots[i]; v >= sl.Min && v <= sl.Max {
					continue
				}
				if p.Host().Put(id, Entry{}, bad) == nil {
					t.Errorf("%d was taken for %s", v, arena.classes[ships].Schema().Slots[i].Name)
				}
				n++
			}
		}
		heat := slices.IndexFunc(arena.classes[ships].Schema().Slots,
			func(s bits.Slot) bool { return s.Name == "Heat" })
		bad := slices.Clone(image)
		bad[heat]++ // not burning, but with heat: in range, yet no world makes it
		if p.Host().Put(id, Entry{}, bad) == nil {
			t.Error("an image was taken that packing never makes")
		}
		if p.Host().Put(id, Entry{}, image[1:]) == nil {
			t.Error("a short image was taken")
		}
		if p.Has(id) {
			t.Error("an entity came of a bad image")
		}
		if err := p.Host().Put(id, w.Host().Entry(id), image); err != nil {
			t.Error(err)
		}
		at := p.Hash()
		if p.Host().Put(id, Entry{}, bad) == nil || p.Hash() != at {
			t.Error("a bad image changed an entity")
		}
	}
	if n == 0 {
		t.Fatal("nothing was tried")
	}
	for _, id := range []ID{
		None, MakeID(77, 0, 0, 1), MakeID(0, 0, MaxEntities-1, 1), MakeID(4, 0, 0, 2),
		MakeID(4, 1, 0, 1), MakeID(0, 0, 1, 0)} {
		if err := p.Host().Put(id, Entry{}, nil); !errors.Is(err, ErrPlace) {
			t.Errorf("%v: %v", id, err)
		}
	}
}

func TestANewerGenerationTakesThePlace(t *testing.T) {
	w := newArena(t, Settings{Seed: 1})
	p := newArena(t, Settings{Seed: 1, Partial: true})
	var id ID
	for id = range w.Host().Of(2) {
		break
	}
	if err := p.Host().Put(id, Entry{}, w.Host().Image(id)); err != nil {
		t.Fatal(err)
	}
	next := makeID(2, 0, id.Index(), uint32(id.Generation()+1))
	if err := p.Host().Put(next, Entry{}, w.Host().Image(id)); err != nil {
		t.Fatal(err)
	}
	if p.Has(id) || !p.Has(next) || Count[drone](p) != 1 {
		t.Error(p.Has(id), p.Has(next), Count[drone](p))
	}
	if err := w.Host().Put(next, Entry{}, w.Host().Image(id)); !errors.Is(err, ErrPlace) {
		t.Error("a whole world gave away what it has:", err)
	}
}

// TestLending moves entities between two servers at random: each is always in exactly one world or
// gone, and no identifier names two.
func TestLending(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		at := [2]*World{
			newArena(t, Settings{Seed: 1, Allocator: 1}),
			newArena(t, Settings{Seed: 1, Allocator: 2})}
		home := map[ID]int{}
		for i, w := range at {
			for id := range w.Entities() {
				home[id] = i
			}
		}
		total := len(home)
		for range rapid.IntRange(1, 40).Draw(t, "moves") {
			from := rapid.IntRange(0, 1).Draw(t, "from")
			ids := slices.Collect(at[from].Entities())
			if len(ids) == 0 {
				continue
			}
			id := rapid.SampledFrom(ids).Draw(t, "id")
			image, entry := slices.Clone(at[from].Host().Image(id)), at[from].Host().Entry(id)
			at[from].Host().Lend(id)
			if at[from].Has(id) {
				t.Fatal("lent and still there")
			}
			if rapid.Bool().Draw(t, "dies on the way") {
				total--
				delete(home, id)
				for _, w := range at {
					w.Host().Forget(id)
				}
			} else {
				if err := at[1-from].Host().Put(id, entry, image); err != nil {
					t.Fatal(err)
				}
				home[id] = 1 - from
			}
			for i, w := range at {
				w.busy = true
				if rapid.Bool().Draw(t, "spawn") {
					new := Spawn(w, drone{})
					if _, used := home[new]; used {
						t.Fatal("identifier given out twice: ", new)
					}
					home[new] = i
					total++
				}
				w.finish()
				l, err := arena.Load(w.Host().Save(nil))
				if err != nil {
					t.Fatal(err)
				}
				if d := Differ(w, l); d != nil {
					t.Fatal(d)
				}
				at[i] = l
			}
		}
		n := 0
		for i, w := range at {
			for id := range w.Entities() {
				n++
				if home[id] != i {
					t.Fatal(id, " is in the wrong world")
				}
			}
		}
		if n != total {
			t.Fatalf("%d entities, want %d", n, total)
		}
	})
}

func TestPredictedSpawnsHaveTheSameName(t *testing.T) {
	w := newArena(t, Settings{Seed: 1})
	in := arena.NewInputs()
	in.Join(1)
	if err := w.Host().Step(in); err != nil {
		t.Fatal(err)
	}
	p := newArena(t, Settings{Seed: 1, Partial: true})
	p.Host().SetTick(w.Tick())
	for id := range w.Entities() {
		if err := p.Host().Put(id, w.Host().Entry(id), w.Host().Image(id)); err != nil {
			t.Fatal(err)
		}
	}
	join := arena.NewInputs()
	join.Join(1)
	for range 12 {
		in.Reset()
		if err := Give(in, 1, steer{Fire: true}); err != nil {
			t.Fatal(err)
		}
		if err := join.CopyFrom(in); err != nil {
			t.Fatal(err)
		}
		join.Join(1)
		if err := errors.Join(w.Host().Step(in), p.Host().Step(join)); err != nil {
			t.Fatal(err)
		}
		names := map[Name]ID{}
		for id := range w.Host().Of(1) {
			names[w.Origin(id)] = id
		}
		if len(names) != Count[shell](w) || len(names) == 0 || Count[shell](p) != len(names) {
			t.Fatal(len(names), Count[shell](w), Count[shell](p))
		}
		for id := range p.Host().Of(1) {
			real := names[p.Origin(id)]
			if id.Allocator() != Predicted ||
				!slices.Equal(p.Host().Image(id), w.Host().Image(real)) {
				t.Fatalf("%v is not %v", id, real)
			}
		}
	}
}

// TestTake: to take an entity from another partial world does what Put with its entry and image
// does, whatever was in its place before; and both go on alike.
func TestTake(t *testing.T) {
	w := newArena(t, Settings{Seed: 1})
	partial := func() *World { return newArena(t, Settings{Seed: 1, Partial: true}) }
	source, put, took := partial(), partial(), partial()
	for range 30 {
		run(t, w, 2, 3)
		for c := range arena.classes {
			for id := range w.Host().Of(c) {
				if w.Host().Changed(id) || w.Rand().IntN(3) == 0 {
					e, image := w.Host().Entry(id), w.Host().Image(id)
					for _, p := range []*World{source, put} {
						if err := p.Host().Put(id, e, image); err != nil {
							t.Fatal(err)
						}
					}
					if err := took.Host().Take(source, id); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
		if d := Differ(put, took); d != nil {
			t.Fatalf("tick %d: %v", w.Tick(), d)
		}
		for _, p := range []*World{put, took} {
			if err := p.Host().Step(arena.NewInputs()); err != nil {
				t.Fatal(err)
			}
		}
		if d := Differ(put, took); d != nil {
			t.Fatalf("a tick after %d: %v", w.Tick(), d)
		}
	}
	if put.Hash() != took.Hash() || Count[ship](took) == 0 {
		t.Error("the hashes are not the same")
	}
	if err := took.Host().Take(source, None); err != nil {
		t.Errorf("what is not there: %v", err)
	}
	other := Define("other", Class[ship]())
	o, err := other.New(Settings{Partial: true})
	if err != nil {
		t.Fatal(err)
	}
	for id := range source.Entities() {
		if o.Host().Take(source, id) == nil {
			t.Error("an entity of another game was taken")
		}
		break
	}
}

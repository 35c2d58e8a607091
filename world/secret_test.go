package world_test

import (
	"testing"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/world"
)

// A draw keeps the last number that it drew in secret.
type lot struct{ Number uint64 }

func (l *lot) Sync(s *bits.Sync) { s.Uint64(&l.Number, 0, 1<<64-1) }

func (l *lot) Step(w *world.World, _ world.ID) {
	for range 1 + int(w.Tick()%11) {
		l.Number = w.Secret().Uint64()
	}
}

var lots = world.Define("lots", world.Class[lot](), world.OnStart(func(w *world.World) {
	for range 4 {
		world.Spawn(w, lot{})
	}
}))

func drawLots(t *testing.T, w *world.World, ticks int) {
	t.Helper()
	for range ticks {
		if err := w.Host().Step(nil); err != nil {
			t.Fatal(err)
		}
	}
}

// What is drawn in secret is the same in every copy of a world that holds the secret: one that runs
// again from the start, one that was taken back, one that was saved and loaded. Another secret
// draws others, and so does a client.
func TestSecretIsPartOfTheWorld(t *testing.T) {
	begin := func(s world.Settings) *world.World {
		w, err := lots.New(s)
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	s := world.Settings{Seed: 5, Secret: 77}
	w := begin(s)
	drawLots(t, w, 20)
	middle := w.Host().Clone()
	saved := w.Host().Save(nil)
	drawLots(t, w, 20)
	want := w.Hash()
	again := begin(s)
	drawLots(t, again, 40)
	drawLots(t, middle, 20)
	loaded, err := lots.Load(saved)
	if err != nil {
		t.Fatal(err)
	}
	drawLots(t, loaded, 20)
	for name, o := range map[string]*world.World{
		"again": again, "taken back": middle, "loaded": loaded} {
		if o.Hash() != want {
			t.Errorf("%s: another world", name)
		}
	}
	numbers := func(w *world.World) map[uint64]bool {
		m := map[uint64]bool{}
		for _, l := range world.All[lot](w) {
			m[l.Number] = true
		}
		return m
	}
	drawn := numbers(w)
	other := begin(world.Settings{Seed: 5, Secret: 78})
	client := begin(world.Settings{Seed: 5, Secret: 77, Partial: true})
	for _, o := range []*world.World{other, client} {
		drawLots(t, o, 40)
		for n := range numbers(o) {
			if drawn[n] {
				t.Error("a number that was drawn with the secret")
			}
		}
	}
	if n := testing.AllocsPerRun(100, func() { drawLots(t, w, 1) }); n > 0 {
		t.Errorf("%v allocations a tick", n)
	}
}

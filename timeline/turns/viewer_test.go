package turns

import (
	"testing"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/world"
)

// A bell rings by command.
type (
	bell struct{ N int }
	pull struct{ On bool }
	ring struct{ N int }
)

func (b *bell) Sync(s *bits.Sync) { s.Int(&b.N, 0, 999) }
func (p *pull) Sync(s *bits.Sync) { s.Bool(&p.On) }
func (r *ring) Sync(s *bits.Sync) { s.Int(&r.N, 0, 999) }

func (b *bell) Step(w *world.World, me world.ID) {
	if c := world.Command[pull](w, me); c.On {
		b.N++
		world.Emit(w, me, ring{b.N})
	}
}

var bells = world.Define("bells", world.Class[bell](), world.Commands[pull](),
	world.Event[ring](world.EventOptions{}), world.OnJoin(func(w *world.World, p world.Player) {
		w.SetOwner(world.Spawn(w, bell{}), p)
	}))

// ropes are what two players pull. Of the second one nothing is known after a tick.
type ropes struct {
	pulls [2]map[world.Tick]bool
	known world.Tick
}

func (r *ropes) Turn(t world.Tick, in *world.Inputs) bool {
	for i := range r.pulls {
		p := world.Player(i + 1)
		if t == 1 {
			in.Join(p)
		}
		on := r.pulls[i][t] && (i == 0 || t <= r.known)
		_ = world.Give(in, p, pull{on})
	}
	return t <= r.known
}

// TestViewerShowsOnce: events of ticks that are computed again are shown once, those that are found
// then are shown as well, and nothing is lost between two frames.
func TestViewerShowsOnce(t *testing.T) {
	w, err := bells.New(world.Settings{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	r := &ropes{pulls: [2]map[world.Tick]bool{{5: true, 9: true, 300: true}, {6: true}}, known: 4}
	var v Viewer
	again := 0
	c, err := NewCopy(w, r, Options{Depth: 30,
		After: func(w *world.World, _ *world.Inputs, a bool) {
			v.After(w)
			if a {
				again++
			}
		}})
	if err != nil {
		t.Fatal(err)
	}
	var shown []world.Tick
	look := func() {
		l := v.Look(c.World())
		if l.Hash() != c.World().Hash() {
			t.Error("what is shown is another world")
		}
		for e := range world.Events[ring](l) {
			shown = append(shown, e.Tick)
		}
	}
	advance := func(to world.Tick) {
		for c.Shown() < to {
			if went, err := c.Advance(); err != nil || !went {
				t.Fatal(went, err)
			}
			if c.Shown()%3 == 0 {
				look()
			}
		}
	}
	advance(12)
	r.known = 400
	c.Learn(5)
	if err := c.Repair(); err != nil {
		t.Fatal(err)
	}
	if again == 0 {
		t.Fatal("nothing was computed again")
	}
	look()
	advance(301)
	look()
	want := []world.Tick{5, 9, 6, 300}
	if len(shown) != len(want) {
		t.Fatalf("shown are %v, want %v", shown, want)
	}
	for i := range want {
		if shown[i] != want[i] {
			t.Fatalf("shown are %v, want %v", shown, want)
		}
	}
	if len(v.seen) > 1 {
		t.Errorf("%d events are remembered", len(v.seen))
	}
}

package world_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/world"
)

// A fuse burns down and then panics, or does so in a hook.
type fuse struct{ Left int }

func (f *fuse) Sync(s *bits.Sync) { s.Int(&f.Left, -1, 100) }

var errBoom = errors.New("boom")

func (f *fuse) Step(w *world.World, me world.ID) {
	if f.Left--; f.Left == 0 {
		f.explode()
	}
}

//go:noinline
func (f *fuse) explode() { panic(errBoom) }

var fuses = world.Define("fuses", world.Class[fuse](), world.OnStart(func(w *world.World) {
	world.Spawn(w, fuse{Left: 50})
	world.Spawn(w, fuse{Left: 3})
}), world.OnJoin(func(w *world.World, p world.Player) {
	if p == 2 {
		var none []int
		none[p]++
	}
}))

func TestTryStepSaysWhere(t *testing.T) {
	w, err := fuses.New(world.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := w.Host().TryStep(nil); err != nil {
			t.Fatal(err)
		}
	}
	err = w.Host().TryStep(nil)
	var p *world.Panic
	if !errors.As(err, &p) || !errors.Is(err, errBoom) {
		t.Fatalf("it says %v", err)
	}
	if p.Tick != 3 || p.Class != "fuse" || p.Entity.Index() != 1 {
		t.Errorf("at tick %d in %q %v", p.Tick, p.Class, p.Entity)
	}
	if len(p.Frames) != 2 || !strings.Contains(p.Frames[0], "explode") ||
		!strings.Contains(p.Frames[1], "Step (panic_test.go:") {
		t.Errorf("frames:\n%s", strings.Join(p.Frames, "\n"))
	}
	if text := err.Error(); !strings.Contains(text, "tick 3, in fuse") ||
		!strings.Contains(text, "boom\n\tat ") {
		t.Errorf("it reads %q", text)
	}
}

func TestTryNew(t *testing.T) {
	g := world.Define("never", world.Class[fuse](),
		world.OnStart(func(*world.World) { panic(errBoom) }))
	w, err := g.TryNew(world.Settings{})
	var p *world.Panic
	if !errors.As(err, &p) || w != nil || p.Tick != 0 || len(p.Frames) != 1 ||
		!strings.Contains(p.Frames[0], "panic_test.go:") {
		t.Errorf("it says %v", err)
	}
	if w, err := fuses.TryNew(world.Settings{}); err != nil || w.Tick() != 0 {
		t.Errorf("a world that can be made: %v", err)
	}
}

func TestTryStepOfAHook(t *testing.T) {
	w, err := fuses.New(world.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	in := fuses.NewInputs()
	in.Join(2)
	var p *world.Panic
	if err := w.Host().TryStep(in); !errors.As(err, &p) || p.Entity != world.None ||
		p.Class != "" || !strings.Contains(p.Error(), "index out of range") {
		t.Fatalf("it says %v", err)
	}
	if len(p.Frames) != 1 || !strings.Contains(p.Frames[0], "panic_test.go:") {
		t.Errorf("frames:\n%s", strings.Join(p.Frames, "\n"))
	}
}

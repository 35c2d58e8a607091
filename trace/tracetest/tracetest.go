package tracetest

import (
	"os"
	"testing"

	"github.com/coeval-dev/coeval/trace"
	"github.com/coeval-dev/coeval/world"
)

// Repeats asserts that the game computes a recording again, tick by tick, to the hashes that stand
// in it. If it does not, the test says at which tick they first differ.
func Repeats(t testing.TB, g *world.Game, file string) {
	t.Helper()
	repeat(t, g, file)
}

// Holds asserts that at the end of a recording, computed from its inputs, an entity has a value in
// a field: one of world.Host.Fields, as it is written there. The rules may have changed since; a
// clip of a fault is expected to come to something else once that is mended.
func Holds(t testing.TB, g *world.Game, file string, id world.ID, field, value string) {
	t.Helper()
	w := end(t, g, file)
	if w == nil {
		return
	}
	v, err := w.Host().Field(id, field)
	if err != nil {
		t.Errorf("%s: at tick %d: %v", file, w.Tick(), err)
	} else if v.String() != value {
		t.Errorf("%s: at tick %d, %v has %s = %s; it should be %s", file, w.Tick(), id, field, v,
			value)
	}
}

func open(t testing.TB, file string) (*os.File, *trace.Reader) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() }) // it was only read
	r, err := trace.Open(f)
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return f, r
}

func repeat(t testing.TB, g *world.Game, file string) {
	t.Helper()
	_, r := open(t, file)
	res, err := trace.Replay(g, r, trace.ReplayOptions{})
	switch {
	case err != nil:
		t.Errorf("%s: %v", file, err)
	case res.Damage != nil:
		t.Errorf("%s: %v", file, res.Damage)
	case res.Panic != nil:
		t.Errorf("%s: %v", file, res.Panic)
	case res.Mismatch != nil:
		t.Errorf("%s: the game does not compute what was recorded: %v", file, res.Mismatch)
	}
}

// end is the world at the end of a recording, as it is computed here.
func end(t testing.TB, g *world.Game, file string) (last *world.World) {
	t.Helper()
	_, r := open(t, file)
	res, err := trace.Replay(g, r, trace.ReplayOptions{GoOn: true,
		Each: func(w *world.World, _ *trace.Record) error { last = w; return nil }})
	switch {
	case err != nil:
		t.Errorf("%s: %v", file, err)
	case res.Damage != nil:
		t.Errorf("%s: %v", file, res.Damage)
	case res.Panic != nil:
		t.Errorf("%s: %v", file, res.Panic)
	default:
		return last
	}
	return nil
}

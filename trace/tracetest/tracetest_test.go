package tracetest_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/trace"
	"github.com/coeval-dev/coeval/trace/tracetest"
	"github.com/coeval-dev/coeval/world"
)

type counter struct{ N int }

var by = 1

func (c *counter) Sync(s *bits.Sync)               { s.Int(&c.N, 0, 10000) }
func (c *counter) Step(_ *world.World, _ world.ID) { c.N += by }
func start(w *world.World)                         { world.Spawn(w, counter{}) }

var game = world.Define("counters", world.Class[counter](), world.OnStart(start))

// record counts for a while.
func record(t testing.TB, ticks int) (file string, id world.ID) {
	t.Helper()
	w, err := game.New(world.Settings{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	tw, err := trace.NewWriter(&out, w, trace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	in := game.NewInputs()
	for range ticks {
		if err := w.Host().Step(in); err != nil {
			t.Fatal(err)
		}
		if err := tw.Tick(in, w); err != nil {
			t.Fatal(err)
		}
	}
	if err := tw.Close(); err != nil {
		t.Fatal(err)
	}
	for i := range w.Entities() {
		id = i
	}
	file = filepath.Join(t.TempDir(), "clip.trace")
	if err := os.WriteFile(file, out.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return file, id
}

// A listener is a test that remembers how it failed.
type listener struct {
	testing.TB
	said []string
}

func (l *listener) Errorf(format string, args ...any) {
	l.said = append(l.said, fmt.Sprintf(format, args...))
}
func (l *listener) Helper() {}

func TestAssertions(t *testing.T) {
	file, id := record(t, 50)
	tracetest.Repeats(t, game, file)
	tracetest.Holds(t, game, file, id, "N", "50")

	l := &listener{TB: t}
	tracetest.Holds(l, game, file, id, "N", "51")
	tracetest.Holds(l, game, file, id, "M", "51")
	by = 2
	defer func() { by = 1 }()
	tracetest.Repeats(l, game, file)
	tracetest.Holds(l, game, file, id, "N", "100") // as the rules are now
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	cut := filepath.Join(t.TempDir(), "cut.trace")
	if err := os.WriteFile(cut, data[:len(data)-9], 0o600); err != nil {
		t.Fatal(err)
	}
	by = 1
	tracetest.Repeats(l, game, cut)
	for i, want := range []string{"should be 51", "has no field M", "does not compute", "cut"} {
		if i >= len(l.said) || !strings.Contains(l.said[i], want) {
			t.Errorf("%d: %q, in place of %q", i, l.said, want)
		}
	}
	if len(l.said) != 4 {
		t.Errorf("%q", l.said)
	}
}

func Example() {
	// In a test of yours, with the file that the page has saved:
	test := func(t *testing.T) {
		tracetest.Repeats(t, game, "testdata/counters-120-300.trace")
	}
	fmt.Println(test != nil)
	// Output: true
}

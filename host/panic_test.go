package host

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/world"
)

// A fuse is a game that panics after a while.
type fuse struct{ Left int }

func (f *fuse) Sync(s *bits.Sync) { s.Int(&f.Left, 0, 999) }
func (f *fuse) Step(w *world.World, me world.ID) {
	if f.Left--; f.Left == 0 {
		panic("the fuse has burnt down")
	}
}

func fuses() *game.Title {
	return &game.Title{
		Game: world.Define("fuse", world.Class[fuse](), world.OnStart(func(w *world.World) {
			world.Spawn(w, fuse{Left: 20})
		}))}
}

// TestServeSaysWhereTheGamePanicked: the server says where, writes a trace that panics there again,
// and ends or goes on as told.
func TestServeSaysWhereTheGamePanicked(t *testing.T) {
	t.Parallel() // it mostly waits
	for _, x := range []struct {
		args   string
		traces []string
	}{
		{"--on-panic end", []string{"fuse-panic-20.trace"}},
		// One that panics again and again ends after all.
		{"--on-panic restart",
			[]string{"fuse-panic-20-2.trace", "fuse-panic-20-3.trace", "fuse-panic-20-4.trace",
				"fuse-panic-20.trace"}},
		{"--panic-trace none", nil},
	} {
		t.Run(x.args, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "traces")
			p := Program{Titles: []*game.Title{fuses()}}
			record := filepath.Join(t.TempDir(), "match.trace")
			args := append([]string{"serve", "--listen", "127.0.0.1:0", "--panic-trace", dir,
				"--record", record}, strings.Fields(x.args)...)
			code, _, stderr := tryProgram(p, args...)
			if code != cli.ExitFailure || !strings.Contains(stderr, "tanks serve: ") ||
				!strings.Contains(stderr, "the fuse has burnt down") ||
				!strings.Contains(stderr, "panic_test.go:") ||
				!strings.Contains(stderr, "game panicked") {
				t.Errorf("exit code %d: %s", code, stderr)
			}
			var names []string
			list, _ := os.ReadDir(dir)
			for _, f := range list {
				names = append(names, f.Name())
			}
			if strings.Join(names, " ") != strings.Join(x.traces, " ") {
				t.Errorf("traces %v, want %v", names, x.traces)
			}
			for _, name := range append(names, record) {
				if !filepath.IsAbs(name) {
					name = filepath.Join(dir, name)
				}
				code, stdout, stderr := tryProgram(p, "trace", "replay", name)
				if code != cli.ExitFailure || !strings.Contains(stdout, "all agree") ||
					!strings.Contains(stderr, "panic_test.go:") {
					t.Errorf("%s: exit code %d: %s%s", name, code, stdout, stderr)
				}
			}
		})
	}
	code, _, stderr := tryProgram(Program{Titles: []*game.Title{fuses()}}, "serve", "--on-panic",
		"shrug")
	if code != cli.ExitUsage || !strings.Contains(stderr, "it must be end or restart") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
	if err := Serve(context.Background(), fuses(),
		ServeOptions{Listen: "127.0.0.1:0"}); err == nil ||
		!strings.Contains(err.Error(), "the fuse has burnt down") {
		t.Errorf("%v", err)
	}
}

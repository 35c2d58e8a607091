package traces

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/coeval-dev/coeval/games/pong"
	"github.com/coeval-dev/coeval/games/stack"
	"github.com/coeval-dev/coeval/host/internal/hosttest"
	"github.com/coeval-dev/coeval/trace"
	"github.com/coeval-dev/coeval/world"
)

// TestReplayEverywhere repeats matches on every platform there is, and compares the hash of each
// tick with what was recorded here.
func TestReplayEverywhere(t *testing.T) {
	t.Parallel()
	ticks := 120
	if hosttest.Soak() {
		ticks = 600
	}
	type match struct{ game, file, want string }
	var matches []match
	for _, g := range []*world.Game{stack.Game, pong.Game} {
		var want strings.Builder
		data, _ := recordGame(t, g, ticks, trace.Options{StateEvery: 100}, nil)
		r, err := trace.Open(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		res, err := trace.Replay(g, r,
			trace.ReplayOptions{Each: func(w *world.World, _ *trace.Record) error {
				fmt.Fprintf(&want, "%d %016x\n", w.Tick(), w.Hash())
				return nil
			}})
		if err != nil || res.Mismatch != nil || int(res.Last) != ticks {
			t.Fatalf("%+v %v", res, err)
		}
		matches = append(matches, match{g.Name(), save(t, data)[0], want.String()})
	}
	for _, p := range hosttest.Platforms() {
		t.Run(p.Name, func(t *testing.T) {
			t.Parallel()
			command := p.Run(t)
			program := filepath.Join(t.TempDir(), "replayhash")
			build := exec.Command("go", "build", "-o", program,
				"../../../cmd/coeval/internal/replayhash")
			build.Env = append(append(os.Environ(), "CGO_ENABLED=0"), p.Env...)
			if msg, err := build.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, msg)
			}
			for _, m := range matches {
				args := append(append(command[:len(command):len(command)], program), m.file)
				var stderr bytes.Buffer
				cmd := exec.Command(args[0], args[1:]...)
				cmd.Stderr = &stderr
				got, err := cmd.Output()
				if err != nil {
					t.Errorf("%s: %v\n%s", m.game, err, &stderr)
				}
				a, b := strings.Split(string(got), "\n"), strings.Split(m.want, "\n")
				for i := range b {
					if i >= len(a) || a[i] != b[i] {
						t.Errorf("%s: %q, and here %q", m.game,
							strings.Join(a[min(i, len(a)):min(i+1, len(a))], ""), b[i])
						break
					}
				}
			}
		})
	}
}

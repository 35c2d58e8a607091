package host

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/topology/architecture"
)

// TestArchitectures: a server of each architecture tells its clients what they need, and plays with
// a player and bots; what it records is repeated.
func TestArchitectures(t *testing.T) {
	t.Parallel() // it mostly waits
	for _, k := range architecture.All() {
		t.Run(k.Name, func(t *testing.T) {
			t.Parallel()
			record := filepath.Join(t.TempDir(), "match.trace")
			s := serveIn(t, "arena", "--architecture", k.Name, "--record", record)
			j := joinWith(t, s.HTTP, "--seconds", "0.5")
			if j.Style != k.Style.String() || j.Snapshots == 0 || j.Commands == 0 {
				t.Errorf("%+v", j)
			}
			if j := joinWith(t, s.HTTP, "--seconds", "0.2", "--style", "none"); j.Style != "none" {
				t.Errorf("the player's choice does not count: %+v", j)
			}
			if b := botsAt(t, s.HTTP, 2, 20); b.Played != 2 || b.Bad != 0 {
				t.Errorf("%+v", b)
			}
			if code := s.stop(); code != cli.ExitOK {
				t.Errorf("exit code %d: %v", code, s.lines())
			}
			ok(t, "trace", "replay", record)
		})
	}
	for _, x := range [][2]string{
		{"--architecture hexen", "unknown architecture"},
		{"--architecture quake --take each", "leave out --strategy and --take"},
		{"--original", "goes with --architecture"},
		{"--take never", "tick, newest and each"},
	} {
		code, _, stderr := try(append([]string{"serve", "arena", "--listen", "127.0.0.1:0"},
			strings.Fields(x[0])...)...)
		if code != cli.ExitUsage || !strings.Contains(stderr, x[1]) {
			t.Errorf("%s: exit code %d: %s", x[0], code, stderr)
		}
	}
}

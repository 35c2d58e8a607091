package tools_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/coeval-dev/coeval/host/tools/internal/toolstest"
)

// TestEveryTitleUnderEveryTool plays every bundled title under every measurement, as small as it
// can be. What a title must say for that and does not is told.
func TestEveryTitleUnderEveryTool(t *testing.T) {
	const noBody = "title stack has no body"
	for _, title := range toolstest.Bundled().Titles {
		name := title.Name()
		for _, x := range []struct {
			args string
			want string // in what is printed
			slow bool   // so only pong does
		}{
			{"bench feel --players 2 --time 1s --warm 1s --game " + name,
				"own corrections a minute", false},
			{"lab bandwidth --quick --clients 1,2 --bytes-only --game " + name,
				"a client's commands to its server", false},
			{"lab mirrors --minutes 0.02 --alone --players 1 --mirrors 2 --game " + name, "settled",
				true},
			{"codec play " + name + " --players 2 --seconds 1 --out " + filepath.Join(t.TempDir(),
				"game.tables"), " bytes for ", false},
		} {
			if x.slow && (name != "pong" || testing.Short()) {
				continue
			}
			t.Run(strings.Join(strings.Fields(x.args)[:2], " ")+" "+name, func(t *testing.T) {
				code, stdout, stderr := toolstest.Try(strings.Fields(x.args)...)
				want, wantCode := x.want, toolstest.ExitOK
				if _, _, embodied := title.Body(); !embodied &&
					!strings.HasPrefix(x.args, "codec") {
					want, wantCode = noBody, toolstest.ExitFailure
					if code == toolstest.ExitUsage {
						wantCode = toolstest.ExitUsage
					}
				}
				if code != wantCode || !strings.Contains(stdout+stderr, want) {
					t.Errorf("exit code %d, want %d with %q:\n%s%s", code, wantCode, want, stdout,
						stderr)
				}
			})
		}
		if name == "crowd" {
			continue // TestBenchServer measures it
		}
		t.Run("bench server "+name, func(t *testing.T) {
			if testing.Short() {
				t.Skip("it starts processes")
			}
			t.Parallel()
			out := toolstest.Measured(t, "bench", "server", "--players", "2", "--seconds", "0.5",
				"--pace", "0.3", "--game", name, "--json")
			if !strings.Contains(string(out), `"players":2`) {
				t.Errorf("%s", out)
			}
		})
	}
}

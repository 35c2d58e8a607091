package bench_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/coeval-dev/coeval/host/tools/internal/toolstest"
	"github.com/coeval-dev/coeval/lab/feellab"
)

func TestBenchFeel(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes its time")
	}
	bench := func(args ...string) (int, string, string) {
		return toolstest.Try(append([]string{"bench", "feel"}, args...)...)
	}
	code, stdout,
		stderr := bench("--preset", "cable", "--players", "3", "--time", "2s", "--warm", "3s",
		"--map", "duel", "--json")
	if code != 0 {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	dec := json.NewDecoder(strings.NewReader(stdout))
	for _, style := range []string{"doom3", "quake3", "halflife"} {
		var r feellab.Result
		if err := dec.Decode(&r); err != nil || r.Style != style || r.Players != 3 ||
			r.Own.N == 0 || r.InputTicks != 0 {
			t.Errorf("%+v, %v", r, err)
		}
	}
	if code, stdout,
		_ := bench("--preset", "lan loss=1%", "--players", "2", "--time", "1s", "--warm", "2s",
		"--map", "duel", "--style", "doom3"); code != 0 ||
		!strings.Contains(stdout, "2 players over lan loss=1%") {
		t.Errorf("exit %d: %q", code, stdout)
	}
	for _, wrong := range [][]string{
		{"--style", "quake2"}, {"--preset", "pigeon"}, {"--players", "1"}, {"--map", "moon"}} {
		if code, _, stderr := bench(wrong...); code != toolstest.ExitUsage ||
			!strings.Contains(stderr, wrong[0]) {
			t.Errorf("%v: exit %d: %q", wrong, code, stderr)
		}
	}
}

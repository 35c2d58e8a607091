package bench_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/coeval-dev/coeval/host/tools/internal/toolstest"
)

func TestBenchServerRefusesNonsense(t *testing.T) {
	for args, want := range map[string]string{
		"--players 0":       "--players is 0",
		"--players -4":      "--players is -4",
		"--players 1000000": "choose 1 to",
		"--snapshots 0":     "--snapshots is 0",
		"--snapshots 61":    "snapshots is 61",
		"--seconds 0":       "--seconds is 0",
		"--seconds NaN":     "NaN is no time",
		"--seconds 0.001":   "--seconds is 0.001",
		"--procs 0":         "--procs has 0",
		"--strategy quake4": `"quake4"`,
		"--players many":    "invalid argument",
		"surplus":           "unknown command",
	} {
		code, stdout,
			stderr := toolstest.Try(append([]string{"bench", "server"}, strings.Fields(args)...)...)
		if code != toolstest.ExitUsage || stdout != "" || !strings.Contains(stderr, want) {
			t.Errorf("%s: exit code %d, %q, %q", args, code, stdout, stderr)
		}
	}
}

// The program starts itself twice more, and the crowd is there.
func TestBenchServer(t *testing.T) {
	if testing.Short() {
		t.Skip("a server and its bots take their time")
	}
	t.Parallel()
	out := toolstest.Measured(t, "bench", "server", "--players", "8", "--seconds", "0.6", "--json")
	var r struct {
		Strategy string
		Players  int
		Tick     float64 `json:"ms_per_tick"`
		Others   float64 `json:"others_in_view"`
		Bad      uint64
		Inside   map[string]float64 `json:"snapshots_by_purpose"`
	}
	if err := json.Unmarshal(out, &r); err != nil {
		t.Fatal(err)
	}
	if r.Strategy != "coeval" || r.Players != 8 || !(r.Tick > 0) ||
		!(r.Others > 5 && r.Others <= 7) || r.Bad != 0 || !(r.Inside["Avatar"] > 0) {
		t.Errorf("%+v\n%s", r, out)
	}
	text := toolstest.Measured(t, "bench", "server", "--players", "3", "--seconds", "0.5")
	for _, want := range []string{
		"60 ticks a second, 20 snapshots", "strategy", "encode", "others",
		"of snapshots and their messages: ", "Avatar "} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

package bench_test

import (
	"encoding/json"
	"net"
	"strings"
	"testing"

	"github.com/coeval-dev/coeval/host/tools/internal/toolstest"
)

func TestBenchTransportRefusesNonsense(t *testing.T) {
	for args, want := range map[string]string{
		"--clients 0":               "--clients is 0",
		"--clients -4":              "--clients is -4",
		"--clients 1000000":         "choose 1 to",
		"--rate 0":                  "--rate is 0",
		"--rate 1000000":            "--rate is 1000000",
		"--size 1":                  "--size is 1",
		"--seconds 0":               "--seconds is 0",
		"--seconds NaN":             "NaN is no time",
		"--seconds 0.001":           "--seconds is 0.001",
		"--rounds 0":                "--rounds is 0",
		"--kind newest":             `--kind: there is no "newest"`,
		"--listen 203.0.113.1:4000": "loopback",
		"--clients many":            "invalid argument",
		"surplus":                   "unknown command",
	} {
		code, stdout,
			stderr := toolstest.Try(append([]string{"bench", "transport"},
			strings.Fields(args)...)...)
		if code != toolstest.ExitUsage || stdout != "" || !strings.Contains(stderr, want) {
			t.Errorf("%s: exit code %d, %q, %q", args, code, stdout, stderr)
		}
	}
}

// The program starts itself twice more, and says so when that does not work out.
func TestBenchTransport(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes its time")
	}
	t.Parallel()
	out := toolstest.Measured(t, "bench", "transport", "--clients", "8", "--rate", "50",
		"--seconds", "0.2", "--rounds", "1", "--json")
	var names []string
	for line := range strings.Lines(string(out)) {
		var r struct {
			Kind       string
			PerMessage float64 `json:"us_per_message"`
			Delivered  uint64
		}
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		names = append(names, r.Kind)
		if r.PerMessage <= 0 || r.Delivered == 0 {
			t.Errorf("measured nothing: %s", line)
		}
	}
	if strings.Join(names, " ") != "unreliable reliable" {
		t.Errorf("kinds are %q", names)
	}

	taken, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	cmd := toolstest.Process(t, "bench", "transport", "--listen", taken.LocalAddr().String())
	var said strings.Builder
	cmd.Stderr = &said
	if cmd.Run() == nil || cmd.ProcessState.ExitCode() != toolstest.ExitFailure ||
		!strings.Contains(said.String(), "choose another port") {
		t.Errorf("%v: %s", cmd.ProcessState, said.String())
	}
}

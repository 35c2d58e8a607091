package tools

import (
	"encoding/json"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
)

func TestBenchTransportRefusesNonsense(t *testing.T) {
	for args, want := range map[string]string{
		"--clients 0":               "--clients is 0",
		"--clients -4":              "-4 clients",
		"--clients 1000000":         "there can be 1 to",
		"--rate 0":                  "--rate is 0",
		"--rate 1000000":            "a rate of 1000000",
		"--size 1":                  "messages of 1 bytes",
		"--seconds 0":               "--seconds is 0",
		"--seconds NaN":             "--seconds is NaN",
		"--seconds 0.001":           "measuring for 1ms",
		"--rounds 0":                "--rounds is 0",
		"--kind newest":             `called "newest"`,
		"--listen 203.0.113.1:4000": "loopback",
		"--clients many":            "invalid argument",
		"surplus":                   "unknown command",
	} {
		code, stdout, stderr := try(append([]string{"bench", "transport"}, strings.Fields(args)...)...)
		if code != exitUsage || stdout != "" || !strings.Contains(stderr, want) {
			t.Errorf("%s: exit code %d, %q, %q", args, code, stdout, stderr)
		}
	}
}

// transportProgram is the program as a process, since the measurement starts it again.
func transportProgram(t *testing.T, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(t.Context(), os.Args[0], args...)
	cmd.Env = append(os.Environ(), "COEVAL_TEST_AS_PROGRAM=1")
	return cmd
}

// The program starts itself twice more, and says so when that does not work out.
func TestBenchTransport(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes its time")
	}
	t.Parallel()
	out, err := transportProgram(t, "bench", "transport", "--clients", "8", "--rate", "50", "--seconds", "0.2", "--rounds", "1", "--json").Output()
	if err != nil {
		t.Fatal(err)
	}
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
	cmd := transportProgram(t, "bench", "transport", "--listen", taken.LocalAddr().String())
	var said strings.Builder
	cmd.Stderr = &said
	if cmd.Run() == nil || cmd.ProcessState.ExitCode() != exitFailure || !strings.Contains(said.String(), "choose another port") {
		t.Errorf("%v: %s", cmd.ProcessState, said.String())
	}
}

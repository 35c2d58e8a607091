package lab_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/coeval-dev/coeval/host/tools/internal/toolstest"
	"github.com/coeval-dev/coeval/lab/peerlab"
)

func tryPeers(args ...string) (code int, stdout, stderr string) {
	return toolstest.Try(append([]string{"lab", "peers"}, args...)...)
}

func TestLabPeers(t *testing.T) {
	t.Setenv("COLUMNS", "250") // so that nothing is wrapped
	plot := filepath.Join(t.TempDir(), "peers.svg")
	args := []string{"--game", "pong", "--time", "2s", "--warm", "1s", "--seed", "7"}
	code, stdout, stderr := tryPeers(append(args, "--plot", plot)...)
	if code != toolstest.ExitOK {
		t.Fatalf("code %d: %s", code, stderr)
	}
	for _, s := range []string{
		"pong, 2 players at 60 ticks a second, 60 packets a second to each other; path " +
			"latency=40ms", "rollback", "lockstep", "commit", "doom", "Own input, from when",
		"ticks/s", "rollbacks/s", "datagrams/s", "IP and UDP", "different",
		"What should be reached"} {
		if !strings.Contains(stdout, s) {
			t.Errorf("nothing says %q:\n%s", s, stdout)
		}
	}
	if svg, err := os.ReadFile(plot); err != nil || !bytes.HasPrefix(svg, []byte("<svg ")) {
		t.Errorf("%v: %.40q", err, svg)
	}
	code, stdout, stderr = tryPeers(append(args, "--json", "--style", "rollback", "--preset",
		"latency=20ms", "--delay", "0", "--players", "3")...)
	var r peerlab.Result
	if err := json.Unmarshal([]byte(stdout), &r); code != toolstest.ExitOK || err != nil ||
		r.Players != 3 || len(r.Rows) != 1 || r.Rows[0].OwnTicks != 0 || r.Forced == nil {
		t.Errorf("code %d, %v, %s: %s", code, err, stderr, stdout)
	}
	code, stdout, stderr = tryPeers(append(args, "--relay", "--style", "rollback")...)
	for _, s := range []string{"60 packets a second to a relay and from it; path latency=20ms",
		"What one peer sends the relay", "At the relay", "rows", "commands"} {
		if !strings.Contains(stdout, s) || code != toolstest.ExitOK {
			t.Errorf("code %d, nothing says %q: %s:\n%s", code, s, stderr, stdout)
		}
	}
	args[1] = "arena" // whose commands take more
	if code, _, stderr := tryPeers(append(args, "--strict", "--style", "lockstep", "--preset",
		"latency=20ms loss=20%")...); code != toolstest.ExitFailure ||
		!strings.Contains(stderr, "bytes a second on the line with the most") {
		t.Errorf("code %d: %s", code, stderr)
	}
}

func TestLabPeersUsage(t *testing.T) {
	for _, x := range []struct {
		says string
		args []string
	}{
		{"--players is 1: choose 2 to 8", []string{"--players", "1"}},
		{`delay is "soon": choose 0 to 30 ticks, or auto`, []string{"--delay", "soon"}},
		{`there is no "hope"`, []string{"--style", "hope"}},
		{`style "doom" is of a mesh`, []string{"--relay", "--style", "doom"}},
		{"--preset: ", []string{"--preset", "carrier-pigeon"}},
		{"--time is 0s", []string{"--time", "0s"}},
		{"must end in .svg", []string{"--plot", "x.png"}},
		{"nowhere", []string{"--map", "nowhere"}},
	} {
		if code, stdout, stderr := tryPeers(x.args...); code != toolstest.ExitUsage ||
			stdout != "" || !strings.Contains(stderr, x.says) {
			t.Errorf("%v: code %d, want %q: %s", x.args, code, x.says, stderr)
		}
	}
}

package lab_test

import (
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/host/tools/internal/toolstest"
	"github.com/coeval-dev/coeval/knob/settings"
	"github.com/coeval-dev/coeval/lab/listenlab"
	"github.com/coeval-dev/coeval/lab/tunnel"
)

// TestLabRun: a run is kept, the same figures come of it again, and reports are made of it.
func TestLabRun(t *testing.T) {
	t.Setenv("COLUMNS", "250")
	dir := t.TempDir()
	args := []string{"lab", "run", "--game", "pong", "--arch", "coeval,lockstep,halflife",
		"--network", "cable,perfect", "--players", "2", "--runs", "2", "--time", "1s", "--warm",
		"1s",
		"--dir", dir, "--json"}
	code, first, stderr := toolstest.Try(args...)
	var r tunnel.Result
	if err := json.Unmarshal([]byte(first), &r); code != toolstest.ExitOK || err != nil ||
		len(r.Cells) != 6 {
		t.Fatalf("code %d, %v, %d cells: %s", code, err, len(r.Cells), stderr)
	}
	if c := r.Cell("lockstep", "cable"); c == nil || len(c.Samples) != 2 ||
		c.Figures["own_ms"].Mean < 30 || c.Figures["off_others_max"].Mean != 0 {
		t.Errorf("lock step on cable: %+v", c)
	}
	if c := r.Cell("halflife", "cable"); c == nil || !strings.Contains(c.Refused, "rewound") {
		t.Errorf("pong has nothing to rewind: %+v", c)
	}
	// Processor times are kept with the rest, so a second run prints the very same.
	if code, again, stderr := toolstest.Try(args...); code != toolstest.ExitOK || again != first {
		t.Errorf("code %d, and another result: %s", code, stderr)
	}
	out := filepath.Join(dir, "out")
	html, md := filepath.Join(out, "r.html"), filepath.Join(out, "r.md")
	code, _, stderr = toolstest.Try("lab", "report", "--game", "pong", "--dir", dir, html, md,
		filepath.Join(out, "r.json"))
	if code != toolstest.ExitOK {
		t.Fatalf("code %d: %s", code, stderr)
	}
	for file, want := range map[string]string{html: "pong in the wind tunnel",
		md: "## What to choose"} {
		if b, err := os.ReadFile(file); err != nil || !strings.Contains(string(b), want) {
			t.Errorf("%s: %v, and not %q", file, err, want)
		}
	}
	if code, stdout, stderr := toolstest.Try("lab", "report", "--game", "pong", "--dir", dir,
		"--weight", "responsiveness=3"); code != toolstest.ExitOK ||
		!strings.Contains(stdout, "For pong with 2 players") {
		t.Errorf("code %d: %s%s", code, stdout, stderr)
	}
}

// TestLabSweep: what peers send grows with them.
func TestLabSweep(t *testing.T) {
	t.Setenv("COLUMNS", "250")
	plot := filepath.Join(t.TempDir(), "up.svg")
	code, stdout, stderr := toolstest.Try("lab", "sweep", "--game", "pong", "--arch", "lockstep",
		"--vary", "latency=5ms,40ms", "--axis", "own_ms", "--players", "2", "--time", "1s",
		"--warm", "1s", "--plot", plot, "--json")
	var r tunnel.SweepResult
	if err := json.Unmarshal([]byte(stdout), &r); code != toolstest.ExitOK || err != nil ||
		len(r.Curves) != 1 || r.Curves[0].Figures[1].Mean < r.Curves[0].Figures[0].Mean+50 {
		t.Errorf("code %d, %v: %s%s", code, err, stdout, stderr)
	}
	if b, err := os.ReadFile(plot); err != nil || !strings.HasPrefix(string(b), "<svg") {
		t.Errorf("%v: %.40q", err, b)
	}
}

// TestLabTune: settings are found, written, and played again.
func TestLabTune(t *testing.T) {
	t.Setenv("COLUMNS", "250")
	dir := t.TempDir()
	out := filepath.Join(dir, "settings.json")
	args := []string{"lab", "tune", "--game", "pong", "--arch", "quake3", "--network",
		"latency=30ms jitter=15ms", "--knobs", "interpolate,snapshots", "--players", "2",
		"--evaluations", "24", "--runs", "2", "--checks", "2", "--time", "1s", "--warm", "1s",
		"--weight", "bandwidth=0", "--limit", "client_down=20000", "--dir", dir, "--out", out}
	code, stdout, stderr := toolstest.Try(args...)
	for _, want := range []string{"pong as quake3", "What each knob does by itself",
		"seeds that were not searched", "coeval serve pong --architecture quake3"} {
		if code != toolstest.ExitOK || !strings.Contains(stdout, want) {
			t.Fatalf("code %d, and not %q: %s%s", code, want, stdout, stderr)
		}
	}
	b, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	f, err := settings.Parse(out, b)
	if err != nil || f.Game != "pong" || f.Architecture != "quake3" || f.Knobs["snapshots"] == "" {
		t.Fatalf("%v: %s", err, b)
	}
	code, stdout, stderr = toolstest.Try(append(args, "--json")...)
	var r tunnel.TuneResult
	if err := json.Unmarshal([]byte(stdout), &r); code != toolstest.ExitOK || err != nil ||
		r.Chosen["snapshots"] != f.Knobs["snapshots"] || len(r.Tried) < 3 || r.Held.Default.N != 2 {
		t.Errorf("code %d, %v: %s%s", code, err, stdout, stderr)
	}
	code, stdout, stderr = toolstest.Try("lab", "run", "--game", "pong", "--arch", "lockstep",
		"--settings", out, "--network", "cable", "--players", "2", "--runs", "1", "--time", "1s",
		"--warm", "1s", "--dir", dir)
	if code != toolstest.ExitOK || !strings.Contains(stdout, "quake3 with ") ||
		!strings.Contains(stdout, "snapshots="+f.Knobs["snapshots"]) {
		t.Errorf("code %d: %s%s", code, stdout, stderr)
	}
	for arch, want := range map[string]string{"rollback": "depth", "halflife": "game.reach"} {
		if code, stdout, _ := toolstest.Try("lab", "tune", "--game", "arena", "--arch", arch,
			"--list"); code != toolstest.ExitOK || !strings.Contains(stdout, want) {
			t.Errorf("code %d: %s", code, stdout)
		}
	}
}

// TestLabRunUsage: bad input is said plainly, and leaves nothing.
func TestLabRunUsage(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "none")
	other := filepath.Join(t.TempDir(), "other.json")
	if err := os.WriteFile(other, []byte(`{"version":99}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		code int
		says string
		args []string
	}{
		{toolstest.ExitUsage, `there is no "hope"`, []string{"run", "--arch", "hope"}},
		{toolstest.ExitUsage, "carrier-pigeon", []string{"run", "--network", "carrier-pigeon"}},
		{toolstest.ExitUsage, "no region", []string{"run", "--network", "cable@atlantis"}},
		{toolstest.ExitUsage, "--players is 0", []string{"run", "--players", "0"}},
		{toolstest.ExitUsage, "--runs is 0", []string{"run", "--runs", "0"}},
		{toolstest.ExitFailure, "not a trace", []string{"run", "--trace", other}},
		{toolstest.ExitUsage, "no such file", []string{"incident", "--trace", "none.trace"}},
		{toolstest.ExitFailure, "nothing is known of arena yet",
			[]string{"report", "--game", "arena", "--dir", dir}},
		{toolstest.ExitFailure, "version 99", []string{"report", "--from", other}},
		{toolstest.ExitUsage, "ends in .html, .md or .json", []string{"report", "r.pdf"}},
		{toolstest.ExitUsage, "there is no group", []string{"report", "--weight", "hope=1"}},
		{toolstest.ExitUsage, "write a group and a number",
			[]string{"report", "--weight", "bandwidth=much"}},
		{toolstest.ExitUsage, "there is no axis", []string{"sweep", "--axis", "hope"}},
		{toolstest.ExitUsage, `no architecture "hope"`,
			[]string{"incident", "--architecture", "hope"}},
		{toolstest.ExitUsage, `no architecture "hope"`, []string{"incident", "--arch", "hope"}},
		{toolstest.ExitUsage, "carrier-pigeon",
			[]string{"incident", "--network", "carrier-pigeon"}},
		{toolstest.ExitUsage, `there is no "hope"`, []string{"incident", "--kind", "hope"}},
		{toolstest.ExitUsage, "--count is 0", []string{"incident", "--count", "0"}},
		{toolstest.ExitUsage, "--around is 1h", []string{"incident", "--around", "1h"}},
		{toolstest.ExitUsage, "ends in .html", []string{"incident", "--out", "film.gif"}},
		{toolstest.ExitUsage, "give --open", []string{"incident", "--recorded", "3"}},
		{toolstest.ExitUsage, "rewound",
			[]string{"incident", "--game", "pong", "--architecture", "halflife"}},
		{toolstest.ExitUsage, "write a parameter and its values",
			[]string{"sweep", "--vary", "loss"}},
		{toolstest.ExitUsage, "64", []string{"sweep", "--vary", "players=900"}},
		{toolstest.ExitUsage, "is no knob of lockstep",
			[]string{"sweep", "--arch", "coeval,lockstep", "--vary", "snapshots=10"}},
		{toolstest.ExitUsage, "it must be 1 to 1000",
			[]string{"sweep", "--arch", "coeval", "--vary", "snapshots=0"}},
		{toolstest.ExitUsage, "version 99", []string{"run", "--settings", other}},
		{toolstest.ExitUsage, "there is no \"hope\"", []string{"tune", "--arch", "hope"}},
		{toolstest.ExitUsage, "one at a time", []string{"tune", "--arch", "coeval,quake3"}},
		{toolstest.ExitUsage, "has no knob", []string{"tune", "--knobs", "hope"}},
		{toolstest.ExitUsage, "there is no axis", []string{"tune", "--limit", "hope=3"}},
		{toolstest.ExitUsage, "there is no group", []string{"tune", "--weight", "hope=3"}},
		{toolstest.ExitUsage, "end in .json", []string{"tune", "--out", "settings.txt"}},
		{toolstest.ExitUsage, "and not both",
			[]string{"tune", "--minutes", "1", "--evaluations", "90"}},
		{toolstest.ExitUsage, "must be above 0", []string{"tune", "--minutes", "0"}},
		{toolstest.ExitUsage, "alone take", []string{"tune", "--evaluations", "3"}},
		{toolstest.ExitUsage, "nothing to set of solo",
			[]string{"tune", "--game", "pong", "--arch", "solo"}},
	} {
		code, stdout, stderr := toolstest.Try(append([]string{"lab"}, x.args...)...)
		if code != x.code || stdout != "" || !strings.Contains(stderr, x.says) {
			t.Errorf("%v: code %d, want %d and %q: %s", x.args, code, x.code, x.says, stderr)
		}
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("a folder was made")
	}
}

// TestLabListen: a network is captured between two ends of this machine, and played again.
func TestLabListen(t *testing.T) {
	if testing.Short() {
		t.Skip("probes go in real time")
	}
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	go func() { // the other end
		a, began, b := listenlab.NewAnswerer(), time.Now(), make([]byte, 2048)
		for {
			n, from, err := conn.ReadFrom(b)
			if err != nil {
				return
			}
			if out := a.Answer(time.Since(began), b[:n]); out != nil {
				_, _ = conn.WriteTo(out, from)
			}
		}
	}()
	out := filepath.Join(t.TempDir(), "here.net")
	code, stdout,
		stderr := toolstest.Try("lab", "listen", "--to", conn.LocalAddr().String(), "--time",
		"1s", "--rate", "100", "--out", out, "--json")
	if code != toolstest.ExitOK || !strings.Contains(stdout, `"probes":100`) {
		t.Fatalf("code %d: %s%s", code, stdout, stderr)
	}
	if _, err := tunnel.ParseField(out); err != nil {
		t.Error(err)
	}
	for _, x := range []struct {
		says string
		args []string
	}{
		{"give --answer at one end, and --to at the other", nil},
		{"ends in .net", []string{"--to", "127.0.0.1:9", "--out", "x.txt"}},
		{"--out is for the end that sends", []string{"--answer", ":0", "--out", "x.net"}},
	} {
		code, _, stderr := toolstest.Try(append([]string{"lab", "listen"}, x.args...)...)
		if code != toolstest.ExitUsage || !strings.Contains(stderr, x.says) {
			t.Errorf("%v: code %d: %s", x.args, code, stderr)
		}
	}
	bad := filepath.Join(t.TempDir(), "bad.net")
	if err := os.WriteFile(bad, []byte("up.latency=soon\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := toolstest.Try("lab", "run", "--network",
		bad); code != toolstest.ExitUsage ||
		!strings.Contains(stderr, "latency") {
		t.Errorf("code %d: %s", code, stderr)
	}
}

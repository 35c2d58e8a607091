package lab_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/coeval-dev/coeval/host/tools/internal/toolstest"
	"github.com/coeval-dev/coeval/lab/mirrorlab"
)

func tryMirrors(args ...string) (code int, stdout, stderr string) {
	return toolstest.Try(append([]string{"lab", "mirrors"}, args...)...)
}

func TestLabMirrors(t *testing.T) {
	t.Setenv("COLUMNS", "250") // so that nothing is wrapped
	if testing.Short() {
		t.Skip("it takes its time")
	}
	plot := filepath.Join(t.TempDir(), "mirrors.svg")
	args := []string{
		"--quick", "--mirrors", "2", "--players", "1", "--minutes", "0.03", "--map", "duel",
		"--seed", "7"}
	code, stdout, stderr := tryMirrors(append(args, "--plot", plot)...)
	if code != toolstest.ExitOK {
		t.Fatalf("code %d: %s", code, stderr)
	}
	for _, s := range []string{
		"2 mirrors, 1 players on each, timeline auto",
		"between mirrors latency=40ms jitter=uniform:5ms loss=0.001; to players latency=8ms",
		"Sight, ms. The path takes 42.5", "two ticks, 75.8",
		"for 1000", "taken back", "by the ledger", "b n (m-1)", "0 different",
		"What should be reached"} {
		if !strings.Contains(stdout, s) {
			t.Errorf("nothing says %q:\n%s", s, stdout)
		}
	}
	if svg, err := os.ReadFile(plot); err != nil || !bytes.HasPrefix(svg, []byte("<svg ")) {
		t.Errorf("%v: %.40q", err, svg)
	}
	code, stdout,
		stderr = tryMirrors(append(args, "--json", "--timeline", "trailing", "--delays",
		"0,150ms,1s", "--margin", "0.5")...)
	var r mirrorlab.Result
	if err := json.Unmarshal([]byte(stdout), &r); code != toolstest.ExitOK || err != nil ||
		r.Mirrors != 2 || r.Timeline != "trailing" || len(r.Each) != 2 || r.Settled.Compared == 0 ||
		len(r.Each[0].Delays) != 3 {
		t.Errorf("code %d, %v, %s: %s", code, err, stderr, stdout)
	}
	// Half a second between mirrors' snapshots cannot be within two ticks of the path.
	if code, _, stderr := tryMirrors(append(args, "--strict", "--snapshots",
		"2")...); code != toolstest.ExitFailure ||
		!strings.Contains(stderr, "sight at another mirror") {
		t.Errorf("code %d: %s", code, stderr)
	}
}

func TestLabMirrorsFault(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes its time")
	}
	code, stdout,
		stderr := tryMirrors("--fault", "join", "--times", "1", "--mirrors", "2", "--players", "2",
		"--map", "duel")
	if code != toolstest.ExitOK {
		t.Fatalf("code %d: %s", code, stderr)
	}
	for _, s := range []string{
		"Fault join, 1 times", "the mirror that joins serves", "Ticks missed by other mirrors"} {
		if !strings.Contains(stdout, s) {
			t.Errorf("nothing says %q:\n%s", s, stdout)
		}
	}
}

func TestLabMirrorsUsage(t *testing.T) {
	for _, x := range []struct {
		says string
		args []string
	}{
		{"--latency: latency: bad duration", []string{"--latency", "far"}},
		{"--jitter: jitter: unknown shape", []string{"--jitter", "odd:1ms"}},
		{"--loss: loss: bad probability", []string{"--loss", "200%"}},
		{"400ms apart at most", []string{"--latency", "2s"}},
		{"--near: ", []string{"--near", "carrier-pigeon"}},
		{`--delays has "soon"`, []string{"--delays", "0,soon"}},
		{`--fault: there is no fault "flood"; choose mirror, uber, join`,
			[]string{"--fault", "flood"}},
		{"--margin: timeline: the margin of Fighter.Pos is -1; give 0 or more",
			[]string{"--margin", "-1"}},
		{`--margin: "wide" is no margin`, []string{"--margin", "wide"}},
		{"no such class or event", []string{"--margin", "Ghost.Pos=1"}},
		{"event Fired is strict", []string{"--margin", "Fired.At=1"}},
		{"never further apart than", []string{"--margin", "Fighter.Pos=1e9"}},
		{`there is no repair "never"; choose one of at-once, trails, everything, places`,
			[]string{"--repair", "never"}},
		{"is for the kinds auto and trailing, not for timewarp",
			[]string{"--repair", "trails", "--timeline", "timewarp"}},
		{"--minutes is 0", []string{"--minutes", "0"}},
		{"must end in .svg", []string{"--plot", "x.png"}},
		{"--mirrors is 1: choose 2 to 16", []string{"--mirrors", "1"}},
		{`no timeline "hope"`, []string{"--timeline", "hope"}},
		{"nowhere", []string{"--map", "nowhere"}},
	} {
		if code, stdout, stderr := tryMirrors(x.args...); code != toolstest.ExitUsage ||
			stdout != "" || !strings.Contains(stderr, x.says) {
			t.Errorf("%v: code %d, want %q: %s", x.args, code, x.says, stderr)
		}
	}
}

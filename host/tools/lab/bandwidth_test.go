package lab_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/coeval-dev/coeval/host/tools/internal/toolstest"
	"github.com/coeval-dev/coeval/lab/bandwidthlab"
)

func tryBandwidth(args ...string) (code int, stdout, stderr string) {
	return toolstest.Try(append([]string{"lab", "bandwidth"}, args...)...)
}

func writeText(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestLabBandwidth(t *testing.T) {
	t.Setenv("COLUMNS", "250") // so that nothing is wrapped
	if testing.Short() {
		t.Skip("it takes its time")
	}
	plot := filepath.Join(t.TempDir(), "bandwidth.svg")
	pings := filepath.Join(t.TempDir(), "pings.csv")
	writeText(t, pings, "from,Here,There,Beyond\nHere,0,20,400\nThere,20,0,30\nBeyond,50,30,0\n")
	args := []string{"--quick", "--clients", "1,3", "--delays", pings, "--mirrors", "2"}
	code, stdout, stderr := tryBandwidth(append(args, "--plot", plot)...)
	if code != toolstest.ExitOK {
		t.Fatalf("code %d: %s", code, stderr)
	}
	for _, s := range []string{
		"18.", "10.60", "0.8682", "residual", "between mirrors", "distant server", "two clusters",
		"Here, Beyond", "far away",
		"warning: from Here to Beyond takes 200.0 ms one way, and over There only 25.0 ms"} {
		if !strings.Contains(stdout, s) {
			t.Errorf("nothing says %q:\n%s", s, stdout)
		}
	}
	if svg, err := os.ReadFile(plot); err != nil || !bytes.HasPrefix(svg, []byte("<svg ")) {
		t.Errorf("%v: %.40q", err, svg)
	}
	code, stdout, stderr = tryBandwidth(append(args, "--json", "--bytes-only")...)
	var r bandwidthlab.Result
	if err := json.Unmarshal([]byte(stdout), &r); code != toolstest.ExitOK || err != nil ||
		len(r.Served) != 2 || r.Served[1].Clients != 3 || len(r.Compared) != 6 ||
		len(r.Topologies) != 0 {
		t.Errorf("code %d, %v, %s: %s", code, err, stderr, stdout)
	}
	if _, again, _ := tryBandwidth(append(args, "--json", "--bytes-only")...); again != stdout {
		t.Error("a second run with the same seed went differently")
	}
}

func TestLabBandwidthMistakes(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		name = filepath.Join(dir, name)
		writeText(t, name, text)
		return name
	}
	for _, x := range []struct {
		code int
		says string
		args []string
	}{
		{toolstest.ExitUsage, "--clients has 65: choose 1 to 64", []string{"--clients", "1,65"}},
		{toolstest.ExitUsage, "--clients has 0", []string{"--clients", "0,2"}},
		{toolstest.ExitUsage, "two different numbers", []string{"--clients", "4"}},
		{toolstest.ExitUsage, "--per-mirror is 0", []string{"--per-mirror", "0"}},
		{toolstest.ExitUsage, "mirrors is 13: choose 1 to 12", []string{"--mirrors", "13"}},
		{toolstest.ExitUsage, `no city "Atlantis"; there are California`,
			[]string{"--cities", "London,Atlantis"}},
		{toolstest.ExitUsage, "name two at least", []string{"--cities", "London"}},
		{toolstest.ExitUsage, "must end in .svg", []string{"--plot", "x.bmp"}},
		{toolstest.ExitUsage, "nowhere", []string{"--map", "nowhere"}},
		{toolstest.ExitUsage, "the matrix is not square",
			[]string{"--delays", file("square.csv", "from,A,B\nA,0,1\n")}},
		{toolstest.ExitUsage, "nothing arrives before it is sent",
			[]string{"--delays", file("negative.csv", "from,A,B\nA,0,-1\nB,1,0\n")}},
		{toolstest.ExitFailure, "no such file",
			[]string{"--delays", filepath.Join(dir, "missing.csv")}},
	} {
		if code, stdout, stderr := tryBandwidth(x.args...); code != x.code || stdout != "" ||
			!strings.Contains(stderr, x.says) {
			t.Errorf("%v: code %d, want %d with %q: %s", x.args, code, x.code, x.says, stderr)
		}
	}
}

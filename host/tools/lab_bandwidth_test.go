package tools

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/coeval-dev/coeval/lab/bandwidthlab"
)

// tryBandwidth runs the command by itself.
func tryBandwidth(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, err bytes.Buffer
	code = run(t.Context(), append([]string{"bandwidth"}, args...), &out, &err, []*cobra.Command{labBandwidthCommand(bundled())})
	return code, out.String(), err.String()
}

func writeText(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestLabBandwidth(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes its time")
	}
	plot := filepath.Join(t.TempDir(), "bandwidth.svg")
	pings := filepath.Join(t.TempDir(), "pings.csv")
	writeText(t, pings, "from,Here,There,Beyond\nHere,0,20,400\nThere,20,0,30\nBeyond,50,30,0\n")
	args := []string{"--quick", "--clients", "1,3", "--delays", pings, "--mirrors", "2"}
	code, stdout, stderr := tryBandwidth(t, append(args, "--plot", plot)...)
	if code != exitOK {
		t.Fatalf("code %d: %s", code, stderr)
	}
	for _, s := range []string{"18.", "10.60", "0.8682", "by line", "between mirrors", "distant server", "two clusters", "Here, Beyond", "far away",
		"warning: from Here to Beyond takes 200.0 ms one way, and over There only 25.0 ms"} {
		if !strings.Contains(stdout, s) {
			t.Errorf("nothing says %q:\n%s", s, stdout)
		}
	}
	if svg, err := os.ReadFile(plot); err != nil || !bytes.HasPrefix(svg, []byte("<svg ")) {
		t.Errorf("%v: %.40q", err, svg)
	}
	code, stdout, stderr = tryBandwidth(t, append(args, "--json", "--bytes-only")...)
	var r bandwidthlab.Result
	if err := json.Unmarshal([]byte(stdout), &r); code != exitOK || err != nil || len(r.Served) != 2 || r.Served[1].Clients != 3 || len(r.Compared) != 6 || len(r.Topologies) != 0 {
		t.Errorf("code %d, %v, %s: %s", code, err, stderr, stdout)
	}
	if _, again, _ := tryBandwidth(t, append(args, "--json", "--bytes-only")...); again != stdout {
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
		{exitUsage, "--clients has 65: choose 1 to 64", []string{"--clients", "1,65"}},
		{exitUsage, "--clients has 0", []string{"--clients", "0,2"}},
		{exitUsage, "two different numbers", []string{"--clients", "4"}},
		{exitUsage, "--per-mirror is 0", []string{"--per-mirror", "0"}},
		{exitUsage, "--mirrors is 13: choose 1 to 12", []string{"--mirrors", "13"}},
		{exitUsage, `no city "Atlantis"; there are California`, []string{"--cities", "London,Atlantis"}},
		{exitUsage, "name two at least", []string{"--cities", "London"}},
		{exitUsage, "must end in .svg", []string{"--plot", "x.bmp"}},
		{exitUsage, "nowhere", []string{"--map", "nowhere"}},
		{exitUsage, "the matrix is not square", []string{"--delays", file("square.csv", "from,A,B\nA,0,1\n")}},
		{exitUsage, "nothing arrives before it is sent", []string{"--delays", file("negative.csv", "from,A,B\nA,0,-1\nB,1,0\n")}},
		{exitFailure, "no such file", []string{"--delays", filepath.Join(dir, "missing.csv")}},
	} {
		if code, stdout, stderr := tryBandwidth(t, x.args...); code != x.code || stdout != "" || !strings.Contains(stderr, x.says) {
			t.Errorf("%v: code %d, want %d with %q: %s", x.args, code, x.code, x.says, stderr)
		}
	}
}

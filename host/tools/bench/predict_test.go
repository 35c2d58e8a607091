package bench_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/coeval-dev/coeval/host/internal/hosttest"
	"github.com/coeval-dev/coeval/host/tools/internal/toolstest"
	"github.com/coeval-dev/coeval/lab/predictlab"
)

func TestBenchPredict(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes its time")
	}
	bench := func(args ...string) (int, string, string) {
		return toolstest.Try(append([]string{"bench", "predict"}, args...)...)
	}
	code, stdout, stderr := bench("--entities", "200", "--rounds", "2", "--json")
	var r predictlab.Result
	if err := json.Unmarshal([]byte(stdout), &r); code != 0 || err != nil || !r.Verified ||
		r.Entities != 200 {
		t.Errorf("exit %d, %q %q, %v", code, stdout, stderr, err)
	}
	if code, stdout, _ := bench("--entities", "100", "--rounds", "1"); code != 0 ||
		!strings.Contains(stdout, "verified: true") {
		t.Errorf("exit %d: %q", code, stdout)
	}
	if code, _, stderr := bench("--ticks", "99"); code != toolstest.ExitUsage ||
		!strings.Contains(stderr, "--ticks") {
		t.Errorf("exit %d: %q", code, stderr)
	}
}

// TestBenchPredictWasm runs the measurement in WebAssembly, where clients in browsers run: what is
// predicted again must come out right there, too.
func TestBenchPredictWasm(t *testing.T) {
	if testing.Short() {
		t.Skip("building for another platform takes its time")
	}
	for _, p := range hosttest.Platforms() {
		if p.Name != "wasm" {
			continue
		}
		t.Run(p.Name, func(t *testing.T) {
			command := p.Run(t)
			program := filepath.Join(t.TempDir(), "predictbench")
			build := exec.Command("go", "build", "-o", program, "../internal/predictbench")
			build.Env = append(append(os.Environ(), "CGO_ENABLED=0"), p.Env...)
			if msg, err := build.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, msg)
			}
			args := append(command[:len(command):len(command)], program)
			var stderr bytes.Buffer
			cmd := exec.Command(args[0], args[1:]...)
			cmd.Stderr = &stderr
			out, err := cmd.Output()
			if err != nil {
				t.Fatalf("%v\n%s", err, &stderr)
			}
			var r predictlab.Result
			if err := json.Unmarshal(out, &r); err != nil || !r.Verified {
				t.Fatalf("%s: %v", out, err)
			}
			t.Logf("%s: 8 ticks of 1000 entities in %.2f ms", r.Platform, r.All)
		})
	}
}

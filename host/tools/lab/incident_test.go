package lab_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/coeval-dev/coeval/host/tools/internal/toolstest"
	"github.com/coeval-dev/coeval/lab/tunnel"
	"github.com/coeval-dev/coeval/lab/tunnel/film"
)

// TestLabIncident: a report names the command that shows an incident, and that command finds it at
// the same instant, in words and in JSON.
func TestLabIncident(t *testing.T) {
	t.Setenv("COLUMNS", "110")
	dir := t.TempDir()
	code, _, stderr := toolstest.Try("lab", "run", "--game", "arena", "--arch", "quakeworld",
		"--network", "lte", "--players", "2", "--runs", "1", "--time", "2s", "--warm", "1s",
		"--dir", dir)
	if code != toolstest.ExitOK {
		t.Fatalf("code %d: %s", code, stderr)
	}
	file := filepath.Join(dir, "r.json")
	if code, _, stderr = toolstest.Try("lab", "report", "--game", "arena", "--dir", dir,
		file); code != toolstest.ExitOK {
		t.Fatalf("code %d: %s", code, stderr)
	}
	b, err := os.ReadFile(file)
	var report struct {
		Worst []tunnel.Worst `json:"worst_incidents"`
	}
	if err != nil || json.Unmarshal(b, &report) != nil || len(report.Worst) == 0 {
		t.Fatalf("%v, and %d incidents", err, len(report.Worst))
	}
	w := report.Worst[0]
	words := strings.Fields(w.Command) // none of which is quoted here
	args := words[1 : len(words)-2]
	if words[len(words)-2] != "--out" {
		t.Fatalf("the command is %s", w.Command)
	}
	code, stdout, stderr := toolstest.Try(slices.Concat(args, []string{"--json"})...)
	var r film.Result
	if err := json.Unmarshal([]byte(stdout), &r); code != toolstest.ExitOK || err != nil {
		t.Fatalf("%v: code %d, %v: %s", args, code, err, stderr)
	}
	if len(r.Moments) != 1 || r.Moments[0].What[0] != w.Incident || r.Seed != w.Seed {
		t.Errorf("the report has %+v, and the film %+v", w, r.Moments)
	}
	code, stdout, stderr = toolstest.Try(args...)
	if code != toolstest.ExitOK || !strings.Contains(stdout, r.Moments[0].Words[0][:40]) ||
		!strings.Contains(stdout, "the server, tick ") {
		t.Errorf("code %d: %s%s", code, stdout, stderr)
	}
}

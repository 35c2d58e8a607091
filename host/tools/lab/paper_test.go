package lab_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/coeval-dev/coeval/host/tools/internal/toolstest"
	"github.com/coeval-dev/coeval/lab/paperlab"
)

func TestLabPaper(t *testing.T) {
	code, stdout, stderr := toolstest.Try("lab", "paper", "--list")
	if code != toolstest.ExitOK {
		t.Fatalf("code %d: %s", code, stderr)
	}
	for _, e := range paperlab.Experiments() {
		if !strings.Contains(stdout, e.Name+" ") {
			t.Errorf("--list lacks %s:\n%s", e.Name, stdout)
		}
	}
	page := filepath.Join(t.TempDir(), "evidence.md")
	code, stdout, stderr = toolstest.Try("lab", "paper", "gamenet", "--quick", "--markdown", page)
	if code != toolstest.ExitOK || !strings.Contains(stdout, "AABAC") {
		t.Fatalf("code %d: %s\n%s", code, stderr, stdout)
	}
	if b, err := os.ReadFile(page); err != nil || !strings.Contains(string(b), "| AABAC") {
		t.Errorf("%v: %s", err, b)
	}
	code, stdout, stderr = toolstest.Try("lab", "paper", "gamenet", "--quick", "--json")
	var f paperlab.Finding
	if err := json.Unmarshal([]byte(stdout), &f); code != toolstest.ExitOK || err != nil ||
		f.Name != "gamenet" || len(f.Tables) != 2 {
		t.Errorf("code %d, %v: %s\n%s", code, err, stderr, stdout)
	}
}

func TestLabPaperMistakes(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{nil, "which experiment?"},
		{[]string{"alchemy"}, "choose of doom3"},
		{[]string{"--all", "crimp"}, "name some, or take all"},
		{[]string{"--list", "crimp"}, "--list runs nothing"},
		{[]string{"crimp", "--seeds", "1"}, "2 to 64"},
		{[]string{"crimp", "--markdown", "/no/such/place/x.md"}, "no such folder"},
	} {
		code, _, stderr := toolstest.Try(append([]string{"lab", "paper"}, c.args...)...)
		if code != toolstest.ExitUsage || !strings.Contains(stderr, c.want) {
			t.Errorf("%v: code %d: %s", c.args, code, stderr)
		}
	}
}

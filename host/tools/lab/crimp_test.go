package lab_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/coeval-dev/coeval/host/tools/internal/toolstest"
	"github.com/coeval-dev/coeval/lab/crimplab"
)

func TestLabCrimp(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes its time")
	}
	args := []string{
		"lab", "crimp", "--members", "4", "--loss", "0.1", "--packets", "200", "--no-cost"}
	code, stdout, stderr := toolstest.Try(args...)
	if code != toolstest.ExitOK {
		t.Fatalf("code %d: %s", code, stderr)
	}
	for _, s := range []string{
		"4 members, separate loss", "4 members, shared loss", "Table 4.1", "+63"} {
		if !strings.Contains(stdout, s) {
			t.Errorf("nothing says %q:\n%s", s, stdout)
		}
	}
	code, stdout, stderr = toolstest.Try(append(args, "--json")...)
	if code != toolstest.ExitOK {
		t.Fatalf("code %d: %s", code, stderr)
	}
	lines := strings.Split(strings.TrimSpace(stdout), "\n")
	if len(lines) != 8 {
		t.Errorf("%d objects, want 8", len(lines))
	}
	for _, line := range lines {
		var r crimplab.Row
		if err := json.Unmarshal([]byte(line), &r); err != nil || r.Members != 4 ||
			r.Deliveries != 4*3*200 {
			t.Errorf("%v: %s", err, line)
		}
	}
	if _, again, _ := toolstest.Try(append(args, "--json")...); again != stdout {
		t.Error("a second run with the same seed went differently")
	}
	if code, _, stderr := toolstest.Try("lab", "crimp", "--members",
		"1"); code == toolstest.ExitOK || !strings.Contains(stderr, "2 to 128") {
		t.Errorf("code %d: %s", code, stderr)
	}
}

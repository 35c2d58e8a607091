package tools

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/coeval-dev/coeval/lab"
)

func TestLabCrimp(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes its time")
	}
	args := []string{"lab", "crimp", "--members", "4", "--loss", "0.1", "--packets", "200", "--no-cost"}
	code, stdout, stderr := try(args...)
	if code != exitOK {
		t.Fatalf("code %d: %s", code, stderr)
	}
	for _, s := range []string{"4 members, separate loss", "4 members, shared loss", "Table 4.1", "+63"} {
		if !strings.Contains(stdout, s) {
			t.Errorf("nothing says %q:\n%s", s, stdout)
		}
	}
	code, stdout, stderr = try(append(args, "--json")...)
	if code != exitOK {
		t.Fatalf("code %d: %s", code, stderr)
	}
	lines := strings.Split(strings.TrimSpace(stdout), "\n")
	if len(lines) != 8 {
		t.Errorf("%d objects, want 8", len(lines))
	}
	for _, line := range lines {
		var r lab.CrimpResult
		if err := json.Unmarshal([]byte(line), &r); err != nil || r.Members != 4 || r.Deliveries != 4*3*200 {
			t.Errorf("%v: %s", err, line)
		}
	}
	if _, again, _ := try(append(args, "--json")...); again != stdout {
		t.Error("a second run with the same seed went differently")
	}
	if code, _, stderr := try("lab", "crimp", "--members", "1"); code == exitOK || !strings.Contains(stderr, "2 to 128") {
		t.Errorf("code %d: %s", code, stderr)
	}
}

package bench_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/coeval-dev/coeval/host/tools/internal/toolstest"
	"github.com/coeval-dev/coeval/lab/worldlab"
)

func TestBenchWorld(t *testing.T) {
	bench := func(args ...string) (int, string, string) {
		return toolstest.Try(append([]string{"bench", "world"}, args...)...)
	}
	code, stdout, stderr := bench("--entities", "200", "--rounds", "2", "--json")
	var r worldlab.Result
	dec := json.NewDecoder(strings.NewReader(stdout))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&r); err != nil || code != 0 || !r.Verified || r.Entities != 200 {
		t.Errorf("code %d, %q, %q, %v", code, stdout, stderr, err)
	}
	if code, stdout, _ := bench("--entities", "200", "--rounds", "2"); code != 0 ||
		!strings.Contains(stdout, "verified: true") ||
		!strings.Contains(stdout, "of plain memory") {
		t.Errorf("code %d, %q", code, stdout)
	}
	if code, _, stderr := bench("--entities", "0"); code != 2 ||
		!strings.Contains(stderr, "--entities is 0") {
		t.Errorf("code %d, %q", code, stderr)
	}
}

package bench_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/coeval-dev/coeval/host/tools/internal/toolstest"
	"github.com/coeval-dev/coeval/lab/reconnectlab"
)

func TestBenchReconnect(t *testing.T) {
	bench := func(args ...string) (int, string, string) {
		return toolstest.Try(append([]string{"bench", "reconnect"}, args...)...)
	}
	for _, workers := range []string{"1", "2"} {
		code, stdout, stderr := bench("--clients", "60", "--rounds", "1", "--within", "0.01",
			"--workers", workers, "--json")
		var r reconnectlab.Result
		dec := json.NewDecoder(strings.NewReader(stdout))
		dec.DisallowUnknownFields()
		if err := dec.Decode(&r); err != nil || code != 0 || r.In != 60 || r.Seconds <= 0 {
			t.Errorf("code %d, %q, %q, %v", code, stdout, stderr, err)
		}
	}
	if code, _, stderr := bench("--clients", "0"); code != 2 ||
		!strings.Contains(stderr, "--clients is 0") {
		t.Errorf("code %d, %q", code, stderr)
	}
}

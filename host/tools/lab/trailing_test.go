package lab_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/coeval-dev/coeval/host/tools/internal/toolstest"
	"github.com/coeval-dev/coeval/lab/trailinglab"
)

func runTrailing(args ...string) (code int, stdout, stderr string) {
	return toolstest.Try(append([]string{"lab", "trailing"}, args...)...)
}

func TestLabTrailing(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes its time")
	}
	_, out, errs := runTrailing("--quick", "--ticks", "300", "--json")
	var r trailinglab.Result
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		t.Fatalf("%v: %s %s", err, out, errs)
	}
	if len(r.LAN) != 7 || len(r.WAN) != 7 || r.Commands != 1800 {
		t.Errorf("%d and %d rows, %d commands", len(r.LAN), len(r.WAN), r.Commands)
	}
	// Targets about the speed of the machine are not for a test; that promises are kept is.
	for _, rows := range [][]trailinglab.Row{r.LAN, r.WAN, r.Rivals} {
		for _, row := range rows {
			if !row.Verified || row.Promise && row.Differ > 0 {
				t.Errorf("%+v", row)
			}
		}
	}
	if code, out, errs := runTrailing("--explain", "--ticks", "300"); code != toolstest.ExitOK ||
		!strings.Contains(out, "<- chosen") {
		t.Errorf("%d %s %s", code, out, errs)
	}
	for _, bad := range [][]string{
		{"--ticks", "5"}, {"--latency", "2s"}, {"--loss", "2"}, {"--map", "nowhere"}, {"more"}} {
		if code, _, errs := runTrailing(bad...); code != toolstest.ExitUsage {
			t.Errorf("%v: exit code %d: %s", bad, code, errs)
		}
	}
}

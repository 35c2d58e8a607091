package tools

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/coeval-dev/coeval/lab"
)

func runTrailing(t *testing.T, args ...string) (code int, out, errs string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code = run(context.Background(), append([]string{"trailing"}, args...), &stdout, &stderr, []*cobra.Command{labTrailingCommand(bundled())})
	return code, stdout.String(), stderr.String()
}

func TestLabTrailing(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes its time")
	}
	_, out, errs := runTrailing(t, "--quick", "--ticks", "300", "--json")
	var r lab.TrailingResult
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		t.Fatalf("%v: %s %s", err, out, errs)
	}
	if len(r.LAN) != 7 || len(r.WAN) != 7 || r.Commands != 1800 {
		t.Errorf("%d and %d rows, %d commands", len(r.LAN), len(r.WAN), r.Commands)
	}
	// Targets about the speed of the machine are not for a test; that promises are kept is.
	for _, rows := range [][]lab.TrailingRow{r.LAN, r.WAN, r.Rivals} {
		for _, row := range rows {
			if !row.Verified || row.Promise && row.Differ > 0 {
				t.Errorf("%+v", row)
			}
		}
	}
	if code, out, errs := runTrailing(t, "--explain", "--ticks", "300"); code != exitOK || !strings.Contains(out, "<- chosen") {
		t.Errorf("%d %s %s", code, out, errs)
	}
	for _, bad := range [][]string{{"--ticks", "5"}, {"--latency", "2s"}, {"--loss", "2"}, {"--map", "nowhere"}, {"more"}} {
		if code, _, errs := runTrailing(t, bad...); code != exitUsage {
			t.Errorf("%v: exit code %d: %s", bad, code, errs)
		}
	}
}

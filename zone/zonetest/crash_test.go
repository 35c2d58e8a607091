package zonetest

import (
	"os"
	"testing"
	"time"
)

func soak() bool { return os.Getenv("COEVAL_SOAK") != "" }

// TestCrashAtEveryStep kills a server before, and in another run after, each operation and each
// message of a run. Without COEVAL_SOAK it takes some of these.
func TestCrashAtEveryStep(t *testing.T) {
	o := Options{Seed: 3, Servers: 3, Zones: 3, Tokens: 20, MovePer: 12, ActPer: 12,
		For: 2 * time.Second}
	whole := New(o).Run()
	check(t, whole)
	stride := whole.Actions / 60
	if soak() {
		stride = 3
	}
	runs, moved := 0, uint64(0)
	for at := 1; at < whole.Actions; at += stride {
		for _, after := range []bool{false, true} {
			o.CrashAt, o.CrashAfter = at, after
			r := New(o).Run()
			runs++
			moved += r.Audit.HandOvers
			if check(t, r); t.Failed() {
				t.Fatalf("killed at step %d of %d, after it: %v", at, whole.Actions, after)
			}
		}
	}
	t.Logf("%d crashes, %d hand-overs", runs, moved)
}

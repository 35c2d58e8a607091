//go:build !js

package seamlesslab_test

import (
	"os"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/lab/seamlesslab"
)

func soak() bool { return os.Getenv("COEVAL_SOAK") != "" }

// TestKilled kills one of two servers while purses walk to and fro between them. With COEVAL_SOAK
// there are a hundred faults of all kinds.
func TestKilled(t *testing.T) {
	t.Parallel() // it goes by the clock, and mostly waits
	o := seamlesslab.Options{Part: "real", Servers: 2, Zones: 2, Nodes: 1, Rates: []int{60},
		Time: time.Second, Faults: 1, FaultsOnly: true, Every: time.Second,
		Settle: 1500 * time.Millisecond, Calm: 30, Snapshots: 30,
		Seed: uint64(time.Now().UnixNano()), Start: start, Find: find}
	if soak() {
		o.Servers, o.Zones, o.Nodes, o.Rates, o.Faults = 3, 6, 3, []int{600}, 100
		o.Every, o.Settle, o.Calm, o.Snapshots = 3*time.Second, 0, 0, 0
	}
	t.Logf("seed %d", o.Seed)
	r, err := seamlesslab.Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Check(); err != nil {
		t.Error(err)
	}
	for _, f := range r.Real.Faults {
		t.Logf("%s: %d times, %d zones, p50 %.2f s, p95 %.2f s", f.What, f.Times, f.Zones, f.Median,
			f.P95)
		if f.Stuck > 0 {
			t.Errorf("%s: %d zones did not go on", f.What, f.Stuck)
		}
	}
	a := r.Real.Audits
	if len(a) != 1 || a[0].HandOvers == 0 || a[0].Events == 0 || a[0].Entities == 0 ||
		a[0].Fences <= uint64(o.Zones) {
		t.Fatalf("the journals say: %+v", a)
	}
	t.Logf("the journals say: %+v", a[0])
}

// TestBorders has borders move while purses walk, and many cross by one border.
func TestBorders(t *testing.T) {
	t.Parallel() // it goes by the clock, and mostly waits
	if testing.Short() {
		t.Skip("topology/seamless tries the same")
	}
	o := seamlesslab.Options{Part: "borders", Servers: 2, Zones: 3, Nodes: 1, Rates: []int{60},
		Time: 3 * time.Second, Changes: 60, Crowd: 100, Faults: 0, Settle: 1500 * time.Millisecond,
		Calm: 30, Seed: uint64(time.Now().UnixNano()), Start: start, Find: find}
	if soak() {
		o.Servers, o.Zones, o.Nodes, o.Rates, o.Faults = 3, 6, 3, []int{600}, 20
		o.Time, o.Changes, o.Settle, o.Calm, o.Snapshots = 5*time.Minute, 12, 0, 0, 0
	}
	t.Logf("seed %d", o.Seed)
	r, err := seamlesslab.Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Check(); err != nil {
		t.Error(err)
	}
	m := r.Moving
	t.Logf("%+v", m)
	if len(m.Crowds) != 1 || m.Crowds[0].Moved < uint64(o.Crowd)/2 || len(m.Runs) != 1 ||
		m.Runs[0].Splits == 0 || len(m.Audits) != 2 {
		t.Errorf("%+v", m)
	}
}

// TestSimulated has the simulation and its controls be summed up.
func TestSimulated(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("zone/zonetest tries the same")
	}
	r, err := seamlesslab.Run(t.Context(), seamlesslab.Options{Part: "simulated", HandOvers: 1000,
		Costs: []int{4, 8}})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Check(); err != nil {
		t.Error(err)
	}
	t.Logf("%+v", r.Simulated.Controls)
	if s := r.Simulated; s.Rough.HandOvers < 1000 || len(s.Costs) != 2 {
		t.Errorf("%+v", s)
	}
}

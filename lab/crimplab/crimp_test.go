package crimplab

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/crimp"
)

// TestCrimp: small groups come out as they should, and the same each time.
func TestCrimp(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes its time")
	}
	o := Options{
		Members: []int{2, 6}, Losses: []float64{0, 0.15}, Packets: 300, Ways: []string{
			"paper", "adaptive", "adaptive+fec"}, Seed: 4, NoCost: true}
	r, err := Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	results := r.Groups
	if len(results) != 2*2*2*3 {
		t.Fatalf("%d results", len(results))
	}
	mean := map[string]float64{}
	for _, r := range results {
		if err := r.Check(); err != nil {
			t.Error(err)
		}
		if r.Loss == 0 && (r.Mean != 0 || r.Requests != 0 || r.Repairs != 0 || r.LostCopies != 0) {
			t.Errorf("without loss: %+v", r)
		}
		if r.Loss > 0 && (r.LostCopies == 0 || r.Mean <= 0 || r.P99 < r.P95 || r.Most < r.P99) {
			t.Errorf("with loss: %+v", r)
		}
		if r.Loss > 0 && r.Members == 6 {
			mean[r.Topology+" "+r.Way] = r.Mean
		}
	}
	for _, topology := range []string{"separate", "shared"} {
		if f, a, p := mean[topology+" adaptive+fec"], mean[topology+" adaptive"],
			mean[topology+" paper"]; !(f < a && a < p) {
			t.Errorf("%s loss: %.2f with redundancy, %.2f adaptive, %.2f with the paper's constants", topology, f, a, p)
		}
	}
	again, err := Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	for i, g := range again.Groups {
		if g != results[i] {
			t.Errorf("a second run differs:\n%+v\n%+v", results[i], g)
		}
	}
}

func TestOptions(t *testing.T) {
	for name, o := range map[string]Options{
		"members has 1": {Members: []int{1}},
		"loss has 1":    {Losses: []float64{1}},
		"magic":         {Ways: []string{"magic"}},
		"packets is -1": {Packets: -1},
		"period is 1m":  {Period: time.Minute},
		"both":          {Shared: true, Separate: true},
	} {
		if _, err := Run(t.Context(), o); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Run(ctx, Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestCrimpCost(t *testing.T) {
	c, err := MeasureCost(t.Context(), 4, 500, crimp.Tags, 200*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	if c.Delivered != 100*4*3 || c.All <= 0 {
		t.Errorf("%+v", c)
	}
}

package all_test

import (
	"testing"
	"time"

	"github.com/coeval-dev/coeval/games/arena"
	"github.com/coeval-dev/coeval/games/pong"
	"github.com/coeval-dev/coeval/knob"
	"github.com/coeval-dev/coeval/lab/tunnel"
)

// TestTuneInterpolation: where snapshots jitter, others are best shown neither as early as they
// could be, which is jerky, nor much later, which is wrong. Hits and bytes are left out: of hits
// there are few in so short a time.
func TestTuneInterpolation(t *testing.T) {
	o := tunnel.TuneOptions{Knobs: []string{"interpolate"}, Evaluations: 60, Checks: 4,
		Weights: map[tunnel.Group]float64{tunnel.Fairness: 0, tunnel.Bandwidth: 0},
		Options: tunnel.Options{Title: pong.Title, Architectures: []string{"quake3"},
			Networks: []string{"latency=30ms jitter=15ms"}, Players: 2, Runs: 4, Seed: 3,
			Time: 3 * time.Second, Warm: 2 * time.Second}}
	if soak() {
		o.Title, o.Players, o.Runs, o.Checks, o.Evaluations = arena.Title, 6, 8, 8, 160
		o.Time = 10 * time.Second
	}
	r, err := tunnel.Tune(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	k := r.Knobs[0]
	t.Logf("seed %d: %s: %+v; %s", o.Seed, k.Best, k.Others, r.Verdict())
	for _, x := range r.Tried {
		t.Logf("%-20s %d seeds, saves %.2f, %.2f to %.2f", x.Values, x.Runs, x.Saved.Mean,
			x.Saved.Low,
			x.Saved.High)
	}
	if k.Best == "20ms" || k.Best == "200ms" {
		t.Errorf("%s is best", k.Best)
	}
	worse := map[string]bool{}
	for _, l := range k.Others {
		worse[l.Value] = l.More.Low > 0
	}
	if !worse["20ms"] || !worse["200ms"] {
		t.Errorf("%s is best, and others are not clearly worse: %+v", k.Best, k.Others)
	}
	if r.Held.Saved.High < 0 ||
		r.Chosen["interpolate"] == knob.Auto && r.Best["interpolate"] != knob.Auto &&
			r.Held.Saved.Mean > 0 {
		t.Errorf("%s, and %v is chosen", r.Verdict(), r.Chosen)
	}
}

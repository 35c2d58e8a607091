package worldlab

import (
	"context"
	"errors"
	"testing"
)

func TestWorldIsVerified(t *testing.T) {
	last := 0.0
	r, err := Run(t.Context(),
		Options{Entities: 300, Rounds: 3, Progress: func(d float64, _ string) { last = d }})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Check(); err != nil {
		t.Error(err)
	}
	if r.Fields != 20 || r.Bytes < 100 || r.SavedBytes < 20 || last != 1 {
		t.Errorf("%+v, progress %v", r, last)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := Run(ctx, Options{Entities: 1}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if _, err := Run(t.Context(), Options{Entities: -1}); err == nil {
		t.Error("a world of -1 entities")
	}
	if (&Result{Wrong: "x"}).Check() == nil {
		t.Error("what is not verified passes")
	}
}

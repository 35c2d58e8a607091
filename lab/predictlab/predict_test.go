package predictlab

import (
	"context"
	"testing"
)

func TestPredict(t *testing.T) {
	r, err := Run(context.Background(), Options{Entities: 300, Rounds: 4})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Check(); err != nil {
		t.Fatal(err)
	}
	if r.Entities != 300 || r.Ticks != 8 || r.Fields != 20 || r.Allocs > 0 {
		t.Errorf("%+v", r)
	}
	t.Logf("%+v", r)
	if _, err := Run(context.Background(), Options{Ticks: 51}); err == nil {
		t.Error("no error for too many ticks")
	}
}

package storelab_test

import (
	"testing"
	"time"

	"github.com/coeval-dev/coeval/lab/storelab"
	_ "github.com/coeval-dev/coeval/service/store/use"
)

// TestVerifies: what was written is found to be what the world has, also where answers are
// forgotten while it is played.
func TestVerifies(t *testing.T) {
	t.Parallel() // it plays by the clock, and mostly waits
	r, err := storelab.Run(t.Context(), storelab.Options{Entities: 40, Trades: 60,
		Time: time.Second, Rounds: 2, Prune: 15})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Check(); err != nil || len(r.Databases) != 1 || r.Databases[0].Asked == 0 {
		t.Errorf("%v: %+v", err, r.Databases)
	}
}

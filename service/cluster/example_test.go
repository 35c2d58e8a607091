package cluster_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/coeval-dev/coeval/service/cluster"
	"github.com/coeval-dev/coeval/topology/seamless"
)

// A new owner reads what is the last, and appends a record of its own: the fence. Whatever the old
// owner appends from then on is refused.
func Example() {
	ctx := context.Background()
	journal := cluster.Memory().Journal()
	record := func(expect uint64, text string) (uint64, error) {
		out := journal.Append(ctx, []seamless.Append{{Zone: "harbour", Expect: expect,
			Data: []byte(text)}})
		return out[0].Sequence, out[0].Err
	}
	first, _ := record(0, "epoch 1: tick 1")
	last, _ := journal.Last(ctx, "harbour")
	_, err := record(last.Sequence, "epoch 2")
	fmt.Println("the new owner:", err)
	_, err = record(first, "epoch 1: tick 2")
	fmt.Println("the old owner is stale:", errors.Is(err, seamless.ErrStale))
	// Output:
	// the new owner: <nil>
	// the old owner is stale: true
}

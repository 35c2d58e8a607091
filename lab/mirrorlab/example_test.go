package mirrorlab_test

import (
	"context"
	"fmt"
	"time"

	"github.com/coeval-dev/coeval/games/arena"
	"github.com/coeval-dev/coeval/lab/mirrorlab"
)

func Example() {
	r, err := mirrorlab.Run(context.Background(), mirrorlab.Options{
		Title: arena.Title, Mirrors: 2, Players: 1, Warm: time.Second, Time: 2 * time.Second,
		Alone: true,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("settled worlds that differ:", r.Settled.Different)
	fmt.Println("a command is executed at the other mirror within a tenth of a second:",
		r.Sight.Executed.Median < 100)
	// Output:
	// settled worlds that differ: 0
	// a command is executed at the other mirror within a tenth of a second: true
}

package stack_test

import (
	"context"
	"fmt"

	"github.com/coeval-dev/coeval/games/stack"
	"github.com/coeval-dev/coeval/topology/solo"
	"github.com/coeval-dev/coeval/world"
)

// The pile falls, and the tick and the number of boxes are all that is sure before one has seen it.
func Example() {
	run, err := solo.New(stack.Game,
		solo.Options{Settings: world.Settings{Seed: 1}, Players: -1, Ticks: 30})
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := run.Fast(context.Background()); err != nil {
		fmt.Println(err)
	}
	run.View(func(w *world.World) {
		fmt.Println(world.Count[stack.Box](w), "boxes at tick", w.Tick())
	})
	// Output: 300 boxes at tick 30
}

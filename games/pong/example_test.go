package pong_test

import (
	"context"
	"fmt"

	"github.com/coeval-dev/coeval/games/pong"
	"github.com/coeval-dev/coeval/topology/solo"
	"github.com/coeval-dev/coeval/world"
)

// A match between two paddles that no one holds, as fast as it goes.
func Example() {
	run, err := solo.New(pong.Game,
		solo.Options{Settings: world.Settings{Seed: 1}, Players: -1, Ticks: 60 * 60})
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := run.Fast(context.Background()); err != nil {
		fmt.Println(err)
	}
	run.View(func(w *world.World) {
		fmt.Printf("after a minute: %+v\n", *world.StateOf[pong.Score](w))
	})
	// Output: after a minute: {Left:1 Right:3}
}

package solo_test

import (
	"context"
	"fmt"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/topology/solo"
	"github.com/coeval-dev/coeval/world"
)

type Clock struct{ Ticks int }

func (c *Clock) Sync(s *bits.Sync)                { s.Int(&c.Ticks, 0, 1<<30) }
func (c *Clock) Step(w *world.World, me world.ID) { c.Ticks++ }

func Example() {
	game := world.Define("clock", world.State[Clock]())
	run, err := solo.New(game, solo.Options{Ticks: 3600})
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := run.Fast(context.Background()); err != nil {
		fmt.Println(err)
	}
	run.View(func(w *world.World) {
		fmt.Println("a minute is", world.StateOf[Clock](w).Ticks, "ticks")
	})
	// Output: a minute is 3600 ticks
}

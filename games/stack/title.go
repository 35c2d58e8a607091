package stack

import (
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/world"
)

// Title is the stack as programs run it.
var Title = &game.Title{
	Game:  Game,
	About: "a pile of boxes to drive into; left, right, up or space to jump",
	Screen: game.Screen{
		Width: Width, Height: Height,
		Draw: func(w *world.World, _ world.Player, put func(x, y float64, c rune)) {
			Draw(w, put)
		}},
	Control: game.Controls(func() func(game.Keys) Push {
		return func(k game.Keys) Push { return Keys(k.Left, k.Right, k.Up || k.Fire) }
	}),
}

package pong

import (
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/world"
)

// Title is pong as programs run it.
var Title = &game.Title{
	Game:  Game,
	About: "two paddles and a ball; up and down",
	Screen: game.Screen{
		Width: Width, Height: Height,
		Draw: func(w *world.World, _ world.Player, put func(x, y float64, c rune)) {
			Draw(w, put)
		}},
	Control: game.Controls(func() func(game.Keys) Move {
		return func(k game.Keys) Move { return Keys(k.Up, k.Down) }
	}),
}

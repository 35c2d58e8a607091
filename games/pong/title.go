package pong

import (
	"slices"

	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/world"
)

// Title is pong as programs run it.
var Title = &game.Title{
	Game:  Game,
	About: "two paddles and a ball; up and down",
	Screen: game.Screen{
		Draw:   Draw,
		Hint:   "up and down, or W and S",
		Scores: scores,
	},
	Match:   game.Match{Over: game.OverAt(func(g *Goal) bool { return g.Won }, scores)},
	Control: game.Controls(func(in *game.Input) Move { return Keys(in.Up, in.Down) }),
}

// scores are the sides' points, the better first.
func scores(w *world.World) (list []game.Score) {
	points := world.StateOf[Score](w)
	for id, p := range world.All[Paddle](w) {
		n := points.Right
		if p.X < Width/2 {
			n = points.Left
		}
		if w.Owner(id) != world.Nobody {
			list = append(list, game.Score{Player: w.Owner(id), Points: n})
		}
	}
	slices.SortStableFunc(list, func(a, b game.Score) int { return b.Points - a.Points })
	return list
}

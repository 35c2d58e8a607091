package stack

import (
	"github.com/coeval-dev/coeval/det"
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

// Draw shows the game on anything that can put a character at a place of the yard, whose origin is
// at the bottom left: # for what moves, + for what sleeps, @ for what a player drives.
func Draw(w *world.World, put func(x, y float64, c rune)) {
	for id, b := range world.All[Box](w) {
		c := '#'
		switch {
		case w.Owner(id) != world.Nobody:
			c = '@'
		case b.Rest >= restful:
			c = '+'
		}
		x, half := b.Turn.Vec(), b.Half()
		y := x.Perp()
		n := int(det.Int32(half*4)) + 1
		for i := -n; i <= n; i++ {
			for j := -n; j <= n; j++ {
				p := b.Pos.MulAdd(x, half*float64(i)/float64(n)).MulAdd(y,
					half*float64(j)/float64(n))
				put(p.X, p.Y, c)
			}
		}
	}
}

// Keys makes a command of the keys that are held.
func Keys(left, right, jump bool) Push {
	p := Push{Jump: jump}
	if left {
		p.X--
	}
	if right {
		p.X++
	}
	return p
}

package stack

import (
	"github.com/coeval-dev/coeval/draw"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/world"
)

// Title is the stack as programs run it.
var Title = &game.Title{
	Game:   Game,
	About:  "a pile of boxes to drive into; left, right, up or space to jump",
	Screen: game.Screen{Draw: Draw, Hint: "left and right, up or space jumps"},
	Control: game.Controls(func(in *game.Input) Push {
		return Keys(in.Left, in.Right, in.Up || in.Fire)
	}),
}

// Draw draws a frame of the yard: bright what moves, dull what sleeps, and in a color of its own
// what a player drives.
func Draw(s *draw.Surface, f *game.Frame) {
	s.Clear(draw.RGB(0x0d1017))
	s.Camera(draw.Camera{X: Width / 2, Y: Height / 2, Width: Width + 2, Height: Height + 2,
		Up: true})
	s.Rect(-1e3, -1e3, 2e3, 1e3, draw.RGB(0x1d2430))
	s.Rect(0, 0, Width, Height, draw.RGB(0x131924))
	for id, b := range world.All[Box](f.World) {
		c := draw.RGB(0xf0a04b)
		switch owner := f.World.Owner(id); {
		case owner != world.Nobody && owner == f.Me:
			c = draw.RGB(0x6fd3ff)
		case owner != world.Nobody:
			c = draw.RGB(0xc78bff)
		case b.Rest >= restful:
			c = draw.RGB(0x8a6a45)
		}
		at := b.Pos.MulAdd(b.Vel, f.Ahead(id))
		side := 2 * b.Half()
		s.Box(at.X, at.Y, side, side, float64(b.Turn), c.Mix(draw.Black, 0.45))
		s.Box(at.X, at.Y, 0.86*side, 0.86*side, float64(b.Turn), c)
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

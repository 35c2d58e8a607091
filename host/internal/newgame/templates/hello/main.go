// Command hello is a meadow with foxes, for anyone who comes by.
package main

import (
	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/draw"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/host"
	"github.com/coeval-dev/coeval/world"
)

// Title is the rules with how the game is drawn and controlled.
var Title = &game.Title{
	Game:  Game,
	About: "a meadow to say hello in",
	Screen: game.Screen{
		Draw: show, Hint: "arrows or WASD walk, space says hello",
		Scores: game.Points(func(f *Fox) int { return f.Flowers }),
	},
	Control: game.Controls(func(in *game.Input) Walk { return Walk{in.Stick, in.Fire} }),
	Players: 4, // as long as one plays alone, the others are bots
}

func main() { host.Main(Title) }

// show draws a frame.
func show(s *draw.Surface, f *game.Frame) {
	s.Clear(draw.RGB(0x2c4a2e))
	s.Camera(draw.Camera{X: width / 2, Y: height / 2, Width: width, Height: height, Up: true})
	s.Rect(0, 0, width, height, draw.RGB(0x3f6b3c))
	for i := range 160 { // grass
		x, y := float64(i*29%160)*width/160, float64(i*47%160)*height/160
		s.Line(x, y, x+0.2, y+0.7, 0.12, draw.RGB(0x4d7f47))
	}
	for _, flower := range world.All[Flower](f.World) {
		for petal := range 5 {
			at := flower.Pos.Add(det.Angle(f.Time/2 + float64(petal)*1.2566).Vec().Mul(0.55))
			s.Circle(at.X, at.Y, 0.42, draw.RGB(0xffd3e8))
		}
		s.Circle(flower.Pos.X, flower.Pos.Y, 0.4, draw.RGB(0xffc93c))
	}
	for id, fox := range world.All[Fox](f.World) {
		drawFox(s, f, id, fox)
	}
	for range game.Events[Picked](f) {
		s.Tone(draw.Tone{Wave: draw.Triangle, From: 660, To: 990, Seconds: 0.15}, 0.4, 0)
	}
}

func drawFox(s *draw.Surface, f *game.Frame, id world.ID, fox *Fox) {
	fur, owner := draw.RGB(0x9fb6d8), f.World.Owner(id)
	if owner == f.Me {
		fur = draw.RGB(0xff8a3d)
	}
	at := fox.Pos.MulAdd(fox.Vel, f.Ahead(id)) // between two ticks
	s.Circle(at.X, at.Y, 1, fur)
	for _, side := range []float64{-0.6, 0.6} { // ears and eyes
		s.Polygon(fur, at.X+side-0.4, at.Y+0.5, at.X+side+0.4, at.Y+0.5, at.X+side, at.Y+1.6)
		s.Circle(at.X+side/2, at.Y+0.15, 0.16, draw.Black)
	}
	s.Circle(at.X, at.Y-0.35, 0.2, draw.RGB(0x4a2a1a))
	s.Text(at.X, at.Y-1.6, 0.9, f.Name(owner), draw.White.Alpha(0.8), draw.Center)
	if fox.Saying > 0 {
		s.Rect(at.X-2, at.Y+1.9, 4, 1.6, draw.White)
		s.Text(at.X, at.Y+2.7, 1.1, "hello!", draw.Black, draw.Center)
	}
}

// Command cars is a race without an end.
package main

import (
	"fmt"

	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/draw"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/host"
	"github.com/coeval-dev/coeval/world"
)

// Title is the rules with how the game is drawn and controlled.
var Title = &game.Title{
	Game: Game, About: "cars that drift around a track", Bot: game.Bots(newDriver),
	Screen: game.Screen{
		Draw: show, Hint: "up drives, down brakes, left and right steer",
		Scores: game.Points(func(c *Car) int { return c.Laps }),
	},
	Control: game.Controls(func(in *game.Input) Drive { return Drive{-in.Stick.X, in.Stick.Y} }),
}

func main() { host.Main(Title) }

// show draws a frame.
func show(s *draw.Surface, f *game.Frame) {
	s.Clear(draw.RGB(0x2f5d34))
	eye := track[0]
	if id, mine := world.Owned[Car](f.World, f.Me); mine != nil { // it looks ahead of the car
		eye = mine.Pos.MulAdd(mine.Vel, f.Ahead(id)+0.3)
	}
	s.Camera(draw.Camera{X: eye.X, Y: eye.Y, Width: 56, Height: 32, Up: true, Cover: true})
	for pass, c := range []draw.Color{draw.RGB(0xd8d4c8), draw.RGB(0x3a3d44)} { // edge and road
		for i, a := range track {
			b := track[(i+1)%len(track)]
			s.Line(a.X, a.Y, b.X, b.Y, 2*road+0.8-0.8*float64(pass), c)
		}
	}
	s.Box(track[0].X, track[0].Y, 1, 2*road, -0.15, draw.White.Alpha(0.7))
	for id, c := range world.All[Car](f.World) {
		paint, at := draw.RGB(0x6aa5ff), c.Pos.MulAdd(c.Vel, f.Ahead(id)) // between two ticks
		if f.World.Owner(id) == f.Me {
			paint = draw.RGB(0xff6b4a)
			lap := fmt.Sprintf("lap %d  %.1f s", c.Laps+1, float64(c.Ticks)*f.World.Seconds())
			s.Text(at.X, at.Y+2.5, 1.2, lap, draw.White, draw.Center)
		}
		s.Box(at.X, at.Y, 2.6, 1.4, float64(c.Heading), paint)
		glass := at.MulAdd(c.Heading.Vec(), 0.3)
		s.Box(glass.X, glass.Y, 0.7, 1.1, float64(c.Heading), draw.RGB(0x1c2733))
	}
	for range game.Events[Lapped](f) {
		s.Tone(draw.Tone{Wave: draw.Triangle, From: 440, To: 880, Seconds: 0.2}, 0.3, 0)
	}
}

// newDriver makes a bot: it steers to the place that comes next.
func newDriver(seed uint64) func(w *world.World, me world.Player) Drive {
	return func(w *world.World, me world.Player) (d Drive) {
		if _, c := world.Owned[Car](w, me); c != nil {
			off := track[c.Next].Sub(c.Pos).Angle().Sub(c.Heading)
			d = Drive{Turn: det.Clamp(float64(2*off), -1, 1), Gas: 0.6 + 0.05*float64(seed%5)}
		}
		return d
	}
}

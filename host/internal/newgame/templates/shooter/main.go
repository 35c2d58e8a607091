// Command shooter is a duel of ships for as many as come.
package main

import (
	"github.com/coeval-dev/coeval/draw"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/host"
	"github.com/coeval-dev/coeval/world"
)

// Title is the rules with how the game is drawn and controlled.
var Title = &game.Title{
	Game: Game, About: "ships that shoot each other", Players: 6, // bots, while one is alone
	Screen: game.Screen{
		Draw: show, Hint: "arrows or WASD fly, the pointer aims, space or a button fires",
		Scores: game.Points(func(p *Ship) int { return p.Points }),
	},
	Control: game.Controls(func(in *game.Input) Fly { return Fly{in.Stick, in.Aimed(), in.Fire} }),
}

func main() { host.Main(Title) }

// show draws a frame.
func show(s *draw.Surface, f *game.Frame) {
	s.Clear(draw.RGB(0x05060f))
	eye := middle
	if id, ship := world.Owned[Ship](f.World, f.Me); ship != nil {
		eye = ship.Pos.MulAdd(ship.Vel, f.Ahead(id))
	}
	s.Camera(draw.Camera{X: eye.X, Y: eye.Y, Width: 44, Height: 26, Up: true, Cover: true})
	for i := 0.0; i <= side; i += 6 {
		s.Line(i, 0, i, side, 0.1, draw.RGB(0x1b2450))
		s.Line(0, i, side, i, 0.1, draw.RGB(0x1b2450))
	}
	for id, shot := range world.All[Shot](f.World) {
		at := shot.Pos.MulAdd(shot.Vel, f.Ahead(id)) // between two ticks
		s.Glow(at.X, at.Y, 1.2, draw.RGB(0xffe680).Alpha(0.6))
		s.Circle(at.X, at.Y, 0.25, draw.White)
	}
	for id, ship := range world.All[Ship](f.World) {
		c, at := draw.RGB(0xff5d73), ship.Pos.MulAdd(ship.Vel, f.Ahead(id))
		if f.World.Owner(id) == f.Me {
			c = draw.RGB(0x52e0ff)
		}
		ahead, wing := ship.Aim.Vec(), ship.Aim.Vec().Perp().Mul(0.9)
		nose, l, r := at.MulAdd(ahead, 1.5), at.Sub(ahead).Add(wing), at.Sub(ahead).Sub(wing)
		s.Polygon(c, nose.X, nose.Y, l.X, l.Y, at.X, at.Y, r.X, r.Y)
		s.Ring(at.X, at.Y, float64(ship.Wait)/10, 0.2, c.Alpha(float64(ship.Wait)/repair)) // hit
		s.Text(at.X, at.Y+2, 0.9, f.Name(f.World.Owner(id)), draw.White.Alpha(0.6), draw.Center)
	}
	for _, bang := range game.Events[Bang](f) {
		s.Tone(draw.Tone{Wave: draw.Noise, From: 900, To: 90, Seconds: bang.Seconds}, 0.2, 0)
	}
}

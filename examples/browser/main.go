// Command browser is a game that is played in a browser: go run ./examples/browser demo. The same
// file is the server, and compiled for the browser it is the client. It draws with package draw, so
// it is played in a terminal too: go run ./examples/browser play.
package main

import (
	"fmt"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/draw"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/host"
	"github.com/coeval-dev/coeval/world"
)

const width, height, speed = 64, 36, 16

// Push is what a player does in a tick.
type Push struct{ X, Y float64 }

func (p *Push) Sync(s *bits.Sync) {
	s.Float(&p.X, -1, 1, 1.0/16)
	s.Float(&p.Y, -1, 1, 1.0/16)
}

// Bee is what a player flies, and Flower what it looks for.
type Bee struct {
	Pos, Vel det.Vec2
	Nectar   int
}

func (b *Bee) Sync(s *bits.Sync) {
	s.Vec2(&b.Pos, 0, width, 1.0/256)
	s.Vec2(&b.Vel, -speed, speed, 1.0/256)
	s.Int(&b.Nectar, 0, 9999)
}

func (b *Bee) Hints(h *game.Hints) { h.Body(1) }

func (b *Bee) Step(w *world.World, me world.ID) {
	c := world.Command[Push](w, me)
	want := det.Vec2{X: c.X, Y: c.Y}.ClampLen(1).Mul(speed)
	b.Vel = b.Vel.Add(want.Sub(b.Vel).ClampLen(1.5))
	b.Pos = b.Pos.MulAdd(b.Vel, w.Seconds())
	b.Pos = det.Vec2{X: det.Clamp(b.Pos.X, 1, width-1), Y: det.Clamp(b.Pos.Y, 1, height-1)}
	for id, f := range world.All[Flower](w) {
		if f.Pos.Sub(b.Pos).Len() < 1.5 && w.Decides() {
			b.Nectar++
			f.Pos = somewhere(w)
			world.Emit(w, id, Drunk{})
		}
	}
}

type Flower struct{ Pos det.Vec2 }

func (f *Flower) Sync(s *bits.Sync) { s.Vec2(&f.Pos, 0, width, 1.0/16) }

// Drunk says that a flower was found.
type Drunk struct{}

func (*Drunk) Sync(*bits.Sync) {}

func somewhere(w *world.World) det.Vec2 {
	return det.Vec2{X: w.Secret().Range(2, width-2), Y: w.Secret().Range(2, height-2)}
}

var rules = world.Define("bees", world.Class[Bee](), world.Class[Flower](),
	world.Commands[Push](), world.Event[Drunk](),
	world.OnStart(func(w *world.World) {
		for range 6 {
			world.Spawn(w, Flower{Pos: somewhere(w)})
		}
	}),
	world.OnJoin(func(w *world.World, p world.Player) {
		w.SetOwner(world.Spawn(w, Bee{Pos: det.Vec2{X: width / 2, Y: height / 2}}), p)
	}),
)

func show(s *draw.Surface, f *game.Frame) {
	s.Clear(draw.RGB(0x16301c))
	s.Camera(draw.Camera{X: width / 2, Y: height / 2, Width: width, Height: height, Up: true})
	for _, o := range world.All[Flower](f.World) {
		s.Circle(o.Pos.X, o.Pos.Y, 0.9, draw.RGB(0xff8fb0))
		s.Circle(o.Pos.X, o.Pos.Y, 0.4, draw.RGB(0xffe070))
	}
	for id, b := range world.All[Bee](f.World) {
		at := b.Pos.MulAdd(b.Vel, f.Ahead(id))
		s.Circle(at.X, at.Y, 0.8, draw.RGB(0xffc030))
		s.Text(at.X, at.Y+1.6, 1.2, fmt.Sprint(b.Nectar), draw.White, draw.Center)
	}
	for range game.Events[Drunk](f) {
		s.Tone(draw.Tone{From: 500, To: 900, Seconds: 0.15}, 0.3, 0)
	}
}

func main() {
	host.Main(&game.Title{Game: rules, About: "bees and flowers",
		Screen:  game.Screen{Draw: show, Hint: "arrows, WASD or a finger fly"},
		Control: game.Controls(func(in *game.Input) Push { return Push{in.Stick.X, in.Stick.Y} }),
	})
}

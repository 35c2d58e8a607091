// The rules: what there is, and what it does in a tick. They run on the server, and ahead of it
// on each player's machine, so that nobody waits for the network.
package main

import (
	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/world"
)

const width, height, speed = 48, 27, 14 // of the meadow in units, and units a second

var Game = world.Define("hello",
	world.Class[Fox](), world.Class[Flower](), world.Commands[Walk](), world.Event[Picked](),
	world.OnStart(func(w *world.World) {
		for range 9 {
			world.Spawn(w, Flower{Pos: somewhere(w.Rand())})
		}
	}),
	world.OnJoin(func(w *world.World, p world.Player) {
		w.SetOwner(world.Spawn(w, Fox{Pos: somewhere(w.Rand())}), p)
	}),
)

func somewhere(r *det.Rand) det.Vec2 {
	return det.Vec2{X: r.Range(2, width-2), Y: r.Range(2, height-2)}
}

type Walk struct { // what a player commands for a tick
	Way   det.Vec2
	Hello bool
}

// Sync names the fields that others are told, each with its range and how fine it is.
func (c *Walk) Sync(s *bits.Sync) {
	s.Vec2(&c.Way, -1, 1, 1.0/64)
	s.Bool(&c.Hello)
}

// A Fox is what a player walks about in.
type Fox struct {
	Pos, Vel det.Vec2
	Saying   int // ticks for which it still says hello
	Flowers  int
}

func (f *Fox) Sync(s *bits.Sync) {
	s.Vec2(&f.Pos, 0, width, 1.0/256)
	s.Vec2(&f.Vel, -speed, speed, 1.0/64)
	s.Int(&f.Saying, 0, 90)
	s.Int(&f.Flowers, 0, 9999)
}

func (f *Fox) Hints(h *game.Hints) { h.Body(2) }

func (f *Fox) Step(w *world.World, me world.ID) {
	c := world.Command[Walk](w, me)
	f.Vel = f.Vel.Lerp(c.Way.ClampLen(1).Mul(speed), 0.2)
	f.Pos = f.Pos.MulAdd(f.Vel, w.Seconds())
	f.Pos = det.Vec2{X: det.Clamp(f.Pos.X, 1, width-1), Y: det.Clamp(f.Pos.Y, 1, height-1)}
	if f.Saying = max(f.Saying-1, 0); c.Hello {
		f.Saying = 90
	}
	for id, flower := range world.All[Flower](w) {
		if w.Decides() && flower.Pos.Sub(f.Pos).LenSq() < 2 { // only the server knows who was first
			f.Flowers = min(f.Flowers+1, 9999)
			flower.Pos = somewhere(w.Secret())
			world.Emit(w, id, Picked{})
		}
	}
}

type Flower struct{ Pos det.Vec2 } // which waits to be picked

func (f *Flower) Sync(s *bits.Sync) { s.Vec2(&f.Pos, 0, width, 1.0/16) }

type Picked struct{} // happens once, and is shown and heard once

func (*Picked) Sync(*bits.Sync) {}

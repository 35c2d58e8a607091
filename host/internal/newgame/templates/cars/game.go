// The rules: what there is, and what it does in a tick. They run on the server, and ahead of it
// on each player's machine, so that nobody waits for the network.
package main

import (
	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/world"
)

// The track is a line through these places and back to the first, with so much road on each side.
var track = []det.Vec2{
	{X: 20, Y: 20}, {X: 60, Y: 14}, {X: 100, Y: 20}, {X: 114, Y: 40}, {X: 100, Y: 56},
	{X: 76, Y: 54}, {X: 62, Y: 40}, {X: 48, Y: 44}, {X: 40, Y: 60}, {X: 18, Y: 56}, {X: 10, Y: 36},
}

const width, height, road = 128, 72, 5 // units

var Game = world.Define("cars",
	world.Class[Car](), world.Commands[Drive](), world.Event[Lapped](),
	world.OnJoin(func(w *world.World, p world.Player) {
		at := track[0].Add(det.Vec2{X: w.Rand().Range(-3, 3), Y: w.Rand().Range(-3, 3)})
		w.SetOwner(world.Spawn(w, Car{Pos: at, Next: 1}), p)
	}),
)

type Drive struct{ Turn, Gas float64 } // what a player commands for a tick

func (c *Drive) Sync(s *bits.Sync) {
	s.Float(&c.Turn, -1, 1, 1.0/64)
	s.Float(&c.Gas, -1, 1, 1.0/64)
}

// A Car is a player's. It drives to the places of the track in turn, and drifts in its bends.
type Car struct {
	Pos, Vel          det.Vec2
	Heading           det.Angle
	Next, Laps, Ticks int // the place that comes next, laps so far, and for how long this one
}

func (c *Car) Sync(s *bits.Sync) {
	s.Vec2(&c.Pos, 0, width, 1.0/16384)
	s.Vec2(&c.Vel, -64, 64, 1.0/256)
	s.Angle(&c.Heading, 12)
	s.Int(&c.Next, 0, len(track)-1)
	s.Int(&c.Laps, 0, 1<<16)
	s.Int(&c.Ticks, 0, 1<<16)
}

func (c *Car) Hints(h *game.Hints) {
	h.Body(2)
	h.Heading(&c.Heading)
}

func (c *Car) Step(w *world.World, me world.ID) {
	in, ahead := world.Command[Drive](w, me), c.Heading.Vec()
	along, across := c.Vel.Dot(ahead), c.Vel.Dot(ahead.Perp())
	drag := 0.94 // of grass
	for i, a := range track {
		if c.Pos.Sub(c.Pos.Nearest(a, track[(i+1)%len(track)])).Len() < road {
			drag = 0.985
		}
	}
	along = float64(along*drag) + float64(in.Gas*36*w.Seconds())
	across = float64(across * 0.95) // tyres hold it only so much: less makes it drift further
	c.Vel = ahead.Mul(along).MulAdd(ahead.Perp(), across).ClampLen(60)
	grip := det.Clamp(along/12, -1, 1) // a car that stands does not turn
	c.Heading = (c.Heading + det.Angle(float64(in.Turn*grip)*2.6*w.Seconds())).Wrap()
	c.Pos = c.Pos.MulAdd(c.Vel, w.Seconds())
	c.Pos = det.Vec2{X: det.Clamp(c.Pos.X, 1, width-1), Y: det.Clamp(c.Pos.Y, 1, height-1)}
	c.Ticks = min(c.Ticks+1, 1<<16)
	if c.Pos.Sub(track[c.Next]).Len() < 2*road {
		if c.Next = (c.Next + 1) % len(track); c.Next == 1 { // it was at the first
			c.Laps, c.Ticks = min(c.Laps+1, 1<<16), 0
			world.Emit(w, me, Lapped{})
		}
	}
}

type Lapped struct{} // happens once, and is heard once

func (*Lapped) Sync(*bits.Sync) {}

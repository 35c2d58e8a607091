// The rules: what there is, and what it does in a tick. They run on the server, and ahead of it
// on each player's machine, so that nobody waits for the network.
package main

import (
	"cmp"

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
	world.Class[Car](), world.Commands[Drive](),
	world.Event[Lapped](world.EventOptions{Delivery: world.Everyone}),
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
	Pos, Vel    det.Vec2
	Heading     det.Angle
	Next, Laps  int // the place that comes next, and how often it came to the first
	Ticks, Best int // of this lap, and of the fastest
}

func (c *Car) Sync(s *bits.Sync) {
	s.Vec2(&c.Pos, 0, width, 1.0/16384)
	s.Vec2(&c.Vel, -64, 64, 1.0/256)
	s.Angle(&c.Heading, 12)
	s.Int(&c.Next, 0, len(track)-1)
	for _, n := range []*int{&c.Laps, &c.Ticks, &c.Best} {
		s.Int(n, 0, 1<<16)
	}
}

func (c *Car) Hints(h *game.Hints) {
	h.Body(2)
	h.Heading(&c.Heading)
}

func (c *Car) Step(w *world.World, me world.ID) {
	in, ahead := world.Command[Drive](w, me), c.Heading.Vec()
	along, across := c.Vel.Dot(ahead), c.Vel.Dot(ahead.Perp())
	drag := 0.985
	if !onRoad(c.Pos) {
		drag = 0.94
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
		c.Next = (c.Next + 1) % len(track)
		if c.Next == 1 { // it was at the first
			c.Best = min(cmp.Or(c.Best, c.Ticks), c.Ticks)
			c.Laps, c.Ticks = min(c.Laps+1, 1<<16), 0
			world.Emit(w, world.None, Lapped{})
		}
	}
}

// onRoad says whether a place is near the line between two of the track.
func onRoad(at det.Vec2) bool {
	for i, a := range track {
		way := track[(i+1)%len(track)].Sub(a)
		part := det.Clamp(at.Sub(a).Dot(way)/way.LenSq(), 0, 1)
		if at.Sub(a.MulAdd(way, part)).LenSq() < road*road {
			return true
		}
	}
	return false
}

type Lapped struct{} // happens once, and is heard once

func (*Lapped) Sync(*bits.Sync) {}

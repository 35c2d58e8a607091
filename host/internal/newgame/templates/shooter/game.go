// The rules: on the server, and ahead of it on each player's machine, so that nobody waits.
package main

import (
	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/world"
)

const side, speed, shotSpeed, reload, repair = 48, 16, 40, 12, 90 // units, a second, and ticks
var middle = det.Vec2{X: side / 2, Y: side / 2}

var Game = world.Define("shooter",
	world.Class[Ship](), world.Class[Shot](), world.Commands[Fly](), world.Event[Bang](),
	world.OnJoin(func(w *world.World, p world.Player) {
		w.SetOwner(world.Spawn(w, Ship{Pos: spot(w.Rand())}), p)
	}),
)

func spot(r *det.Rand) det.Vec2 { return det.Vec2{X: r.Range(4, side-4), Y: r.Range(4, side-4)} }

type Fly struct { // what a player commands for a tick
	Way, Aim det.Vec2
	Fire     bool
}

func (c *Fly) Sync(s *bits.Sync) {
	s.Vec2(&c.Way, -1, 1, 1.0/64)
	s.Vec2(&c.Aim, -1, 1, 1.0/64)
	s.Bool(&c.Fire)
}

type Ship struct { // a player's; it waits between two shots, and longer when it was hit
	Pos, Vel     det.Vec2
	Aim          det.Angle
	Wait, Points int
}

func (p *Ship) Sync(s *bits.Sync) {
	s.Vec2(&p.Pos, 0, side, 1.0/256)
	s.Vec2(&p.Vel, -speed, speed, 1.0/64)
	s.Angle(&p.Aim, 10)
	s.Int(&p.Wait, 0, repair)
	s.Int(&p.Points, 0, 1<<20)
}

func (p *Ship) Hints(h *game.Hints)       { h.Body(2); h.Obstacle() }
func (p *Ship) Rewind(r *world.Rewinding) { r.Place(&p.Pos) } // shot at where it was seen

func (p *Ship) Step(w *world.World, me world.ID) {
	c := world.Command[Fly](w, me)
	if c.Aim != (det.Vec2{}) {
		p.Aim = c.Aim.Angle()
	}
	p.Vel = p.Vel.Lerp(c.Way.ClampLen(1).Mul(speed), 0.12)
	p.Pos = p.Pos.MulAdd(p.Vel, w.Seconds())
	p.Pos = det.Vec2{X: det.Clamp(p.Pos.X, 1, side-1), Y: det.Clamp(p.Pos.Y, 1, side-1)}
	if p.Wait = max(p.Wait-1, 0); c.Fire && p.Wait == 0 {
		p.Wait = reload
		shot := Shot{Pos: p.Pos.MulAdd(p.Aim.Vec(), 1.2), Vel: p.Aim.Vec().Mul(shotSpeed)}
		w.SetOwner(world.Spawn(w, shot), w.Owner(me))
		world.Emit(w, me, Bang{0.1})
	}
}

type Shot struct{ Pos, Vel det.Vec2 } // is the player's who fired it

func (p *Shot) Sync(s *bits.Sync) {
	s.Vec2(&p.Pos, -side, 2*side, 1.0/64)
	s.Vec2(&p.Vel, -shotSpeed, shotSpeed, 1.0/64)
}

func (p *Shot) Step(w *world.World, me world.ID) {
	p.Pos = p.Pos.MulAdd(p.Vel, w.Seconds())
	gone := p.Pos.Sub(middle).Len() > side
	shot := world.Shot{By: w.Owner(me), From: det.Vec3{X: p.Pos.X, Y: p.Pos.Y}}
	for id, ship := range world.All[Ship](w) {
		at, _ := w.Sees(shot, id) // where the player who fired saw it
		near := at.Sub(shot.From).LenSq() < 1.5 && w.Owner(id) != shot.By
		if near && !gone && w.Strike(shot, id) { // only the server knows who is hit
			ship.Pos, ship.Wait, gone = spot(w.Secret()), repair, true
			if _, winner := world.Owned[Ship](w, w.Owner(me)); winner != nil {
				winner.Points++
			}
			world.Emit(w, id, Bang{0.4})
		}
	}
	if gone {
		w.Remove(me)
	}
}

type Bang struct{ Seconds float64 } // happens once, and is heard once: a shot, or a hit

func (b *Bang) Sync(s *bits.Sync) { s.Float(&b.Seconds, 0, 1, 0.1) }

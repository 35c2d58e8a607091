// The rules: what there is, and what it does in a tick. They run on the server, and ahead of it
// on each player's machine, so that nobody waits for the network.
package main

import (
	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/world"
)

const side, speed, shotSpeed, reload, repair = 48, 16, 40, 12, 90 // units, a second, and ticks

var Game = world.Define("shooter",
	world.Class[Ship](), world.Class[Shot](), world.Commands[Fly](), world.Event[Bang](),
	world.OnJoin(func(w *world.World, p world.Player) {
		w.SetOwner(world.Spawn(w, Ship{Pos: somewhere(w.Rand())}), p)
	}),
)

func somewhere(r *det.Rand) det.Vec2 {
	return det.Vec2{X: r.Range(4, side-4), Y: r.Range(4, side-4)}
}

type Fly struct { // what a player commands for a tick
	Way, Aim det.Vec2
	Fire     bool
}

func (c *Fly) Sync(s *bits.Sync) {
	s.Vec2(&c.Way, -1, 1, 1.0/64)
	s.Vec2(&c.Aim, -1, 1, 1.0/64)
	s.Bool(&c.Fire)
}

// A Ship is a player's. It waits a while between two shots, and longer when it was shot down.
type Ship struct {
	Pos, Vel     det.Vec2
	Aim          det.Angle
	Wait, Points int
}

func (p *Ship) down() bool { return p.Wait > reload }

func (p *Ship) Sync(s *bits.Sync) {
	s.Vec2(&p.Pos, 0, side, 1.0/256)
	s.Vec2(&p.Vel, -speed, speed, 1.0/64)
	s.Angle(&p.Aim, 10)
	s.Int(&p.Wait, 0, repair)
	s.Int(&p.Points, 0, 1<<20)
}

func (p *Ship) Hints(h *game.Hints) { h.Body(2) }

func (p *Ship) Step(w *world.World, me world.ID) {
	if p.down() {
		if p.Wait--; !p.down() && w.Decides() { // only the server knows where it comes again
			p.Pos, p.Vel = somewhere(w.Secret()), det.Vec2{}
		}
		return
	}
	c := world.Command[Fly](w, me)
	if c.Aim != (det.Vec2{}) {
		p.Aim = c.Aim.Angle()
	}
	p.Vel = p.Vel.Lerp(c.Way.ClampLen(1).Mul(speed), 0.12)
	p.Pos = p.Pos.MulAdd(p.Vel, w.Seconds())
	p.Pos = det.Vec2{X: det.Clamp(p.Pos.X, 1, side-1), Y: det.Clamp(p.Pos.Y, 1, side-1)}
	if p.Wait = max(p.Wait-1, 0); c.Fire && p.Wait == 0 {
		p.Wait = reload
		shot := Shot{Pos: p.Pos.MulAdd(p.Aim.Vec(), 1.2), Vel: p.Aim.Vec().Mul(shotSpeed), Left: 45}
		w.SetOwner(world.Spawn(w, shot), w.Owner(me))
		world.Emit(w, me, Bang{})
	}
}

// A Shot flies until it hits someone else. It is the player's who fired it.
type Shot struct {
	Pos, Vel det.Vec2
	Left     int
}

func (p *Shot) Sync(s *bits.Sync) {
	s.Vec2(&p.Pos, -side, 2*side, 1.0/64)
	s.Vec2(&p.Vel, -shotSpeed, shotSpeed, 1.0/64)
	s.Int(&p.Left, 0, 45)
}

func (p *Shot) Step(w *world.World, me world.ID) {
	p.Pos = p.Pos.MulAdd(p.Vel, w.Seconds())
	for id, ship := range world.All[Ship](w) {
		near := ship.Pos.Sub(p.Pos).LenSq() < 1.5 && !ship.down() && w.Owner(id) != w.Owner(me)
		if near && p.Left > 0 && w.Decides() { // who is hit, too
			ship.Wait, p.Left = repair, 0
			world.Emit(w, id, Bang{Hit: true})
			for id, winner := range world.All[Ship](w) {
				if w.Owner(id) == w.Owner(me) {
					winner.Points++
				}
			}
		}
	}
	if p.Left = max(p.Left-1, 0); p.Left == 0 {
		w.Remove(me)
	}
}

// A Bang happens once, and is heard once: a shot, or one that hit.
type Bang struct{ Hit bool }

func (b *Bang) Sync(s *bits.Sync) { s.Bool(&b.Hit) }

package stack

import (
	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/world"
)

// The yard, in metres: solid ground at height 0, a wall on either side.
const (
	Width, Height = 64, 36
	Boxes         = 300
)

// Game is what to run.
var Game = world.Define("stack",
	world.Class[Box](world.ClassOptions{Limit: 4096}), world.State[Physics](),
	world.Commands[Push](),
	world.Event[Thud](world.EventOptions{Delivery: world.Unreliable, Weak: true}),
	world.OnStart(func(w *world.World) {
		for i := range Boxes {
			at := det.Vec2{X: 22 + float64(float64(i%10)*2.2), Y: 1 + float64(float64(i/10)*1.6)}
			at.X += w.Rand().Range(-0.3, 0.3)
			world.Spawn(w,
				Box{Pos: at, Turn: det.Angle(w.Rand().Range(-0.4, 0.4)),
					Size: 2 + w.Rand().IntN(3)})
		}
	}),
	world.OnJoin(func(w *world.World, p world.Player) {
		x := 4.0
		if p%2 == 0 {
			x = Width - 4
		}
		w.SetOwner(world.Spawn(w, Box{Pos: det.Vec2{X: x, Y: 2}, Size: 6}), p)
	}),
)

// Push is a player's command: where to drive their box, and whether to jump.
type Push struct {
	X    int8
	Jump bool `world:"edge"`
}

// Sync names the fields.
func (p *Push) Sync(s *bits.Sync) {
	s.Int8(&p.X, -1, 1)
	s.Bool(&p.Jump)
}

// Box is one body.
type Box struct {
	Pos, Vel det.Vec2
	Turn     det.Angle
	Spin     float64 // radians a second
	Size     int     // its half width, in quarters
	// for how many ticks it has hardly moved; at restful it sleeps until something hits it
	Rest int
}

// The resolutions are such that the least velocity still moves a box in a tick.
func (b *Box) Sync(s *bits.Sync) {
	s.Vec2In(&b.Pos, det.Vec2{X: -4, Y: -4}, det.Vec2{X: Width + 4, Y: 124}, 1.0/8192)
	s.Vec2(&b.Vel, -60, 60, 1.0/256)
	s.Angle(&b.Turn, 20)
	s.Float(&b.Spin, -30, 30, 1.0/256)
	s.Int(&b.Size, 1, 8)
	s.Int(&b.Rest, 0, restful)
}

// Half is half the width.
func (b *Box) Half() float64 { return float64(b.Size) / 4 }

// Hints smooth how it turns.
func (b *Box) Hints(h *game.Hints) { h.Heading(&b.Turn) }

const (
	gravity = 20.0
	restful = 30
)

// Step takes the player's command and gravity. What boxes do to each other is for Physics.
func (b *Box) Step(w *world.World, me world.ID) {
	if w.Owner(me) != world.Nobody {
		push := world.Command[Push](w, me)
		if push.X != 0 || push.Jump {
			b.Rest = 0
		}
		b.Vel.X = det.Clamp(b.Vel.X+float64(float64(push.X)*40*w.Seconds()), -14, 14)
		if push.Jump {
			b.Vel.Y = 12
		}
	}
	if b.Rest >= restful {
		b.Vel, b.Spin = det.Vec2{}, 0
		return
	}
	b.Vel.Y -= float64(gravity * w.Seconds())
}

// Thud is two boxes that hit each other hard.
type Thud struct {
	At   det.Vec2
	Loud int
}

// Sync names the fields.
func (t *Thud) Sync(s *bits.Sync) {
	s.Vec2(&t.At, -4, 124, 0.25)
	s.Int(&t.Loud, 0, 15)
}

// Physics moves the boxes, after each has had its step.
type Physics struct {
	Contacts int // of the last tick, for whoever is curious

	work *work `world:"derived"` // memory to work with: nothing in it outlives a tick
}

// Sync names the fields.
func (p *Physics) Sync(s *bits.Sync) { s.Int(&p.Contacts, 0, 1<<16) }

// Derive has nothing to do: Step makes what it needs.
func (p *Physics) Derive() {}

// CopyFrom keeps the memory to work with, as two worlds must not share it.
func (p *Physics) CopyFrom(from *Physics) { p.Contacts = from.Contacts }

// Step finds what touches, solves it, and moves everything.
func (p *Physics) Step(w *world.World, me world.ID) {
	if p.work == nil {
		p.work = new(work)
	}
	k := p.work
	k.gather(w)
	k.collide()
	k.solve(w.Seconds())
	p.Contacts = min(len(k.contacts), 1<<16)
	for i := range k.contacts {
		if c := &k.contacts[i]; c.first && c.impulse > 25 {
			world.Emit(w, k.bodies[c.a].id,
				Thud{At: c.at, Loud: int(det.Int32(min(c.impulse/10, 15)))})
		}
	}
	k.move(w.Seconds())
}

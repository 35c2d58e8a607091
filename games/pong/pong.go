package pong

import (
	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/world"
)

// The court, in units of about a ball's width, and the rules.
const (
	Width, Height = 64, 36
	Reach         = 4  // a paddle's half height
	Inset         = 3  // how far a paddle stands from its goal
	Win           = 11 // points

	paddleSpeed, serveSpeed, topSpeed = 30, 24, 60 // units a second
)

// Game is what to run.
var Game = world.Define("pong",
	world.Class[Paddle](), world.Class[Ball](), world.State[Score](),
	world.Commands[Move](),
	world.Event[Bounce](world.EventOptions{Delivery: world.Unreliable}),
	world.Event[Goal](world.EventOptions{Delivery: world.Everyone}),
	world.Action(take),
	world.Action(count),
	world.OnStart(func(w *world.World) {
		world.Spawn(w, Paddle{X: Inset, Y: Height / 2})
		world.Spawn(w, Paddle{X: Width - Inset, Y: Height / 2})
		world.Spawn(w, newBall())
	}),
	world.OnJoin(func(w *world.World, p world.Player) { hand(w, world.Nobody, p) }),
	world.OnLeave(func(w *world.World, p world.Player) { hand(w, p, world.Nobody) }),
)

// hand gives a paddle from one player to another.
func hand(w *world.World, from, to world.Player) {
	for id := range world.All[Paddle](w) {
		if w.Owner(id) == from {
			world.Act(w, id, grip{from, to})
			return
		}
	}
}

// A grip is a paddle's change of hands. The paddle may be on another server, where somebody else
// was quicker.
type grip struct{ From, To world.Player }

// Sync names the fields.
func (g *grip) Sync(s *bits.Sync) {
	bits.Integer(s, &g.From, 0, 1<<16-1)
	bits.Integer(s, &g.To, 0, 1<<16-1)
}

func take(w *world.World, id, _ world.ID, g *grip) {
	if w.Owner(id) == g.From {
		w.SetOwner(id, g.To)
	} else {
		hand(w, g.From, g.To)
	}
}

// Move is a player's command: down, stay or up.
type Move struct{ Y int8 }

// Sync names the fields.
func (m *Move) Sync(s *bits.Sync) { s.Int8(&m.Y, -1, 1) }

// Paddle is one side's bat.
type Paddle struct{ X, Y float64 }

// Sync names the fields.
func (p *Paddle) Sync(s *bits.Sync) {
	s.Float(&p.X, 0, Width, 1)
	s.Float(&p.Y, 0, Height, 1.0/256)
}

// Step follows the player, or if there is none, the ball.
func (p *Paddle) Step(w *world.World, me world.ID) {
	way := float64(world.Command[Move](w, me).Y)
	if w.Owner(me) == world.Nobody {
		for _, b := range world.All[Ball](w) {
			if off := b.Pos.Y - p.Y; det.Abs(off) > 1 {
				way = det.Clamp(off/4, -0.7, 0.7)
			}
		}
	}
	p.Y = det.Clamp(p.Y+float64(way*paddleSpeed*w.Seconds()), Reach, Height-Reach)
}

// Hints say where it is, and that it is what a player moves.
func (p *Paddle) Hints(h *game.Hints) {
	h.Place(&p.Y)
	h.Body(2 * Reach)
}

// Ball is what it is all about.
type Ball struct {
	Pos, Vel det.Vec2
	Wait     int // ticks until it is served
}

// Sync names the fields.
func (b *Ball) Sync(s *bits.Sync) {
	s.Vec2(&b.Pos, -2, Width+2, 1.0/256)
	s.Vec2(&b.Vel, -topSpeed, topSpeed, 1.0/256)
	s.Int(&b.Wait, 0, 120)
}

func newBall() Ball { return Ball{Pos: det.Vec2{X: Width / 2, Y: Height / 2}, Wait: 60} }

// Step flies, bounces and scores.
func (b *Ball) Step(w *world.World, me world.ID) {
	if b.Wait > 1 || b.Wait == 1 && !w.Decides() {
		b.Wait = max(b.Wait-1, 1)
		return
	}
	if b.Wait == 1 {
		b.Wait, b.Vel = 0, det.Angle(w.Secret().Range(-0.6, 0.6)).Vec().Mul(serveSpeed)
		if w.Secret().Chance(0.5) {
			b.Vel.X = -b.Vel.X
		}
		return
	}
	b.Pos = b.Pos.MulAdd(b.Vel, w.Seconds())
	if b.Pos.Y < 0 && b.Vel.Y < 0 || b.Pos.Y > Height && b.Vel.Y > 0 {
		b.Vel.Y = -b.Vel.Y
		world.Emit(w, me, Bounce{})
	}
	for _, p := range world.All[Paddle](w) {
		off := b.Pos.Sub(det.Vec2{X: p.X, Y: p.Y})
		toward := (b.Vel.X < 0) == (p.X < Width/2)
		if toward && det.Abs(off.X) < 0.75 && det.Abs(off.Y) < Reach+0.5 {
			vel := det.Vec2{X: float64(-1.06 * b.Vel.X), Y: b.Vel.Y + float64(4*off.Y)}
			b.Vel = vel.ClampLen(topSpeed)
			world.Emit(w, me, Bounce{})
		}
	}
	if b.Pos.X < 0 || b.Pos.X > Width {
		world.Act(w, world.StateID[Score](w), point{Right: b.Pos.X < 0})
		*b = newBall()
	}
}

// Score is the state of the match.
type Score struct{ Left, Right int }

// Sync names the fields.
func (s *Score) Sync(b *bits.Sync) {
	b.Int(&s.Left, 0, Win)
	b.Int(&s.Right, 0, Win)
}

// A point is for the right side, or else the left.
type point struct{ Right bool }

// Sync names the fields.
func (p *point) Sync(s *bits.Sync) { s.Bool(&p.Right) }

func count(w *world.World, _, _ world.ID, p *point) {
	s := world.StateOf[Score](w)
	if s.Left == Win || s.Right == Win {
		*s = Score{} // a new match
	}
	if p.Right {
		s.Right++
	} else {
		s.Left++
	}
	world.Emit(w, world.None, Goal{Right: p.Right, Won: max(s.Left, s.Right) == Win})
}

// Bounce is a click of the ball.
type Bounce struct{}

// Sync names the fields.
func (*Bounce) Sync(*bits.Sync) {}

// Goal is a point for the right side, or else the left, and perhaps the last one.
type Goal struct{ Right, Won bool }

// Sync names the fields.
func (g *Goal) Sync(s *bits.Sync) {
	s.Bool(&g.Right)
	s.Bool(&g.Won)
}

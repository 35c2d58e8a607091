// Package tanks is a game by someone else: tanks that drive about in the dust and shoot.
package tanks

import (
	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/draw"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/world"
)

const width, height, speed, shellSpeed = 64, 36, 12, 40

var rules = world.Define("tanks",
	world.Class[Tank](), world.Class[Shell](), world.State[Round](), world.Local[Dust](),
	world.Class[Crate](), world.Commands[Drive](), world.Event[Hit](),
	world.OnStart(func(w *world.World) {
		for range 8 {
			world.Spawn(w, Crate{Pos: somewhere(w), Load: 5})
		}
	}),
	world.OnJoin(func(w *world.World, p world.Player) {
		w.SetOwner(world.Spawn(w, Tank{Pos: somewhere(w)}), p)
	}),
)

func somewhere(w *world.World) det.Vec2 {
	return det.Vec2{X: w.Rand().Range(4, width-4), Y: w.Rand().Range(4, height-4)}
}

// Title is all that a program must know of the game.
var Title = &game.Title{
	Game: rules, About: "tanks in the dust; arrows drive, space fires", Players: 3,
	Sight:   game.Sight{Reach: 40},
	Queries: queries, Uploads: uploads,
	Bot: game.Bots(func(seed uint64) func(w *world.World, me world.Player) Drive {
		return func(w *world.World, me world.Player) Drive {
			t := seed + uint64(w.Tick())/30
			return Drive{X: int(t%3) - 1, Y: int(t/3%3) - 1, Fire: w.Tick()%20 == 0}
		}
	}),
	Screen: game.Screen{Draw: show},
	Control: game.Controls(func(in *game.Input) Drive {
		return Drive{X: way(in.Left, in.Right), Y: way(in.Down, in.Up), Fire: in.Fire}
	}),
}

// count says how many tanks there are, to those who have not joined.
func way(less, more bool) (n int) {
	if less {
		n--
	}
	if more {
		n++
	}
	return n
}

func show(s *draw.Surface, f *game.Frame) {
	w := f.World
	s.Clear(draw.RGB(0x1a1610))
	s.Camera(draw.Camera{X: width / 2, Y: height / 2, Width: width, Height: height, Up: true})
	for _, d := range world.All[Dust](w) {
		s.Circle(d.Pos.X, d.Pos.Y, 0.6, draw.RGB(0xc0a880).Alpha(float64(d.Left)/60))
	}
	for id, o := range world.All[Shell](w) {
		at := o.Pos.MulAdd(o.Vel, f.Ahead(id))
		s.Circle(at.X, at.Y, 0.3, draw.RGB(0xfff0a0))
	}
	for _, c := range world.All[Crate](w) {
		s.Box(c.Pos.X, c.Pos.Y, 2, 2, 0, draw.RGB(0x8a6a45))
	}
	for id, t := range world.All[Tank](w) {
		c := draw.RGB(0x8fae6b)
		if w.Owner(id) == f.Me {
			c = draw.RGB(0xffb35c)
		}
		s.Box(t.Pos.X, t.Pos.Y, 2, 1.6, float64(t.Turret), c)
	}
}

// Drive is a player's command.
type Drive struct {
	X, Y int
	Fire bool
}

func (d *Drive) Sync(s *bits.Sync) {
	s.Int(&d.X, -1, 1)
	s.Int(&d.Y, -1, 1)
	s.Bool(&d.Fire)
}

// Round counts hits.
type Round struct{ Hits int }

func (r *Round) Sync(s *bits.Sync) { s.Int(&r.Hits, 0, 1<<20) }

// Hit says that a tank was hit.
type Hit struct{ Pos det.Vec2 }

func (h *Hit) Sync(s *bits.Sync) { s.Vec2(&h.Pos, 0, width, 1.0/16) }

// Tank is what a player drives.
type Tank struct {
	Pos    det.Vec2
	Turret det.Angle
	Reload int
}

func (t *Tank) Sync(s *bits.Sync) {
	s.Vec2(&t.Pos, 0, width, 1.0/256)
	s.Angle(&t.Turret, 10)
	s.Int(&t.Reload, 0, 60)
}

func (t *Tank) Hints(h *game.Hints) {
	h.Body(2)
}

func (t *Tank) Step(w *world.World, me world.ID) {
	c := world.Command[Drive](w, me)
	if c.X != 0 || c.Y != 0 {
		to := det.Vec2{X: float64(c.X), Y: float64(c.Y)}
		t.Turret = to.Angle()
		t.Pos = t.Pos.MulAdd(to, float64(speed*w.Seconds()))
		t.Pos = det.Vec2{X: min(max(t.Pos.X, 1), width-1), Y: min(max(t.Pos.Y, 1), height-1)}
		world.Spawn(w, Dust{Pos: t.Pos.MulAdd(to, -2), Left: 30}) // behind it
	}
	if t.Reload = max(t.Reload-1, 0); c.Fire && t.Reload == 0 {
		t.Reload = 30
		w.SetOwner(world.Spawn(w, Shell{Pos: t.Pos, Vel: t.Turret.Vec().Mul(shellSpeed), Left: 60}), w.Owner(me))
	}
}

// Shell flies until it hits someone. It is the tank's that fired it.
type Shell struct {
	Pos, Vel det.Vec2
	Left     int
}

func (s *Shell) Sync(b *bits.Sync) {
	b.Vec2(&s.Pos, -8, width+8, 1.0/64)
	b.Vec2(&s.Vel, -shellSpeed, shellSpeed, 1.0/64)
	b.Int(&s.Left, 0, 60)
}

func (s *Shell) Step(w *world.World, me world.ID) {
	s.Pos = s.Pos.MulAdd(s.Vel, w.Seconds())
	for id, t := range world.All[Tank](w) {
		if w.Owner(id) != w.Owner(me) && t.Pos.Sub(s.Pos).Len() < 1 && w.Decides() {
			world.StateOf[Round](w).Hits++
			world.Emit(w, id, Hit{Pos: t.Pos})
			s.Left = 1
		}
	}
	out := s.Pos.X < 0 || s.Pos.X > width || s.Pos.Y < 0 || s.Pos.Y > height
	if s.Left--; s.Left <= 0 || out {
		w.Remove(me)
	}
}

// Dust is only on clients.
type Dust struct {
	Pos  det.Vec2
	Left int
}

func (d *Dust) Step(w *world.World, me world.ID) {
	if d.Left--; d.Left <= 0 {
		w.Remove(me)
	}
}

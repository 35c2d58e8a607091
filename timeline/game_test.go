package timeline_test

import (
	"testing"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/timeline"
	"github.com/coeval-dev/coeval/world"
)

// The game of the tests: runners shoot at each other and take crates, of which there are too few.
// What one does decides what the next can do.

type runner struct {
	Pos    det.Vec2
	Aim    det.Angle
	Health int
	Crates int
	Luck   int `world:"server"`
}

func (r *runner) Sync(s *bits.Sync) {
	s.Vec2(&r.Pos, -100, 100, 1.0/64)
	s.Angle(&r.Aim, 10)
	s.Int(&r.Health, 0, 100)
	s.Int(&r.Crates, 0, 1000)
}

func (r *runner) Step(w *world.World, me world.ID) {
	c := world.Command[act](w, me)
	r.Aim = c.Aim
	step := det.Vec2{X: float64(c.X), Y: float64(c.Y)}
	r.Pos = r.Pos.MulAdd(step, 0.25).ClampLen(40)
	if c.X != 0 || c.Y != 0 {
		world.Emit(w, me, footstep{At: r.Pos})
	}
	if c.Fire {
		world.Spawn(w, bolt{Pos: r.Pos, Vel: r.Aim.Vec(), Left: 20, From: uint64(me)})
		world.Emit(w, me, fired{At: r.Pos})
	}
	if c.Grab {
		for id := range world.All[crate](w) {
			if !w.Removing(id) {
				w.Remove(id)
				r.Crates++
				r.Luck += w.Rand().IntN(100)
				world.Emit(w, me, grabbed{Lucky: r.Luck%2 == 0})
				break
			}
		}
	}
	if broken && w.Tick() > 20 {
		wrong++
		r.Health = wrong % 100
	}
}

// broken makes the game one that is not deterministic.
var (
	broken bool
	wrong  int
)

type bolt struct {
	Pos, Vel det.Vec2
	Left     int
	From     uint64
}

func (b *bolt) Sync(s *bits.Sync) {
	s.Vec2(&b.Pos, -100, 100, 1.0/64)
	s.Vec2(&b.Vel, -4, 4, 1.0/256)
	s.Int(&b.Left, 0, 20)
	s.Uvarint(&b.From)
}

func (b *bolt) Step(w *world.World, me world.ID) {
	b.Pos = b.Pos.Add(b.Vel).ClampLen(90)
	if b.Left--; b.Left <= 0 {
		w.Remove(me)
		return
	}
	for id, r := range world.All[runner](w) {
		if uint64(id) == b.From || r.Pos.Sub(b.Pos).LenSq() > 9 {
			continue
		}
		w.Remove(me)
		r.Health = max(r.Health-40, 0)
		world.Emit(w, id, hit{Left: r.Health})
		if r.Health == 0 {
			r.Health, r.Pos = 100, det.Vec2{X: w.Rand().Range(-20, 20), Y: w.Rand().Range(-20, 20)}
		}
		return
	}
}

type crate struct{ Pos det.Vec2 }

func (c *crate) Sync(s *bits.Sync) { s.Vec2(&c.Pos, -100, 100, 0.25) }

// A depot makes a crate now and then.
type depot struct{ Made int }

func (d *depot) Sync(s *bits.Sync) { s.Int(&d.Made, 0, 1<<20) }

func (d *depot) Step(w *world.World, me world.ID) {
	if w.Tick()%7 == 0 && world.Count[crate](w) < 3 {
		d.Made++
		world.Spawn(w, crate{Pos: det.Vec2{X: w.Rand().Range(-20, 20)}})
	}
}

type act struct {
	X, Y int8
	Aim  det.Angle
	Fire bool `world:"edge"`
	Grab bool `world:"edge"`
}

func (c *act) Sync(s *bits.Sync) {
	s.Int8(&c.X, -1, 1)
	s.Int8(&c.Y, -1, 1)
	s.Angle(&c.Aim, 10)
	s.Bool(&c.Fire)
	s.Bool(&c.Grab)
}

type fired struct{ At det.Vec2 }

func (f *fired) Sync(s *bits.Sync) { s.Vec2(&f.At, -100, 100, 1.0/64) }

type hit struct{ Left int }

func (h *hit) Sync(s *bits.Sync) { s.Int(&h.Left, 0, 100) }

type grabbed struct{ Lucky bool }

func (g *grabbed) Sync(s *bits.Sync) { s.Bool(&g.Lucky) }

type footstep struct{ At det.Vec2 }

func (f *footstep) Sync(s *bits.Sync) { s.Vec2(&f.At, -100, 100, 1.0/64) }

var game = world.Define("crates",
	world.State[depot](), world.Class[runner](), world.Class[bolt](world.ClassOptions{Limit: 500}),
	world.Class[crate](), world.Commands[act](),
	world.Event[fired](), world.Event[hit](), world.Event[grabbed](),
	world.Event[footstep](world.EventOptions{Weak: true, Delivery: world.Unreliable}),
	world.OnStart(func(w *world.World) {
		world.Spawn(w, crate{})
		world.Spawn(w, crate{Pos: det.Vec2{X: 5}})
	}),
	world.OnJoin(func(w *world.World, p world.Player) {
		w.SetOwner(world.Spawn(w, runner{Pos: det.Vec2{X: float64(p) * 4}, Health: 100}), p)
	}))

var margins = []timeline.Margin{
	{Class: "runner", Field: "Pos", By: 1}, {Class: "footstep", Field: "At", By: 1}}

func begin(t testing.TB) *world.World {
	t.Helper()
	w, err := game.New(world.Settings{Seed: 7, Secret: 9})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// image gives the image of a command.
func image(a act) []int32 {
	in := game.NewInputs()
	if err := world.Give(in, 1, a); err != nil {
		panic(err)
	}
	out := make([]int32, len(game.Commands().Slots))
	in.Image(1, out)
	return out
}

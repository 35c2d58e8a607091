package predict

import (
	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/world"
)

// The yard is a small shooter: walkers push each other, fire slow shells that knock others about,
// and a flock of birds flies by itself.
var yard = world.Define("yard",
	world.Class[walker](), world.Class[shell](), world.Class[bird](), world.State[tally](),
	world.Local[flash](world.ClassOptions{Limit: 10000}),
	world.Commands[drive](), world.Event[fired](), world.Event[hit](),
	world.Event[spark](world.EventOptions{Delivery: world.Unreliable}),
	world.Event[crowned](world.EventOptions{Delivery: world.Saved}),
	world.OnStart(func(w *world.World) {
		for range 12 {
			r := w.Rand()
			world.Spawn(w,
				bird{Pos: det.Vec2{X: r.Range(10, 90), Y: r.Range(10, 90)},
					Vel: r.Angle().Vec().Mul(8)})
		}
	}),
	world.OnJoin(func(w *world.World, p world.Player) {
		r := w.Rand()
		w.SetOwner(world.Spawn(w,
			walker{Pos: det.Vec2{X: r.Range(20, 80), Y: r.Range(20, 80)}, Health: 100}), p)
	}),
)

const yardSide = 100

type drive struct {
	X, Y int8
	Aim  det.Angle
	Fire bool `world:"edge"`
}

func (d *drive) Sync(s *bits.Sync) {
	s.Int8(&d.X, -1, 1)
	s.Int8(&d.Y, -1, 1)
	s.Angle(&d.Aim, 10)
	s.Bool(&d.Fire)
}

type walker struct {
	Pos, Vel det.Vec2
	Aim      det.Angle
	Health   int
	Ready    int
}

func (f *walker) Sync(s *bits.Sync) {
	s.Vec2(&f.Pos, 0, yardSide, 1.0/1024)
	s.Vec2(&f.Vel, -32, 32, 1.0/256)
	s.Angle(&f.Aim, 10)
	s.Int(&f.Health, 0, 100)
	s.Int(&f.Ready, 0, 60)
}

func (f *walker) Step(w *world.World, me world.ID) {
	cmd := world.Command[drive](w, me)
	wish := det.Vec2{X: float64(cmd.X), Y: float64(cmd.Y)}.ClampLen(1).Mul(9)
	f.Vel = f.Vel.Add(wish.Sub(f.Vel).ClampLen(1))
	f.Pos = f.Pos.MulAdd(f.Vel, w.Seconds())
	for id, o := range world.All[walker](w) {
		if id == me {
			continue
		}
		if d := f.Pos.Sub(o.Pos); d.LenSq() < 1 && d.LenSq() > 0 {
			f.Pos = f.Pos.Add(d.Mul(0.25))
		}
	}
	f.Pos.X, f.Pos.Y = det.Clamp(f.Pos.X, 1, yardSide-1), det.Clamp(f.Pos.Y, 1, yardSide-1)
	f.Aim = cmd.Aim
	f.Ready = max(0, f.Ready-1)
	if cmd.Fire && f.Ready == 0 {
		f.Ready = 15
		if world.Spawn(w, flash{By: me, Tick: w.Tick()}) != world.None ||
			world.Count[flash](w) != 0 {
			f.Health = 1 // it must not know, and would not be predicted
		}
		id := world.Spawn(w,
			shell{Pos: f.Pos.MulAdd(f.Aim.Vec(), 1.1), Vel: f.Aim.Vec().Mul(20), Life: 90})
		world.Emit(w, me, fired{})
		_ = id
	}
}

// A flash is seen on clients alone.
type flash struct {
	By   world.ID
	Tick world.Tick
	Age  world.Tick
}

func (f *flash) Step(w *world.World, me world.ID) { f.Age++ }

type shell struct {
	Pos, Vel det.Vec2
	Life     int
}

func (b *shell) Sync(s *bits.Sync) {
	s.Vec2(&b.Pos, -2, yardSide+2, 1.0/256)
	s.Vec2(&b.Vel, -32, 32, 1.0/256)
	s.Int(&b.Life, 0, 120)
}

func (b *shell) Step(w *world.World, me world.ID) {
	b.Pos = b.Pos.MulAdd(b.Vel, w.Seconds())
	b.Life--
	if b.Life <= 0 || b.Pos.X < 0 || b.Pos.Y < 0 || b.Pos.X > yardSide || b.Pos.Y > yardSide {
		w.Remove(me)
		world.Emit(w, me, spark{})
		return
	}
	for id, o := range world.All[walker](w) {
		if o.Pos.Sub(b.Pos).LenSq() < 0.6 {
			o.Vel = o.Vel.Add(b.Vel.Mul(0.3)).ClampLen(30)
			o.Health = max(0, o.Health-10)
			if o.Health == 0 {
				o.Health = 100
				world.StateOf[tally](w).Falls++
				world.Emit(w, world.None, crowned{})
			}
			world.Emit(w, id, hit{})
			w.Remove(me)
			return
		}
	}
}

// A bird looks at nothing but itself.
type bird struct{ Pos, Vel det.Vec2 }

func (b *bird) Sync(s *bits.Sync) {
	s.Vec2(&b.Pos, 0, yardSide, 1.0/256)
	s.Vec2(&b.Vel, -32, 32, 1.0/256)
}

func (b *bird) Step(w *world.World, me world.ID) {
	if w.Rand().Chance(0.02) {
		b.Vel = w.Rand().Angle().Vec().Mul(8)
	}
	b.Pos = b.Pos.MulAdd(b.Vel, w.Seconds())
	if b.Pos.X < 5 || b.Pos.X > yardSide-5 {
		b.Vel.X = -b.Vel.X
	}
	if b.Pos.Y < 5 || b.Pos.Y > yardSide-5 {
		b.Vel.Y = -b.Vel.Y
	}
	b.Pos.X, b.Pos.Y = det.Clamp(b.Pos.X, 5, yardSide-5), det.Clamp(b.Pos.Y, 5, yardSide-5)
}

type tally struct{ Falls int }

func (t *tally) Sync(s *bits.Sync) { s.Int(&t.Falls, 0, 1<<20) }

type fired struct{}

func (*fired) Sync(*bits.Sync) {}

type hit struct{}

func (*hit) Sync(*bits.Sync) {}

type spark struct{}

func (*spark) Sync(*bits.Sync) {}

type crowned struct{}

func (*crowned) Sync(*bits.Sync) {}

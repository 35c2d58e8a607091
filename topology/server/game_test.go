package server

import (
	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/interest"
	"github.com/coeval-dev/coeval/world"
)

// The yard is a game for tests: walkers that do what they are told, birds that fly by chance,
// stones that do nothing, and events of each kind.

type walker struct {
	Pos   det.Vec2
	Steps int // ticks with a command that moved it
	Shots int // edges that it saw
}

func (x *walker) Sync(s *bits.Sync) {
	s.Vec2(&x.Pos, -2000, 2000, 1.0/16)
	s.Int(&x.Steps, 0, 1<<20)
	s.Int(&x.Shots, 0, 1<<20)
}

// Rewind lets it be shot at where it was seen.
func (x *walker) Rewind(r *world.Rewinding) { r.Place(&x.Pos) }

func (x *walker) Step(w *world.World, me world.ID) {
	c := world.Command[walk](w, me)
	if c.X != 0 || c.Y != 0 {
		x.Steps++
	}
	x.Pos.X = det.Clamp(x.Pos.X+float64(c.X)/4, -2000, 2000)
	x.Pos.Y = det.Clamp(x.Pos.Y+float64(c.Y)/4, -2000, 2000)
	if c.Fire {
		x.Shots++
		t := world.StateOf[tally](w)
		t.Shots++
		world.Emit(w, world.None, planted{Number: t.Shots, By: int(w.Owner(me))})
		world.Emit(w, me, fired{Number: x.Shots})
		world.Spawn(w, bird{Pos: x.Pos, Life: 90})
	}
}

type bird struct {
	Pos, Vel det.Vec2
	Life     int
}

func (x *bird) Sync(s *bits.Sync) {
	s.Vec2(&x.Pos, -2000, 2000, 1.0/16)
	s.Vec2(&x.Vel, -8, 8, 1.0/16)
	s.Int(&x.Life, 0, 1<<10)
}

func (x *bird) Step(w *world.World, me world.ID) {
	if w.Rand().Chance(0.1) {
		x.Vel = det.Vec2{X: w.Rand().Range(-4, 4), Y: w.Rand().Range(-4, 4)}
		world.Emit(w, me, spark{})
	}
	x.Pos = x.Pos.Add(x.Vel)
	x.Pos = det.Vec2{X: det.Clamp(x.Pos.X, -2000, 2000), Y: det.Clamp(x.Pos.Y, -2000, 2000)}
	if x.Life > 0 {
		if x.Life--; x.Life == 0 {
			w.Remove(me)
		}
	}
}

type stone struct {
	Pos  det.Vec2
	Kind int
}

func (x *stone) Sync(s *bits.Sync) {
	s.Vec2(&x.Pos, -2000, 2000, 1.0/16)
	s.Int(&x.Kind, 0, 255)
}

type tally struct{ Shots, Birds, Stones int }

func (x *tally) Sync(s *bits.Sync) {
	s.Int(&x.Shots, 0, 1<<20)
	s.Int(&x.Birds, 0, 1<<12)
	s.Int(&x.Stones, 0, 1<<16)
}

type walk struct {
	X, Y int8
	Fire bool `world:"edge"`
}

func (c *walk) Sync(s *bits.Sync) {
	s.Int8(&c.X, -1, 1)
	s.Int8(&c.Y, -1, 1)
	s.Bool(&c.Fire)
}

type planted struct{ Number, By int }

func (e *planted) Sync(s *bits.Sync) {
	s.Int(&e.Number, 0, 1<<20)
	s.Int(&e.By, 0, 1<<16-1)
}

type fired struct{ Number int }

func (e *fired) Sync(s *bits.Sync) { s.Int(&e.Number, 0, 1<<20) }

type spark struct{}

func (*spark) Sync(*bits.Sync) {}

// apart is how far from each other walkers begin.
var yard = world.Define("yard",
	world.Class[walker](), world.Class[bird](), world.Class[stone](), world.State[tally](),
	world.Commands[walk](),
	world.Event[planted](world.EventOptions{Delivery: world.Saved}), world.Event[fired](),
	world.Event[spark](world.EventOptions{Delivery: world.Unreliable}),
	world.OnStart(func(w *world.World) {
		t := world.StateOf[tally](w)
		for i := range t.Birds {
			world.Spawn(w, bird{Pos: det.Vec2{X: float64(i%20) * 10, Y: float64(i/20) * 10}})
		}
		for i := range t.Stones {
			world.Spawn(w,
				stone{Pos: det.Vec2{X: float64(i%100) * 4, Y: float64(i/100) * 4}, Kind: i & 255})
		}
	}),
	world.OnJoin(func(w *world.World, p world.Player) {
		w.SetOwner(world.Spawn(w, walker{Pos: det.Vec2{X: float64(p-1) * 40}}), p)
	}),
)

// yardSettings makes levels: "birds:stones", where the data, if there is any, must say the same.
func yardSettings(birds, stones int) func(Level) (world.Settings, error) {
	return func(l Level) (world.Settings, error) {
		t := &tally{Birds: birds, Stones: stones}
		if len(l.Data) > 0 {
			t.Stones = int(l.Data[0])
		}
		return world.Settings{States: []bits.Syncer{t}}, nil
	}
}

// yardTitle is the yard with so many birds and stones, in which players are shown what is near.
func yardTitle(birds, stones int, radius float64) *game.Title {
	t := &game.Title{Game: yard, Levels: game.Levels{Settings: yardSettings(birds, stones)}}
	if radius > 0 {
		t.Sight.Rules = func() (players, spectators *interest.Rules) {
			return &interest.Rules{
				Sources: []interest.Source{
					&interest.Owned{Weight: 4}, &interest.Radius{Enter: radius}}}, nil
		}
	}
	return t
}

// near is the yard of most tests.
func near(radius float64) *game.Title { return yardTitle(10, 50, radius) }

func (x *stone) Traits(*world.World, world.ID) interest.Traits {
	return interest.Traits{Pos: det.Vec3{X: x.Pos.X, Y: x.Pos.Y}, Importance: 0.2}
}

func (x *walker) Look(*world.World, world.ID) interest.Observer {
	return interest.Observer{Pos: det.Vec3{X: x.Pos.X, Y: x.Pos.Y}}
}

package turns_test

import (
	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/world"
)

// walk is what a player of the game for these tests commands.
type walk struct {
	X, Y int8
	Aim  det.Angle
	Fire bool   `world:"edge"`
	Verb uint8  `world:"edge"`
	Text string `world:"edge"`
}

func (c *walk) Sync(s *bits.Sync) {
	s.Int8(&c.X, -7, 7)
	s.Int8(&c.Y, -7, 7)
	s.Angle(&c.Aim, 13)
	s.Bool(&c.Fire)
	s.Uint8(&c.Verb, 0, 3)
	if c.Verb == 1 {
		s.String(&c.Text, 20)
	}
}

type body struct {
	X, Y, Shots, Words int32
	Aim                det.Angle
}

func (b *body) Sync(s *bits.Sync) {
	s.Int32(&b.X, -1<<20, 1<<20)
	s.Int32(&b.Y, -1<<20, 1<<20)
	s.Int32(&b.Shots, 0, 1<<20)
	s.Int32(&b.Words, 0, 1<<20)
	s.Angle(&b.Aim, 13)
}

func (b *body) Step(w *world.World, me world.ID) {
	c := world.Command[walk](w, me)
	b.X = (b.X*3 + int32(c.X)) % 100000
	b.Y = (b.Y*5 + int32(c.Y) + b.X) % 100000
	b.Aim = c.Aim
	if c.Fire {
		b.Shots++
	}
	world.Spawn(w, spark{Tick: w.Tick()})
	b.Words += int32(len(c.Text))
}

// spark is there on each machine alone: one of each body in each tick, for three ticks.
type spark struct {
	Tick world.Tick
	Age  int
}

func (s *spark) Step(w *world.World, me world.ID) {
	if s.Age++; s.Age == 3 {
		w.Remove(me)
	}
}

var rules = world.Define("turns", world.Class[body](), world.Commands[walk](), world.Local[spark](),
	world.OnJoin(func(w *world.World, p world.Player) {
		w.SetOwner(world.Spawn(w, body{X: int32(p)}), p)
	}),
	world.OnLeave(func(w *world.World, p world.Player) {
		if id, b := world.Owned[body](w, p); b != nil {
			w.Remove(id)
		}
	}))

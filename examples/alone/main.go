// Command alone runs a game by itself: no network, no screen, as fast as it goes. This is the base
// case. Every other example runs the same kind of game in another shape.
package main

import (
	"context"
	"fmt"
	"log"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/topology/solo"
	"github.com/coeval-dev/coeval/world"
)

// Ball is a thing in the game. Sync names its fields, each with its range and its finest step.
type Ball struct{ Pos, Vel det.Vec2 }

func (b *Ball) Sync(s *bits.Sync) {
	s.Vec2(&b.Pos, 0, 100, 1.0/256)
	s.Vec2(&b.Vel, -100, 100, 1.0/256)
}

// Step is what it does in a tick.
func (b *Ball) Step(w *world.World, me world.ID) {
	b.Vel.Y -= float64(20 * w.Seconds())
	b.Pos = b.Pos.MulAdd(b.Vel, w.Seconds())
	if b.Pos.Y < 0 {
		b.Pos.Y, b.Vel.Y = -b.Pos.Y, float64(-0.9*b.Vel.Y)
		world.StateOf[Count](w).Bounces++
	}
}

// Count is a state: there is one of it.
type Count struct{ Bounces int }

func (c *Count) Sync(s *bits.Sync) { s.Int(&c.Bounces, 0, 1<<16) }

var rules = world.Define("bounce", world.Class[Ball](), world.State[Count](),
	world.OnStart(func(w *world.World) {
		world.Spawn(w, Ball{Pos: det.Vec2{X: 50, Y: 40}})
	}),
)

func main() {
	run, err := solo.New(rules, solo.Options{Ticks: 600}) // ten seconds, at 60 ticks a second
	if err != nil {
		log.Fatal(err)
	}
	if err := run.Fast(context.Background()); err != nil {
		log.Fatal(err)
	}
	run.View(func(w *world.World) {
		fmt.Printf("after %d ticks the ball has bounced %d times; the world's hash is %x\n",
			w.Tick(), world.StateOf[Count](w).Bounces, w.Hash())
	})
}

package world_test

import (
	"fmt"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/world"
)

type Tank struct {
	Pos    det.Vec2
	Turret det.Angle
}

func (t *Tank) Sync(s *bits.Sync) {
	s.Vec2(&t.Pos, 0, 1024, 1.0/64)
	s.Angle(&t.Turret, 10)
}

func (t *Tank) Step(w *world.World, me world.ID) {
	cmd := world.Command[Drive](w, me)
	t.Turret = cmd.Aim
	t.Pos = t.Pos.MulAdd(t.Turret.Vec(), float64(cmd.Gas*30*w.Seconds()))
	if cmd.Fire {
		world.Spawn(w, Shell{Pos: t.Pos, Vel: t.Turret.Vec().Mul(60)})
		world.Emit(w, me, Fired{})
	}
}

type Shell struct{ Pos, Vel det.Vec2 }

func (b *Shell) Sync(s *bits.Sync) {
	s.Vec2(&b.Pos, 0, 1024, 1.0/64)
	s.Vec2(&b.Vel, -64, 64, 1.0/16)
}

func (b *Shell) Step(w *world.World, me world.ID) {
	b.Pos = b.Pos.MulAdd(b.Vel, w.Seconds())
	if b.Pos.X >= 1024 {
		w.Remove(me)
	}
}

type Drive struct {
	Aim  det.Angle
	Gas  float64
	Fire bool `world:"edge"`
}

func (d *Drive) Sync(s *bits.Sync) {
	s.Angle(&d.Aim, 10)
	s.Float(&d.Gas, 0, 1, 1.0/16)
	s.Bool(&d.Fire)
}

type Fired struct{}

func (*Fired) Sync(*bits.Sync) {}

var Tanks = world.Define("tanks",
	world.Class[Tank](),
	world.Class[Shell](world.ClassOptions{Limit: 500}),
	world.Commands[Drive](),
	world.Event[Fired](),
	world.OnJoin(func(w *world.World, p world.Player) {
		w.SetOwner(world.Spawn(w, Tank{Pos: det.Vec2{X: 100, Y: 100}}), p)
	}),
)

// A whole game: one player joins, drives for a second, and fires once although the command to fire
// is never taken back.
func Example() {
	w, err := Tanks.New(world.Settings{Seed: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	in := Tanks.NewInputs()
	in.Join(1)
	world.Give(in, 1, Drive{}) // a tank steps from the tick after its player joined
	w.Host().Step(in)
	in.Reset()
	world.Give(in, 1, Drive{Gas: 1, Fire: true})
	w.Host().Step(in)
	for range world.Events[Fired](w) {
		fmt.Println("a shot at tick", w.Tick())
	}
	for range 59 {
		w.Host().Step(nil) // nothing arrives: the gas stays, the trigger does not
	}
	for id, t := range world.All[Tank](w) {
		fmt.Println("player", w.Owner(id), "is at", t.Pos)
	}
	fmt.Println("shells in the air:", world.Count[Shell](w))
	// Output:
	// a shot at tick 2
	// player 1 is at {130 100}
	// shells in the air: 1
}

// Speed is a knob: whoever runs the game may set it while it runs.
type Speed struct{ Factor float64 }

func (k *Speed) Sync(s *bits.Sync) { s.Float(&k.Factor, 0, 4, 1.0/16) }

type Runner struct{ X float64 }

func (r *Runner) Sync(s *bits.Sync) { s.Float(&r.X, 0, 1000, 1.0/64) }

func (r *Runner) Step(w *world.World, me world.ID) { r.X += world.StateOf[Speed](w).Factor }

var race = world.Define("race", world.Class[Runner](), world.Knob[Speed](),
	world.OnStart(func(w *world.World) {
		world.StateOf[Speed](w).Factor = 1
		world.Spawn(w, Runner{})
	}))

// A change of a knob is an input like a command: it comes in at the beginning of a tick, clients
// are told, and a recording has it.
func ExampleKnob() {
	w, err := race.New(world.Settings{})
	if err != nil {
		fmt.Println(err)
		return
	}
	in := race.NewInputs()
	for n := range 4 {
		in.Reset()
		if n == 2 {
			world.SetKnob(in, Speed{Factor: 3})
		}
		w.Host().Step(in)
		for _, r := range world.All[Runner](w) {
			fmt.Println("tick", w.Tick(), "at", r.X)
		}
	}
	// Output:
	// tick 1 at 1
	// tick 2 at 2
	// tick 3 at 5
	// tick 4 at 8
}

// The two checks belong into the tests of every game.
func ExampleCheckRollback() {
	difference, err := world.CheckRollback(Tanks, world.CheckOptions{Ticks: 200})
	fmt.Println(difference, err)
	// Output: <nil> <nil>
}

func ExampleCheckHidden() {
	report, err := world.CheckHidden(Tanks, world.CheckOptions{Ticks: 200})
	fmt.Println(report.Wrong, report.First, err)
	// Output: 0 <nil> <nil>
}

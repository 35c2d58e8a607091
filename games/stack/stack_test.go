package stack

import (
	"testing"

	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/draw"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/world"
)

func play(t testing.TB, ticks, players int) *world.World {
	w, err := Game.New(world.Settings{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	in, inputs := Game.NewInputs(), world.RandomInputs(Game, 5, players)
	for range ticks {
		inputs(w.Tick()+1, in)
		if err := w.Host().Step(in); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

// TestSameEverywhere pins a tumbling pile, so that a machine that computes it otherwise is found
// out.
func TestSameEverywhere(t *testing.T) {
	if got := play(t, 400, 2).Hash(); got != 0xf2372cd3e0188bb7 {
		t.Errorf("hash %#016x", got)
	}
}

func TestDeterminism(t *testing.T) {
	o := world.CheckOptions{Ticks: 150, Back: 4, Settings: world.Settings{Develop: true}}
	if testing.Short() {
		o.Ticks = 20
	}
	if d, err := world.CheckRollback(Game, o); d != nil || err != nil {
		t.Error(d, err)
	}
	rep, err := world.CheckHidden(Game, o)
	if err != nil || rep.Wrong > 0 {
		t.Errorf("%+v, %v", rep, err)
	}
}

func TestThePileComesToRest(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes its time to come to rest")
	}
	w, err := Game.New(world.Settings{Seed: 2})
	if err != nil {
		t.Fatal(err)
	}
	thuds := 0
	for range 1500 {
		if err := w.Host().Step(nil); err != nil {
			t.Fatal(err)
		}
		for range world.Events[Thud](w) {
			thuds++
		}
		for id, b := range world.All[Box](w) {
			if b.Pos.Y < b.Half()*0.4 || b.Pos.X < 0 || b.Pos.X > Width {
				t.Fatalf("tick %d: box %v is at %v, through the ground or a wall", w.Tick(), id,
					b.Pos)
			}
		}
	}
	asleep, speed := 0, 0.0
	for _, b := range world.All[Box](w) {
		if b.Rest == restful {
			asleep++
		}
		speed = max(speed, b.Vel.Len())
	}
	if asleep < Boxes*3/4 || speed > 5 || thuds == 0 {
		t.Errorf("%d of %d asleep, speed up to %v, %d thuds", asleep, Boxes, speed, thuds)
	}
	// What lies on something does not overlap it by much.
	k := new(work)
	k.gather(w)
	for i := range k.bodies {
		k.bodies[i].invMass = 1
	}
	k.collide()
	for _, c := range k.contacts {
		if c.depth > 0.35 {
			t.Errorf("boxes overlap by %v at %v", c.depth, c.at)
		}
	}
}

func TestABoxFallsFlatAndStays(t *testing.T) {
	k := &work{}
	b := &Box{Pos: det.Vec2{X: 10, Y: 3}, Turn: 0.2, Size: 4}
	const dt = 1.0 / 60
	for range 400 {
		b.Vel.Y -= gravity * dt
		k.bodies = append(k.bodies[:0],
			body{Box: b, half: 1, radius: 1.4143, x: b.Turn.Vec(), y: b.Turn.Vec().Perp(),
				invMass: 0.25, invTurn: 0.375})
		k.collide()
		k.solve(dt)
		k.move(dt)
		if b.Rest >= restful {
			break
		}
	}
	if det.Abs(b.Pos.Y-1) > 0.05 || det.Abs(float64(b.Turn)) > 0.02 || b.Rest < restful {
		t.Errorf("%+v", b)
	}
}

func TestPlayersPush(t *testing.T) {
	w, err := Game.New(world.Settings{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	in := Game.NewInputs()
	in.Join(1)
	for range 600 {
		if err := world.Give(in, 1, Keys(false, true, false)); err != nil {
			t.Fatal(err)
		}
		if err := w.Host().Step(in); err != nil {
			t.Fatal(err)
		}
		in.Reset()
	}
	moved := false
	for id, b := range world.All[Box](w) {
		moved = moved || w.Owner(id) == 1 && b.Pos.X > 8
	}
	if !moved {
		t.Error("a player's box does not move")
	}
	boxes := 0
	for range world.All[Box](w) {
		boxes++
	}
	var surface draw.Surface
	surface.Begin(1280, 720)
	Draw(&surface, &game.Frame{World: w, Me: 1})
	drawn := map[draw.Op]int{}
	var r draw.Reader
	r.Read(surface.List())
	for c := range r.Calls() {
		drawn[c.Op]++
	}
	if drawn[draw.OpBox] < 2*boxes {
		t.Errorf("%v", drawn)
	}
}

func BenchmarkStep(b *testing.B) {
	w := play(b, 120, 2)
	b.ReportAllocs()
	at := w.Host().Clone()
	n := 0
	for b.Loop() {
		if n++; n%60 == 0 { // keep it tumbling
			_ = w.Host().CopyFrom(at)
		}
		if err := w.Host().Step(nil); err != nil {
			b.Fatal(err)
		}
	}
}

package trace_test

import (
	"bytes"
	"fmt"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/trace"
	"github.com/coeval-dev/coeval/world"
)

// Cart is pushed along a track.
type Cart struct{ X, Speed int }

func (c *Cart) Sync(s *bits.Sync) { s.Int(&c.X, -1000, 1000); s.Int(&c.Speed, -9, 9) }

func (c *Cart) Step(w *world.World, me world.ID) {
	c.Speed = min(max(c.Speed+int(world.Command[Shove](w, me).Way), -9), 9)
	c.X = min(max(c.X+c.Speed, -1000), 1000)
}

// Shove is a player's command.
type Shove struct{ Way int8 }

func (s *Shove) Sync(b *bits.Sync) { b.Int8(&s.Way, -1, 1) }

var Track = world.Define("track", world.Class[Cart](), world.Commands[Shove](),
	world.OnJoin(func(w *world.World, p world.Player) { w.SetOwner(world.Spawn(w, Cart{}), p) }))

// ride records a short run, in which the player pushes forward until some tick.
func ride(until world.Tick) []byte {
	var file bytes.Buffer
	w, _ := Track.New(world.Settings{Seed: 1})
	rec, _ := trace.NewWriter(&file, w, trace.Options{Note: "a short ride"})
	in := Track.NewInputs()
	for range 200 {
		in.Reset()
		if w.Tick() == 0 {
			in.Join(1)
		}
		way := int8(1)
		if w.Tick() >= until {
			way = -1
		}
		world.Give(in, 1, Shove{Way: way})
		w.Host().Step(in)
		rec.Tick(in, w)
	}
	rec.Close()
	return file.Bytes()
}

// A run is recorded, and repeated from the recording.
func Example() {
	r, err := trace.Open(bytes.NewReader(ride(20)))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(r.Header().Game, "with seed", r.Header().Seed)
	res, err := trace.Replay(Track, r,
		trace.ReplayOptions{Each: func(w *world.World, _ *trace.Record) error {
			if w.Tick()%100 == 0 {
				for _, c := range world.All[Cart](w) {
					fmt.Println("tick", w.Tick(), "the cart is at", c.X)
				}
			}
			return nil
		}})
	fmt.Println(res.Last, "ticks,", res.Compared, "hashes,", res.Mismatch == nil, err)
	// Output:
	// track with seed 1
	// tick 100 the cart is at -432
	// tick 200 the cart is at -1000
	// 200 ticks, 201 hashes, true <nil>
}

// Two machines should have computed the same, and did not.
func ExampleDesync() {
	report, err := trace.Desync(Track, bytes.NewReader(ride(20)), bytes.NewReader(ride(30)))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(report.Cause)
	fmt.Println(report.Input)
	fmt.Println(report.World)
	// Output:
	// inputs
	// tick 21, player 1, Way: -1 against 1
	// tick 21, Cart 0.0.1, X: 143 against 144
}

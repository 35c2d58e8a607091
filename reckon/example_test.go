package reckon_test

import (
	"fmt"
	"time"

	"github.com/coeval-dev/coeval/codec"
	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/reckon"
	"github.com/coeval-dev/coeval/world"
)

// A ball flies under gravity, and at tick 12 hits something. Sender and receiver reckon it from the
// last update; only when the truth departs from that by more than 20 units is another one sent. The
// receiver then slides from what it showed to what is true.
func Example() {
	fields := []codec.Field{
		{Name: "x", Min: 0, Max: 4095, Kind: codec.Position, Rate: 2},
		{Name: "z", Min: 0, Max: 4095, Kind: codec.Position, Rate: 3},
		{Name: "vx", Min: -255, Max: 255, Kind: codec.Velocity, Rate: -1},
		{Name: "vz", Min: -255, Max: 255, Kind: codec.Velocity, Rate: -1},
	}
	motion, err := reckon.New(fields, reckon.Options{Axes: []reckon.Axis{
		{Name: "x", Velocity: "vx", Unit: reckon.Ratio{Num: 1, Den: 2}},
		{Name: "z", Velocity: "vz", Unit: reckon.Ratio{Num: 1, Den: 2},
			Accel: reckon.Ratio{Num: -2}},
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	contract, err := reckon.NewContract(fields, reckon.Terms{
		Tolerances: []reckon.Tolerance{{Fields: []string{"x", "z"}, Within: 20}},
		Heartbeat:  60,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	smooth := reckon.Converge{By: reckon.Linear, Ticks: 4, Limit: det.FixedInt(200)}

	truth := []int32{100, 100, 40, 60}
	var (
		watch  reckon.Watch
		blend  reckon.Blend
		update = make([]int32, 4)
		sentAt world.Tick
		guess  = make([]int32, 4)
	)
	for tick := world.Tick(1); tick <= 20; tick++ {
		motion.After(truth, 1, truth) // the game's own step, in this example
		if tick == 12 {
			truth[2] = -40
		}
		motion.After(update, int32(tick-sentAt), guess)
		why := contract.Check(&watch, tick, truth, guess)
		if why == reckon.Kept {
			blend.Tick(&smooth)
			continue
		}
		if why == reckon.Drifted {
			blend.Correct(&smooth, state(guess), state(truth))
		}
		copy(update, truth)
		sentAt = tick
		watch.Sent(tick)
		shown := blend.Show(&smooth, state(truth).Pos)
		fmt.Printf("tick %d, %v: x is %d, shown at %d\n", tick, why, truth[0], shown[0].Round())
	}
	motion.After(update, int32(20-sentAt), guess)
	shown := blend.Show(&smooth, state(guess).Pos)
	fmt.Printf("tick 20: x is %d, shown at %d\n", truth[0], shown[0].Round())
	// Output:
	// tick 1, unsent: x is 120, shown at 120
	// tick 13, drifted: x is 320, shown at 360
	// tick 20: x is 180, shown at 180
}

func state(image []int32) reckon.State {
	return reckon.State{Pos: reckon.VecInt(image[0], image[1], 0)}
}

// A car drives a bend. Its simulator tells its velocity and how it turns, and what others reckon
// from that is good for a while: until the driver steers the other way.
func ExamplePledge() {
	rules := reckon.Rules{Bounds: reckon.StandardBounds, Beats: reckon.StandardBeats}
	car := reckon.Body{Vel: det.Vec3{X: 20}, Spin: det.Vec3{Z: 0.3}, Facing: det.Identity}
	var pledge reckon.Pledge[reckon.Flight]
	for tick := range 240 {
		now := time.Duration(tick) * time.Second / 60
		if tick == 120 {
			car.Spin.Z = -0.3
		}
		if why := pledge.Check(&rules, now, &car); why != reckon.Kept {
			fmt.Printf("after %v: %v, heading %.0f degrees\n", now.Round(time.Millisecond), why,
				car.Facing.Euler().Yaw.Degrees())
			pledge.Tell(&rules, now, reckon.Flight{Model: reckon.RPB, Body: car})
		}
		car = reckon.RPB.After(&car, 1.0/60)
	}
	// Output:
	// after 0s: unsent, heading 0 degrees
	// after 2.1s: drifted, heading 33 degrees
}

// A class is reckoned by the codec too: what the receiver can work out for itself takes no bits.
func ExampleMotion_Now() {
	class := codec.Class{Name: "puck", Fields: []codec.Field{
		{Name: "x", Min: 0, Max: 65535, Kind: codec.Position, Rate: 1},
		{Name: "vx", Min: -500, Max: 500, Kind: codec.Velocity, Rate: -1},
		{Name: "heading", Min: -128, Max: 127, Kind: codec.Angle, Rate: -1},
	}}
	motion, err := reckon.New(class.Fields, reckon.Options{Axes: []reckon.Axis{
		{Name: "x", Velocity: "vx", Unit: reckon.Ratio{Num: 1, Den: 3}},
		{Name: "heading"}, // has no velocity: goes on as it did
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	class.Reckon = motion.Now

	var known codec.History
	known.Add([]int32{1000, 30, 120}, 4)
	known.Add([]int32{980, 30, 110}, 6)
	now := make([]int32, 3)
	class.Reckon(&known, now)
	fmt.Println(now)
	// Output:
	// [1040 30 -116]
}

package timeline_test

import (
	"fmt"
	"time"

	"github.com/coeval-dev/coeval/timeline"
	"github.com/coeval-dev/coeval/world"
)

// Two players on two mirrors reach for the last crates. On this mirror the other's hand comes 60 ms late: for a moment its players see that the wrong one
// was quicker, and then the first trailing state puts it right.
func Example() {
	w, err := game.New(world.Settings{Seed: 7})
	if err != nil {
		fmt.Println(err)
		return
	}
	ms := time.Millisecond
	line, err := timeline.NewTrailing(w, timeline.TrailingOptions{Delays: []time.Duration{0, 100 * ms, 500 * ms}})
	if err != nil {
		fmt.Println(err)
		return
	}
	const here, there = 1, 2
	grab := image(act{Grab: true})
	come := func(now time.Duration, c timeline.Command) {
		fate, err := line.Submit(now, c)
		if err != nil {
			fmt.Println(err)
		}
		fmt.Printf("%4d ms: %v of player %d is %v\n", now/ms, c.Kind, c.Player, fate)
	}
	come(0, timeline.Command{Kind: timeline.Join, Tick: 1, Origin: here, Seq: 1, Player: 1})
	come(0, timeline.Command{Kind: timeline.Join, Tick: 1, Origin: there, Seq: 1, Player: 2})

	come(50*ms, timeline.Command{Tick: 3, Origin: here, Seq: 2, Player: 1, Image: grab})
	come(50*ms, timeline.Command{Tick: 4, Origin: here, Seq: 3, Player: 1, Image: grab})
	for now := 50 * ms; now <= 600*ms; now += 10 * ms {
		if now == 110*ms { // stamped 50 ms, like the first of the other's
			come(now, timeline.Command{Tick: 3, Origin: there, Seq: 2, Player: 2, Image: grab})
		}
		if err := line.Advance(now); err != nil {
			fmt.Println(err)
		}
		for _, n := range line.Notices() {
			if name := game.Events()[n.Event.Kind].Name(); name == "grabbed" {
				who := line.Leading().Owner(n.Event.About)
				fmt.Printf("%4d ms: player %d grabbed a crate at tick %d: %v\n", now/ms, who, n.Event.Tick, n.What)
			}
		}
	}
	s := line.Stats()
	fmt.Printf("%d rollback, %d late command, %d lost\n", s.Rollbacks, s.Late, s.TooLate)
	// Output:
	//    0 ms: join of player 1 is on time
	//    0 ms: join of player 2 is on time
	//   50 ms: give of player 1 is on time
	//   50 ms: give of player 1 is on time
	//   50 ms: player 1 grabbed a crate at tick 3: provisional
	//   70 ms: player 1 grabbed a crate at tick 4: provisional
	//  110 ms: give of player 2 is late
	//  150 ms: player 2 grabbed a crate at tick 3: provisional
	//  150 ms: player 1 grabbed a crate at tick 4: retracted
	//  550 ms: player 1 grabbed a crate at tick 3: confirmed
	//  550 ms: player 2 grabbed a crate at tick 3: confirmed
	// 1 rollback, 1 late command, 0 lost
}

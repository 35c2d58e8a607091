package timeline_test

import (
	"fmt"
	"time"

	"github.com/coeval-dev/coeval/timeline"
	"github.com/coeval-dev/coeval/timeline/ruled"
	"github.com/coeval-dev/coeval/world"
)

// Two players on two mirrors reach for the last crates. On this mirror the other's hand comes 60 ms
// late: for a moment its players see that the wrong one was quicker, and then the first trailing
// state puts it right.
func Example() {
	w, err := game.New(world.Settings{Seed: 7})
	if err != nil {
		fmt.Println(err)
		return
	}
	ms := time.Millisecond
	line, err := timeline.NewTrailing(w,
		timeline.TrailingOptions{Delays: timeline.DelaysOf(0, 100*ms, 500*ms)})
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
				fmt.Printf("%4d ms: player %d grabbed a crate at tick %d: %v\n", now/ms, who,
					n.Event.Tick, n.What)
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

// A mirror is held until everything has come: a hand that takes two seconds on its way, ten times
// the window, is still in time for the settled world.
func ExampleTrailing_Hold() {
	w, err := game.New(world.Settings{Seed: 7})
	if err != nil {
		fmt.Println(err)
		return
	}
	ms := time.Millisecond
	line, err := timeline.NewTrailing(w,
		timeline.TrailingOptions{
			Options: timeline.Options{Held: true}, Delays: timeline.DelaysOf(0, 200*ms)})
	if err != nil {
		fmt.Println(err)
		return
	}
	at := func(now time.Duration) {
		if err := line.Advance(now); err != nil {
			fmt.Println(err)
		}
		fmt.Printf("%4d ms: leading with tick %d, settled up to %d\n", now/ms,
			line.Leading().Tick(), line.Settled().Tick())
	}
	line.Hold(10) // all mirrors have promised that there is nothing more to come up to here
	at(1000 * ms)
	at(2000 * ms)
	fate, err := line.Submit(2000*ms,
		timeline.Command{Kind: timeline.Join, Tick: 11, Origin: 2, Seq: 1, Player: 1})
	fmt.Println("the command for tick 11 is", fate, err)
	line.Hold(90)
	at(2010 * ms)
	// Output:
	// 1000 ms: leading with tick 60, settled up to 10
	// 2000 ms: leading with tick 120, settled up to 10
	// the command for tick 11 is late <nil>
	// 2010 ms: leading with tick 120, settled up to 90
}

// Two players reach for a crate. At the judge one command is lost, and what the other mirror has
// shown is taken back when that is ruled.
func Example_ruled() {
	var lines [2]*ruled.Timeline
	for i := range lines {
		w, err := game.New(world.Settings{Seed: 7})
		if err != nil {
			fmt.Println(err)
			return
		}
		if lines[i], err = ruled.New(w, ruled.Options{Judge: i == 0}); err != nil {
			fmt.Println(err)
			return
		}
	}
	judge, other := lines[0], lines[1]
	ms := time.Millisecond
	for _, line := range lines {
		for p := world.Player(1); p <= 2; p++ {
			if _, err := line.Submit(0,
				timeline.Command{
					Kind: timeline.Join, Tick: 1, Origin: 1, Seq: uint32(p),
					Player: p}); err != nil {
				fmt.Println(err)
			}
		}
	}
	if _, err := other.Submit(0,
		timeline.Command{
			Tick: 3, Origin: 1, Seq: 3, Player: 2, Image: image(act{Grab: true})}); err != nil {
		fmt.Println(err)
	}
	bytes := 0
	for now := 0 * ms; now <= 300*ms; now += 10 * ms {
		if err := judge.Advance(now); err != nil {
			fmt.Println(err)
		}
		for r := range judge.Rulings {
			b := r.Append(nil) // to be sent
			bytes += len(b)
			r, err := ruled.ParseRuling(game, b)
			if err == nil {
				_, err = other.Rule(now, r)
			}
			if err != nil {
				fmt.Println(err)
			}
		}
		if err := other.Advance(now); err != nil {
			fmt.Println(err)
		}
		for _, n := range other.Notices() {
			fmt.Printf("%3d ms: %s at tick %d: %v\n", now/ms, game.Events()[n.Event.Kind].Name(),
				n.Event.Tick, n.What)
		}
	}
	a, b := judge.Settled(), other.Settled()
	fmt.Println("settled ticks", a.Tick(), b.Tick(), "alike:", a.Hash() == b.Hash(), "by", bytes,
		"bytes")
	// Output:
	//  50 ms: grabbed at tick 3: provisional
	// 150 ms: grabbed at tick 3: retracted
	// settled ticks 12 12 alike: true by 26 bytes
}

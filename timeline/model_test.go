package timeline_test

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/member"
	"github.com/coeval-dev/coeval/timeline"
	"github.com/coeval-dev/coeval/timeline/rivals"
	"github.com/coeval-dev/coeval/world"
)

// Every order of arrival of a few commands, at every half tick within the window and in both orders
// of what comes at one moment, leads to the same settled world, in every timeline that promises so.
// The commands are such that each decides what the next can do: two mirrors' players reach for the
// same crates, shoot, and leave.
func TestEveryOrder(t *testing.T) {
	const end = 10
	give := func(m member.ID, seq uint32, n world.Tick, a act) arrival {
		return arrival{
			Command: timeline.Command{
				Tick: n, Origin: m, Seq: seq, Player: world.Player(m), Image: image(a)}}
	}
	commands := script{
		give(1, 1, 2, act{Grab: true, X: 1}),
		give(2, 1, 2, act{Grab: true, Fire: true}),
		give(1, 2, 3, act{Grab: true, Fire: true}),
		{Command: timeline.Command{Kind: timeline.Leave, Tick: 4, Origin: 2, Seq: 2, Player: 2}},
	}
	joins := script{
		{Command: timeline.Command{Kind: timeline.Join, Tick: 1, Origin: 1, Player: 1}},
		{Command: timeline.Command{Kind: timeline.Join, Tick: 1, Origin: 2, Player: 2}},
	}
	start := begin(t)
	small := func(name string, o timeline.TrailingOptions) maker {
		return maker{
			name: name, make: func(start *world.World, base timeline.Options,
				_ []member.ID) (timeline.Timeline, error) {
				o := o
				o.Options = base
				return timeline.NewTrailing(start, o)
			}}
	}
	half := length / 2
	sorts := []maker{
		small("two states", timeline.TrailingOptions{Delays: timeline.DelaysOf(0, 7*half)}),
		small("three states",
			timeline.TrailingOptions{Delays: timeline.DelaysOf(0, 3*half, 7*half)}),
		small("three states, everything",
			timeline.TrailingOptions{
				Delays: timeline.DelaysOf(half, 2*half, 7*half), Everything: true}),
		small("three states, corrected",
			timeline.TrailingOptions{Delays: timeline.DelaysOf(0, 3*half, 7*half), Correct: true}),
		{name: "time warp",
			make: func(start *world.World, o timeline.Options, _ []member.ID) (timeline.Timeline,
				error) {
				return rivals.NewTimeWarp(start,
					rivals.TimeWarpOptions{Options: o, Window: 7 * half})
			}},
		{name: "time warp, sparse",
			make: func(start *world.World, o timeline.Options, _ []member.ID) (timeline.Timeline,
				error) {
				return rivals.NewTimeWarp(start,
					rivals.TimeWarpOptions{Options: o, Window: 7 * half, Every: 3})
			}},
	}
	if os.Getenv("COEVAL_SOAK") != "" {
		back := timeline.TrailingOptions{
			Delays: timeline.DelaysOf(0, 3*half, 7*half), Back: 7 * half}
		sorts = append(sorts, small("three states, back", back))
		back.Back = 2 * half
		sorts = append(sorts, small("three states, back a tick", back))
	}
	for _, m := range makers() {
		if m.waits {
			sorts = append(sorts, m)
		}
	}
	want, events := oracle(start, append(joins, commands...), end)
	if len(events) < 5 {
		t.Fatalf("too little happens: %v", events)
	}
	const slots = 7
	for _, m := range sorts {
		t.Run(m.name, func(t *testing.T) {
			orders := 0
			for code := range slots * slots * slots * slots {
				for turn := range 2 {
					s := append(script(nil), joins...)
					if m.waits {
						for i := range s { // they count
							s[i].Seq = 1
						}
					}
					c := code
					latest := map[member.ID]time.Duration{}
					for i := range commands {
						k := i
						if turn == 1 {
							k = len(commands) - 1 - i
						}
						a := commands[k]
						if m.waits {
							a.Seq++
						}
						place := c
						for range k {
							place /= slots
						}
						a.at = at(a.Tick) + time.Duration(place%slots)*half
						latest[a.Origin] = max(latest[a.Origin], a.at)
						s = append(s, a)
					}
					if m.waits {
						for _, o := range []member.ID{1, 2} {
							s = append(s,
								arrival{at: at(1),
									Command: timeline.Command{
										Kind: timeline.Promise, Tick: end + 5, Origin: o, Seq: 3}})
						}
					}
					out, err := play(start, m, []member.ID{1, 2}, s, end, nil)
					if err == nil && len(out.fates) > 0 && out.fates[timeline.TooLate] > 0 {
						err = fmt.Errorf("too late: %v", out.fates)
					}
					for n := world.Tick(1); n <= end && err == nil; n++ {
						if out.hashes[n] != want[n] {
							err = fmt.Errorf("tick %d is another", n)
						}
					}
					if err != nil {
						t.Fatalf("%v\n%v", err, s.sorted())
					}
					orders++
				}
			}
			t.Logf("%d orders of arrival, one settled world", orders)
		})
	}
}

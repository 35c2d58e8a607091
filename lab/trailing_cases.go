package lab

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/timeline"
	"github.com/coeval-dev/coeval/timeline/rivals"
	"github.com/coeval-dev/coeval/world"
)

// The paper does not say what lay between its two servers; they stood in one laboratory. These are the two networks that are assumed in its place.
var (
	lanPath = netsim.Profile{Latency: time.Millisecond, Jitter: netsim.Jitter{Amount: time.Millisecond}}
	wanPath = netsim.Profile{Latency: 40 * time.Millisecond, Jitter: netsim.Jitter{Amount: 10 * time.Millisecond}}
)

func pathName(p netsim.Profile) string {
	if s := p.String(); s != "" {
		return s
	}
	return "nothing in between"
}

// A TrailingPaperRow is a line of Table 3.1 of Cronin, Filstrup and Kurc, "A Distributed Multiplayer Game Server System" (2001).
type TrailingPaperRow struct {
	Delays    []int
	Executed  int     // commands
	ExecuteS  float64 // seconds spent on that
	Rollbacks int
	RollbackS float64
	TotalS    float64
}

// TrailingPaperCommands is how many commands the first mirror saw in the paper's trace.
const TrailingPaperCommands = 18593

// TrailingPaper is Table 3.1.
var TrailingPaper = []TrailingPaperRow{
	{[]int{0, 50}, 40780, 6.135408, 817, 1.148895, 8.953207},
	{[]int{0, 100}, 45401, 6.369374, 870, 1.226166, 9.317506},
	{[]int{0, 50, 100}, 59981, 9.024021, 938, 1.315154, 12.296119},
	{[]int{0, 100, 1000}, 331687, 26.195788, 6687, 10.105350, 43.772133},
	{[]int{0, 50, 100, 150}, 79357, 12.144979, 1092, 1.534347, 15.904039},
	{[]int{0, 50, 100, 500}, 99730, 13.261478, 2370, 3.361073, 19.375112},
	{[]int{0, 50, 500, 1000}, 251044, 23.223288, 6995, 10.513721, 39.266619},
}

// TrailingName writes delays as the paper does.
func TrailingName(delays []int) string {
	var parts []string
	for _, d := range delays {
		parts = append(parts, strconv.Itoa(d))
	}
	return strings.Join(parts, ",")
}

func (b *trailingBench) trailing(name string, delays ...int) trailingCase {
	return b.trailingWith(name, timeline.TrailingOptions{}, delays...)
}

func (b *trailingBench) trailingWith(name string, o timeline.TrailingOptions, delays ...int) trailingCase {
	var list []time.Duration
	for _, d := range delays {
		list = append(list, time.Duration(d)*time.Millisecond)
	}
	o.Delays = timeline.DelaysOf(list...)
	if name == "" {
		name = "trailing " + TrailingName(delays)
	}
	return trailingCase{name: name, make: func(start *world.World, base timeline.Options) (timeline.Timeline, error) {
		o := o
		o.Options = base
		return timeline.NewTrailing(start, o)
	}}
}

// paper are the paper's seven sets of delays.
func (b *trailingBench) paper() []trailingCase {
	var out []trailingCase
	for _, p := range TrailingPaper {
		out = append(out, b.trailing(TrailingName(p.Delays), p.Delays...))
	}
	return out
}

func (b *trailingBench) auto() trailingCase {
	return trailingCase{name: "trailing, auto", make: func(start *world.World, base timeline.Options) (timeline.Timeline, error) {
		if base.Clock == nil { // the second mirror is not measured, and need not choose alike
			base.Clock = threadTime
		}
		line, err := timeline.NewAuto(start, timeline.AutoOptions{TrailingOptions: timeline.TrailingOptions{Options: base, Delays: timeline.Delays{Window: time.Second}}})
		return line, err
	}}
}

func (b *trailingBench) warp(every int, lazy bool) trailingCase {
	name := "time warp"
	if lazy {
		name = "time warp, repaired once a tick"
	}
	if every > 1 {
		name = fmt.Sprintf("time warp, every %d ticks", every)
	}
	return trailingCase{name: name, lazy: lazy, make: func(start *world.World, base timeline.Options) (timeline.Timeline, error) {
		return rivals.NewTimeWarp(start, rivals.TimeWarpOptions{Options: base, Window: time.Second, Every: every})
	}}
}

func (b *trailingBench) bucket(delay, width int) trailingCase {
	d := time.Duration(delay) * time.Millisecond
	return trailingCase{name: fmt.Sprintf("bucket %d ms, %d ticks", delay, width),
		make: func(start *world.World, base timeline.Options) (timeline.Timeline, error) {
			return rivals.NewBucket(start, rivals.BucketOptions{Options: base, Delay: d, Width: width})
		}}
}

func (b *trailingBench) lockstep(delay, most int) trailingCase {
	name := fmt.Sprintf("lock step, %d ticks", delay)
	if most > 0 {
		name = "lock step, adaptive"
	}
	return trailingCase{name: name, waits: true, round: true, make: func(start *world.World, base timeline.Options) (timeline.Timeline, error) {
		return rivals.NewLockstep(start, rivals.LockstepOptions{Options: base, Mirrors: bothMirrors, Delay: delay, Most: most})
	}}
}

func (b *trailingBench) conservative(ahead time.Duration) trailingCase {
	return trailingCase{name: fmt.Sprintf("conservative, %v ahead", ahead), waits: true, make: func(start *world.World, base timeline.Options) (timeline.Timeline, error) {
		return rivals.NewConservative(start, rivals.ConservativeOptions{Options: base, Mirrors: bothMirrors, LookAhead: ahead})
	}}
}

func (b *trailingBench) rollback(window, delay int) trailingCase {
	return trailingCase{name: fmt.Sprintf("rollback, %d ticks", window), waits: true, lazy: true, make: func(start *world.World, base timeline.Options) (timeline.Timeline, error) {
		return rivals.NewRollback(start, rivals.RollbackOptions{Options: base, Mirrors: bothMirrors, Window: window, Delay: delay})
	}}
}

// rivals are all timelines, with settings that suit a network.
func (b *trailingBench) rivals(n netsim.Profile) []trailingCase {
	path := n.Latency + n.Jitter.Amount
	cover := int((path + time.Millisecond) / time.Millisecond)
	return []trailingCase{
		b.trailing("", 0, 100, 1000),
		b.trailingWith("trailing 0,100,1000, places corrected", timeline.TrailingOptions{Correct: true}, 0, 100, 1000),
		b.trailingWith("trailing 0,100,1000, everything", timeline.TrailingOptions{Everything: true}, 0, 100, 1000),
		b.trailing("", cover, 1000),
		b.auto(),
		b.warp(1, false),
		b.warp(1, true),
		b.warp(8, false),
		b.rollback(8, 0),
		b.lockstep(2, 0),
		b.lockstep(2, 30),
		b.conservative(0),
		b.conservative(path),
		b.bucket(cover, 1),
		b.bucket(100, 3),
		b.bucket(20, 1),
	}
}

// sweep are the timelines that are tried on many networks.
func (b *trailingBench) sweep(n netsim.Profile) []trailingCase {
	return []trailingCase{
		b.trailing("", 0, 100, 1000),
		b.trailing("", 100, 1000),
		b.auto(),
		b.warp(1, true),
		b.rollback(8, 0),
		b.lockstep(2, 30),
		b.conservative(0),
		b.bucket(100, 1),
	}
}

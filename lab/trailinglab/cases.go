package trailinglab

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/coeval-dev/coeval/lab"
	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/timeline"
	"github.com/coeval-dev/coeval/timeline/kinds"
	"github.com/coeval-dev/coeval/timeline/rivals"
	"github.com/coeval-dev/coeval/world"
)

// The paper does not say what lay between its two servers; they stood in one laboratory. These are
// the two networks that are assumed in its place.
var (
	lanPath = netsim.Profile{
		Latency: time.Millisecond, Jitter: netsim.Jitter{Amount: time.Millisecond}}
	wanPath = netsim.Profile{
		Latency: 40 * time.Millisecond, Jitter: netsim.Jitter{Amount: 10 * time.Millisecond}}
)

func pathName(p netsim.Profile) string {
	if s := p.String(); s != "" {
		return s
	}
	return "nothing in between"
}

// paperTable is Table 3.1 of the paper: commands that were executed and the seconds spent on that,
// rollbacks and the seconds of those, and seconds in all.
var paperTable = []struct {
	delays    []int
	executed  float64
	executeS  float64
	rollbacks float64
	rollbackS float64
	totalS    float64
}{
	{[]int{0, 50}, 40780, 6.135408, 817, 1.148895, 8.953207},
	{[]int{0, 100}, 45401, 6.369374, 870, 1.226166, 9.317506},
	{[]int{0, 50, 100}, 59981, 9.024021, 938, 1.315154, 12.296119},
	{[]int{0, 100, 1000}, 331687, 26.195788, 6687, 10.105350, 43.772133},
	{[]int{0, 50, 100, 150}, 79357, 12.144979, 1092, 1.534347, 15.904039},
	{[]int{0, 50, 100, 500}, 99730, 13.261478, 2370, 3.361073, 19.375112},
	{[]int{0, 50, 500, 1000}, 251044, 23.223288, 6995, 10.513721, 39.266619},
}

// Published is a row of Table 3.1 of the paper.
type Published struct {
	Delays              []int   // milliseconds
	Executed, Rollbacks float64 // by command that came
	CommandMS           float64 // for each that was executed
	RollbackMS          float64
}

// PaperTable is Table 3.1.
func PaperTable() (list []Published) {
	for _, p := range paperTable {
		list = append(list, Published{p.delays, p.executed / paperCommands,
			p.rollbacks / paperCommands, 1000 * p.executeS / p.executed,
			1000 * p.rollbackS / p.rollbacks})
	}
	return list
}

// paperCommands is how many commands the first mirror saw in the paper's trace.
const paperCommands = 18593

// paperRow is a row with the paper's figures beside ours.
type paperRow struct {
	*Row
	ACommand            float64 `head:"a command" as:"%.2f"`
	PaperCommand        float64 `head:"paper: a command" as:"%.2f"`
	PaperRollbacks      float64 `head:"for 1000" as:"%.1f"`
	PaperCommandMicros  float64 `head:"command µs" as:"%.0f"`
	PaperRollbackMicros float64 `head:"rollback µs" as:"%.0f"`
}

func besidePaper(rows []Row) (list []paperRow) {
	for i := range rows {
		r, p := &rows[i], &paperTable[i]
		list = append(list,
			paperRow{r, lab.Per(r.Executed, r.Commands), p.executed / paperCommands,
				1000 * p.rollbacks / paperCommands,
				1e6 * p.executeS / p.executed, 1e6 * p.rollbackS / p.rollbacks})
	}
	return list
}

// delayNames writes delays as the paper does.
func delayNames(delays []int) string {
	var list []string
	for _, d := range delays {
		list = append(list, strconv.Itoa(d))
	}
	return strings.Join(list, ",")
}

// A contender is a timeline to be tried.
type contender struct {
	name  string
	make  func(start *world.World, o timeline.Options) (timeline.Timeline, error)
	waits bool // it needs promises
	round bool // it promises as soon as it has computed, as lock step does
	lazy  bool // it looks at what came once a tick, and not whenever something comes
}

func trailing(name string, o timeline.TrailingOptions, delays ...int) contender {
	var list []time.Duration
	for _, d := range delays {
		list = append(list, time.Duration(d)*time.Millisecond)
	}
	o.Delays = timeline.DelaysOf(list...)
	if name == "" {
		name = "trailing " + delayNames(delays)
	}
	return contender{
		name: name, make: func(start *world.World, base timeline.Options) (timeline.Timeline,
			error) {
			o := o
			o.Options = base
			return timeline.NewTrailing(start, o)
		}}
}

// paper are the paper's seven sets of delays.
func paper() (list []contender) {
	for _, p := range paperTable {
		list = append(list, trailing(delayNames(p.delays), timeline.TrailingOptions{}, p.delays...))
	}
	return list
}

func auto() contender {
	return contender{
		name: "trailing, auto",
		make: func(start *world.World, base timeline.Options) (timeline.Timeline, error) {
			if base.Clock == nil { // the second mirror is not measured, and need not choose alike
				base.Clock = lab.ThreadTime
			}
			return timeline.NewAuto(start,
				timeline.AutoOptions{
					TrailingOptions: timeline.TrailingOptions{
						Options: base, Delays: timeline.Delays{Window: time.Second},
						Back: kinds.Back}})
		}}
}

func warp(every int, lazy bool) contender {
	name := "time warp"
	if lazy {
		name = "time warp, repaired once a tick"
	}
	if every > 1 {
		name = fmt.Sprintf("time warp, every %d ticks", every)
	}
	return contender{
		name: name, lazy: lazy,
		make: func(start *world.World, base timeline.Options) (timeline.Timeline, error) {
			return rivals.NewTimeWarp(start,
				rivals.TimeWarpOptions{Options: base, Window: time.Second, Every: every})
		}}
}

func bucket(delay, width int) contender {
	d := time.Duration(delay) * time.Millisecond
	return contender{
		name: fmt.Sprintf("bucket %d ms, %d ticks", delay, width),
		make: func(start *world.World, base timeline.Options) (timeline.Timeline, error) {
			return rivals.NewBucket(start,
				rivals.BucketOptions{Options: base, Delay: d, Width: width})
		}}
}

func lockstep(delay, most int) contender {
	name := fmt.Sprintf("lock step, %d ticks", delay)
	if most > 0 {
		name = "lock step, adaptive"
	}
	return contender{
		name: name, waits: true, round: true,
		make: func(start *world.World, base timeline.Options) (timeline.Timeline, error) {
			return rivals.NewLockstep(start,
				rivals.LockstepOptions{
					Options: base, Mirrors: bothMirrors, Delay: delay, Most: most})
		}}
}

func conservative(ahead time.Duration) contender {
	return contender{
		name: fmt.Sprintf("conservative, %v ahead", ahead), waits: true,
		make: func(start *world.World, base timeline.Options) (timeline.Timeline, error) {
			return rivals.NewConservative(start,
				rivals.ConservativeOptions{Options: base, Mirrors: bothMirrors, LookAhead: ahead})
		}}
}

func rollback(window int) contender {
	return contender{
		name: fmt.Sprintf("rollback, %d ticks", window), waits: true, lazy: true,
		make: func(start *world.World, base timeline.Options) (timeline.Timeline, error) {
			return rivals.NewRollback(start,
				rivals.RollbackOptions{Options: base, Mirrors: bothMirrors, Window: window})
		}}
}

// all are all timelines, with settings that suit a network.
func all(n netsim.Profile) []contender {
	path := n.Latency + n.Jitter.Amount
	cover := int((path + time.Millisecond) / time.Millisecond)
	return []contender{
		trailing("", timeline.TrailingOptions{}, 0, 100, 1000),
		trailing("trailing 0,100,1000, back at once", timeline.TrailingOptions{Back: kinds.Back},
			0, 100, 1000),
		trailing("trailing 0,100,1000, places corrected", timeline.TrailingOptions{Correct: true},
			0, 100, 1000),
		trailing("trailing 0,100,1000, everything", timeline.TrailingOptions{Everything: true}, 0,
			100, 1000),
		trailing("", timeline.TrailingOptions{}, cover, 1000),
		auto(),
		warp(1, false),
		warp(1, true),
		warp(8, false),
		rollback(8),
		lockstep(2, 0),
		lockstep(2, 30),
		conservative(0),
		conservative(path),
		bucket(cover, 1),
		bucket(100, 3),
		bucket(20, 1),
	}
}

// sweep are the timelines that are tried on many networks.
func sweep() []contender {
	return []contender{
		trailing("", timeline.TrailingOptions{}, 0, 100, 1000),
		trailing("trailing 0,100,1000, back at once", timeline.TrailingOptions{Back: kinds.Back},
			0, 100, 1000),
		trailing("", timeline.TrailingOptions{}, 100, 1000),
		auto(),
		warp(1, true),
		rollback(8),
		lockstep(2, 30),
		conservative(0),
		bucket(100, 1),
	}
}

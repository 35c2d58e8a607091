package mirrorlab

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/lab"
	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/timeline"
	"github.com/coeval-dev/coeval/timeline/kinds"
)

// Options say what Run measures. Title has no default, and needs a body; the rest has defaults.
type Options struct {
	// Title is what is played, on Level. Default: the level that the title has for so many players.
	Title *game.Title
	Level string
	// Mirrors is how many there are, and Players how many play on each. With JoinLate one of the
	// mirrors is the one that joins, and has none; the default is then 32 on all others together.
	Mirrors, Players int
	// Between is the network from each mirror to each other, and Near that from players to their
	// mirror. Defaults: 40 ms with 5 ms of jitter and 0.1 % loss; 8 ms with 1 ms and 0.1 %.
	Between, Near netsim.Conditions
	// Timeline and Delays are those of mirror.Options. Delays that are left out are made to fit the
	// network.
	Timeline string
	Delays   []time.Duration
	// Repair is that of mirror.Options, and Step and Copy are.
	Repair     kinds.Repair
	Step, Copy time.Duration
	// Margins and SendEvery are those of mirror.Options. Margins that are left out are the title's.
	Margins      []timeline.Margin
	SendEvery    time.Duration
	SnapshotRate int
	// Time is how long is measured, after Warm.
	Time, Warm time.Duration
	// Drift is by how much mirrors' own clocks run fast or slow at most, in parts of a million:
	// quartz does that. Below zero, they do not.
	Drift float64
	// Clock, if set, is the processor time of the thread, by which it is measured what a mirror
	// takes against a plain server; then not all figures repeat.
	Clock func() time.Duration
	// Alone leaves out the runs with one plain server that corrections are compared with.
	Alone bool
	// Fault, if it is not NoFault, is what happens to the mirrors instead of play undisturbed, so
	// many Times.
	Fault    Fault
	Times    int
	Seed     uint64
	Progress lab.Progress

	subject *lab.Subject // what Title and Level come to
}

// List describes the options.
func (o *Options) List() []*lab.Option {
	return []*lab.Option{
		lab.Number(&o.Mirrors, "mirrors", 3, 2, maxMirrors, "how many mirrors"),
		lab.Number(&o.Players, "players", 0, 0, maxPlayers,
			"how many play on each (default 8; with --fault join, 32 on all that are there)"),
		lab.Text(&o.Timeline, "timeline", "auto",
			"how mirrors are kept consistent: "+strings.Join(kinds.Names(), ", ")),
		lab.Number(&o.SendEvery, "send-every", 0, 0, time.Second,
			"how often mirrors pass on commands (default: half a tick)"),
		lab.Number(&o.Step, "step", 0, 0, time.Second,
			"what computing a tick of the world takes, for auto (default: measured before)"),
		lab.Number(&o.Copy, "copy", 0, 0, time.Second,
			"and what copying the world takes (default: measured before)"),
		lab.Number(&o.SnapshotRate, "snapshots", 30, 1, 1000, "snapshots a second of each player"),
		lab.Span(&o.Time, "minutes", time.Minute, time.Minute, time.Second, 2*time.Hour,
			"how long is measured, in the game's time, after ten seconds to warm up"),
		lab.Number(&o.Times, "times", 5, 1, 1000, "how often, with --fault"),
		lab.Level(&o.Level),
		lab.Seed(&o.Seed, "the game and the network"),
		lab.Switch(&o.Alone, "alone", "leave out the plain servers"),
	}
}

// Limits of a run.
const (
	maxMirrors = 16
	maxPlayers = 64 // on all mirrors together
)

// Check replaces zeros by defaults, and says what is wrong with the rest.
func (o *Options) Check() error {
	if err := lab.Fill(append(o.List(),
		lab.Number(&o.Warm, "warm", 10*time.Second, 0, time.Hour, ""),
		lab.Number(&o.Drift, "drift", 50, -1000, 1000, ""))); err != nil {
		return err
	}
	o.Drift = max(o.Drift, 0)
	if o.Players == 0 {
		o.Players = 8
		if o.Fault == JoinLate {
			o.Players = (32 + o.Mirrors - 2) / max(o.Mirrors-1, 1) // 32 on those that are there
		}
	}
	if o.serving()*o.Players > maxPlayers {
		return fmt.Errorf(
			"%d mirrors with %d players each: choose no more than %d players on all of them",
			o.Mirrors, o.Players, maxPlayers)
	}
	if unset(o.Between) {
		o.Between = netsim.Both(netsim.Profile{Latency: 40 * time.Millisecond,
			Jitter: netsim.Jitter{Amount: 5 * time.Millisecond}, Loss: 0.001})
	}
	if unset(o.Near) {
		o.Near = netsim.Both(netsim.Profile{Latency: 8 * time.Millisecond,
			Jitter: netsim.Jitter{Amount: time.Millisecond}, Loss: 0.001})
	}
	if !slices.Contains(kinds.Names(), o.Timeline) {
		return fmt.Errorf("there is no timeline %q; choose one of %s", o.Timeline,
			strings.Join(kinds.Names(), ", "))
	}
	if o.Fault >= faults {
		return fmt.Errorf("there is no fault %d", o.Fault)
	}
	if len(o.Delays) == 0 {
		o.Delays = FitDelays(o.Timeline, o.Between)
	}
	var err error
	if o.subject, err = lab.NewSubject(o.Title, o.Level, o.serving()*o.Players); err != nil {
		return err
	}
	if o.Margins == nil {
		o.Margins = o.Title.Margins()
	}
	return errors.Join(
		o.subject.Commanded("there is nothing for mirrors to tell each other"),
		o.subject.Embodied("it cannot be seen whose is corrected"),
	)
}

// serving is how many mirrors have players.
func (o *Options) serving() int {
	if o.Fault == JoinLate {
		return o.Mirrors - 1
	}
	return o.Mirrors
}

// unset says whether no network was chosen; one that is perfect has a name.
func unset(c netsim.Conditions) bool {
	return c.Name == "" && c.Up.String() == "perfect" && c.Down.String() == "perfect"
}

// FitDelays are delays with which a timeline can work where mirrors are so far apart: those that
// wait have to wait for the slowest of nearly all packets, and the rest keep the mirrors' own.
func FitDelays(kind string, between netsim.Conditions) []time.Duration {
	far := farthest(between)
	round := func(d time.Duration) time.Duration { return (d + 9999999) / 10000000 * 10000000 }
	switch kind {
	case "rollback":
		return []time.Duration{0, round(2*far + 150*time.Millisecond)}
	case "lockstep", "bucket":
		return []time.Duration{round(far + 50*time.Millisecond)}
	case "conservative":
		return []time.Duration{round(far + 30*time.Millisecond)}
	}
	return nil
}

// farthest is what nearly all datagrams take at most.
func farthest(c netsim.Conditions) time.Duration {
	return max(way(c.Up, 1, 3, 10, slices.Max), way(c.Down, 1, 3, 10, slices.Max))
}

// pathDelay is what a datagram takes on average.
func pathDelay(c netsim.Conditions) time.Duration {
	mean := func(list []time.Duration) (sum time.Duration) {
		for _, d := range list {
			sum += d / time.Duration(len(list))
		}
		return sum
	}
	return (way(c.Up, 0.5, 0, 0.95, mean) + way(c.Down, 0.5, 0, 0.95, mean)) / 2
}

// way is a latency with so much of its jitter, by the shape of that.
func way(p netsim.Profile, even, normal, longTail float64,
	recorded func([]time.Duration) time.Duration) time.Duration {
	share := even
	switch p.Jitter.Shape {
	case netsim.Normal:
		share = normal
	case netsim.LongTail:
		share = longTail
	case netsim.Recorded:
		return p.Latency + recorded(p.Jitter.Recorded)
	}
	return p.Latency + time.Duration(share*float64(p.Jitter.Amount))
}

// Run measures all of it. The same options give the same figures, to the last digit.
func Run(ctx context.Context, o Options) (*Result, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	if o.Clock != nil {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
	}
	if err := o.measure(); err != nil {
		return nil, err
	}
	if o.Fault != NoFault {
		return runFault(ctx, &o)
	}
	share := 1.0
	if !o.Alone {
		share = 0.6
	}
	r, err := play(ctx, &o, o.Progress.Within(0, share))
	if err != nil {
		return nil, err
	}
	if !o.Alone {
		var spent time.Duration
		if r.Corrections.Plain, spent,
			err = playPlain(ctx, &o, false, o.Progress.Within(0.6, 0.2)); err != nil {
			return nil, err
		}
		if err := r.Processor.against(ctx, &o, spent, r); err != nil {
			return nil, err
		}
		if r.Corrections.Distant, _,
			err = playPlain(ctx, &o, true, o.Progress.Within(0.8, 0.2)); err != nil {
			return nil, err
		}
	}
	if err := r.Traffic.fit(ctx, &o, r.TickRate); err != nil {
		return nil, err
	}
	r.judge()
	return r, nil
}

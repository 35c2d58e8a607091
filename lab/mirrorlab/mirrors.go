package mirrorlab

import (
	"context"
	"errors"
	"fmt"
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
	// Mirrors is how many there are, and Players how many play on each. Defaults: 3 and 8.
	// With JoinLate one of the mirrors is the one that joins, and has none; the default is then 32 on all others together.
	Mirrors, Players int
	// Between is the network from each mirror to each other, and Near that from players to their mirror. Defaults: 40 ms with 5 ms of jitter and 0.1 % loss; 8 ms with
	// 1 ms and 0.1 %.
	Between, Near netsim.Conditions
	// Timeline and Delays are those of mirror.Options. Delays that are left out are made to fit the network.
	Timeline string
	Delays   []time.Duration
	// Margins and SendEvery are those of mirror.Options. Margins that are left out are the title's.
	Margins   []timeline.Margin
	SendEvery time.Duration
	// SnapshotRate is how many snapshots a second a client is sent. Default: 30, as mirrors have it.
	SnapshotRate int
	// Time is how long is measured, after Warm. Defaults: 60 s and 10 s.
	Time, Warm time.Duration
	// Drift is by how much mirrors' own clocks run fast or slow at most, in parts of a million: quartz does that. Default: 50. Below zero, they do not.
	Drift float64
	// Alone leaves out the runs with one plain server that corrections are compared with.
	Alone bool
	// Fault, if it is not NoFault, is what happens to the mirrors instead of play undisturbed, so many Times. Default: 5.
	Fault Fault
	Times int
	// Seed is the random seed of games and networks.
	Seed uint64
	// Progress, if set, is told how much of the work is done, from 0 to 1, and what is being done.
	Progress func(done float64, what string)

	subject *lab.Subject // what Title and Level come to
}

// Limits of a run.
const (
	MaxMirrors = 16
	MaxPlayers = 64 // on all mirrors together
)

// Valid says what is wrong with options, before anything is run.
func (o Options) Valid() error { return o.fill() }

func (o *Options) fill() error {
	if o.Mirrors == 0 {
		o.Mirrors = 3
	}
	if o.Players == 0 {
		o.Players = 8
		if o.Fault == JoinLate {
			o.Players = (32 + o.Mirrors - 2) / max(o.Mirrors-1, 1) // 32 on those that are there
		}
	}
	if o.Mirrors < 2 || o.Mirrors > MaxMirrors || o.Players < 1 || o.serving()*o.Players > MaxPlayers {
		return fmt.Errorf("%d mirrors with %d players each: choose 2 to %d mirrors, and no more than %d players on all of them", o.Mirrors, o.Players, MaxMirrors, MaxPlayers)
	}
	if unset(o.Between) {
		o.Between = netsim.Both(netsim.Profile{Latency: 40 * time.Millisecond, Jitter: netsim.Jitter{Amount: 5 * time.Millisecond}, Loss: 0.001})
	}
	if unset(o.Near) {
		o.Near = netsim.Both(netsim.Profile{Latency: 8 * time.Millisecond, Jitter: netsim.Jitter{Amount: time.Millisecond}, Loss: 0.001})
	}
	if o.Timeline == "" {
		o.Timeline = "auto"
	}
	if !slices.Contains(kinds.Names(), o.Timeline) {
		return fmt.Errorf("there is no timeline %q; choose one of %s", o.Timeline, strings.Join(kinds.Names(), ", "))
	}
	if o.Time == 0 {
		o.Time = time.Minute
	}
	if o.Warm == 0 {
		o.Warm = 10 * time.Second
	}
	if o.Time < time.Second || o.Time > 2*time.Hour || o.Warm < 0 || o.Warm > time.Hour {
		return fmt.Errorf("%v measured after %v: choose 1s to 2h, and up to 1h to warm up", o.Time, o.Warm)
	}
	if o.SnapshotRate == 0 {
		o.SnapshotRate = 30
	}
	if o.SnapshotRate < 0 || o.SnapshotRate > 1000 || o.SendEvery < 0 {
		return fmt.Errorf("%d snapshots a second, and commands passed on every %v: choose 1 to 1000, or 0 for the default, and no time below zero", o.SnapshotRate, o.SendEvery)
	}
	if o.Drift == 0 {
		o.Drift = 50
	}
	if o.Drift = max(o.Drift, 0); !(o.Drift <= 1000) {
		return fmt.Errorf("clocks wrong by %g parts of a million: choose up to 1000", o.Drift)
	}
	if o.Times == 0 {
		o.Times = 5
	}
	if o.Times < 1 || o.Times > 1000 {
		return fmt.Errorf("a fault %d times: choose 1 to 1000", o.Times)
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
	if len(o.Margins) == 0 {
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

// FitDelays are delays with which a timeline can work where mirrors are so far apart: those that wait have to wait for the slowest of nearly all packets, and
// the rest keep the mirrors' own.
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
	way := func(p netsim.Profile) time.Duration {
		switch p.Jitter.Shape {
		case netsim.Normal:
			return p.Latency + 3*p.Jitter.Amount
		case netsim.LongTail:
			return p.Latency + 10*p.Jitter.Amount
		case netsim.Recorded:
			return p.Latency + slices.Max(append([]time.Duration{0}, p.Jitter.Recorded...))
		}
		return p.Latency + p.Jitter.Amount
	}
	return max(way(c.Up), way(c.Down))
}

// pathDelay is what a datagram takes on average.
func pathDelay(c netsim.Conditions) time.Duration {
	way := func(p netsim.Profile) time.Duration {
		switch p.Jitter.Shape {
		case netsim.Normal:
			return p.Latency
		case netsim.LongTail:
			return p.Latency + p.Jitter.Amount*95/100
		case netsim.Recorded:
			sum := time.Duration(0)
			for _, d := range p.Jitter.Recorded {
				sum += d / time.Duration(len(p.Jitter.Recorded))
			}
			return p.Latency + sum
		}
		return p.Latency + p.Jitter.Amount/2
	}
	return (way(c.Up) + way(c.Down)) / 2
}

// Run measures all of it. The same options give the same figures, to the last digit.
func Run(ctx context.Context, o Options) (*Result, error) {
	if err := o.fill(); err != nil {
		return nil, err
	}
	if o.Fault != NoFault {
		return runFault(ctx, &o)
	}
	share, from := 1.0, 0.0
	if !o.Alone {
		share = 0.6
	}
	tell := func(what string, done float64) {
		if o.Progress != nil {
			o.Progress(from+share*done, what)
		}
	}
	r, err := play(ctx, &o, tell)
	if err != nil {
		return nil, err
	}
	if !o.Alone {
		for i, far := range []bool{false, true} {
			from, share = 0.6+0.2*float64(i), 0.2
			p, err := playPlain(ctx, &o, far, tell)
			if err != nil {
				return nil, err
			}
			if far {
				r.Corrections.Distant = p
			} else {
				r.Corrections.Plain = p
			}
		}
	}
	if err := r.Traffic.fit(ctx, &o, r.TickRate); err != nil {
		return nil, err
	}
	r.judge()
	return r, nil
}

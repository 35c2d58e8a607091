package rivals

import (
	"cmp"
	"fmt"
	"time"

	"github.com/coeval-dev/coeval/timeline"
	"github.com/coeval-dev/coeval/world"
)

// TimeWarp executes at once and keeps a snapshot of the world at every tick; a command that comes
// late takes the world back to before its tick, whether it makes a difference or not. It is
// Jefferson's algorithm (1985) as far as a mirror needs it: as worlds send each other nothing but
// players' commands, there are no anti-messages. It repairs sooner than Trailing and pays by a copy
// of the world at every tick and as many worlds as its window has ticks.
type TimeWarp struct {
	warp
	o TimeWarpOptions
}

// TimeWarpOptions say how far TimeWarp can go back.
type TimeWarpOptions struct {
	timeline.Options
	// Delay is the leading world's: what players wait for what they do.
	Delay time.Duration
	// Window is how late a command may be. All mirrors must have the same. Default: 1 s.
	Window time.Duration
	// Every is how many ticks lie between snapshots. More save copies and memory, and make going
	// back longer. Default: 1.
	Every int
}

// NewTimeWarp makes a timeline that goes on from a world. The world is copied.
func NewTimeWarp(start *world.World, o TimeWarpOptions) (*TimeWarp, error) {
	o.Window = cmp.Or(o.Window, time.Second)
	o.Every = cmp.Or(o.Every, 1)
	if o.Delay < 0 || o.Window <= o.Delay || o.Window > time.Hour || o.Every < 1 {
		return nil, fmt.Errorf(
			"timeline: a delay of %v, a window of %v and a snapshot every %d ticks; the window "+
				"must be larger than the delay and at most an hour, and there must be snapshots",
			o.Delay, o.Window, o.Every)
	}
	slack, err := o.Behind()
	if err != nil {
		return nil, err
	}
	reach := timeline.NewClock(start).Ticks(o.Window+slack) + 1
	t := &TimeWarp{o: o}
	t.reach = world.Tick(reach)
	if err := t.begin(start, o.Options, reach, o.Every, o.Every+1,
		fmt.Sprintf("snapshots for %v every %d ticks", o.Window+slack, o.Every)); err != nil {
		return nil, err
	}
	return t, t.Restore(nil)
}

// Stamp is the tick that is due next, and never one that was computed. While the world waits to be
// settled, so do commands.
func (t *TimeWarp) Stamp(now time.Duration) world.Tick {
	n := max(t.Clock.Upcoming(now), t.w.Tick()+1)
	if !t.Held() {
		return n
	}
	return t.Stamped(min(n, t.Done()+t.reach+1+world.Tick(t.Clock.Ticks(t.o.Delay))))
}

// Next is when the world takes its next tick, or one is settled.
func (t *TimeWarp) Next() time.Duration {
	next := timeline.Never
	if t.w.Tick() < t.Done()+t.reach {
		next = t.Clock.Time(t.w.Tick()+1) + t.o.Delay
	}
	if t.Done() < min(t.Settles(), t.w.Tick()) {
		next = min(next, t.Clock.Time(t.Done()+1)+t.o.Window)
	}
	if next == timeline.Never {
		return t.Tomorrow()
	}
	return next
}

// Submit takes a command in.
func (t *TimeWarp) Submit(_ time.Duration, c timeline.Command) (timeline.Fate, error) {
	if c.Kind == timeline.Promise {
		return timeline.OnTime, nil
	}
	f, err := t.Take(&c, c.Tick)
	if err != nil || f != timeline.OnTime {
		return f, err
	}
	if c.Tick <= t.w.Tick() {
		t.Counts.Late++
		t.spoil(c.Tick)
		return timeline.Late, nil
	}
	return f, nil
}

// Advance goes back if it has to, and computes what is due. Commands that came since the last time
// are repaired together.
func (t *TimeWarp) Advance(now time.Duration) error {
	return t.advance(now, t.o.Delay,
		func() world.Tick { return min(t.Clock.Due(t.Now-t.o.Window), t.Settles()) })
}

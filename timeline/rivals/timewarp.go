package rivals

import (
	"fmt"
	"time"

	"github.com/coeval-dev/coeval/timeline"
	"github.com/coeval-dev/coeval/world"
)

// TimeWarp executes at once and keeps a snapshot of the world at every tick; a command that comes late takes the world back to before its tick, whether it makes
// a difference or not. It is Jefferson's algorithm (1985) as far as a mirror needs it: as worlds send each other nothing but players' commands, there are no
// anti-messages. It repairs sooner than Trailing and pays by a copy of the world at every tick and as many worlds as its window has ticks.
type TimeWarp struct {
	warp
	o     TimeWarpOptions
	reach world.Tick // how far the leading world may be ahead of the settled one
}

// TimeWarpOptions say how far TimeWarp can go back.
type TimeWarpOptions struct {
	timeline.Options
	// Delay is the leading world's: what players wait for what they do.
	Delay time.Duration
	// Window is how late a command may be. All mirrors must have the same. Default: 1 s.
	Window time.Duration
	// Every is how many ticks lie between snapshots. More save copies and memory, and make going back longer. Default: 1.
	Every int
}

// NewTimeWarp makes a timeline that goes on from a world. The world is copied.
func NewTimeWarp(start *world.World, o TimeWarpOptions) (*TimeWarp, error) {
	if o.Window == 0 {
		o.Window = time.Second
	}
	if o.Every == 0 {
		o.Every = 1
	}
	if o.Delay < 0 || o.Window <= o.Delay || o.Window > time.Hour || o.Every < 1 {
		return nil, fmt.Errorf("timeline: a delay of %v, a window of %v and a snapshot every %d ticks; the window must be larger than the delay and at most an hour, and there must be snapshots",
			o.Delay, o.Window, o.Every)
	}
	if start == nil {
		return nil, timeline.ErrNoWorld
	}
	slack, err := o.Room()
	if err != nil {
		return nil, err
	}
	reach := timeline.NewClock(start.Game()).Ticks(o.Window+slack) + 1
	t := &TimeWarp{o: o, reach: world.Tick(reach)}
	if err := t.Open(start, o.Options, reach+o.Every+1); err != nil {
		return nil, err
	}
	if err := t.ready(start, reach, o.Every, fmt.Sprintf("snapshots for %v every %d ticks", o.Window+slack, o.Every)); err != nil {
		return nil, err
	}
	return t, t.Restore(nil)
}

// Stamp is the tick that is due next, and never one that was computed. While the world waits to be settled, so do commands.
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

// Advance goes back if it has to, and computes what is due. Commands that came since the last time are repaired together.
func (t *TimeWarp) Advance(now time.Duration) error {
	return t.Each(now, func(passed time.Duration) {
		due := t.Clock.Due(t.Now - t.o.Delay)
		for {
			t.run(max(min(due, t.Done()+t.reach), t.w.Tick()))
			before := t.Done()
			t.settle(min(t.Clock.Due(t.Now-t.o.Window), t.Settles()))
			// Where it was held for so long that it had to stop, there is more to catch up with than there are snapshots.
			if t.Err != nil || t.Done() == before || t.w.Tick() >= due {
				break
			}
		}
		t.Waited(t.w.Tick(), due, passed)
	})
}

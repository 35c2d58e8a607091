package timeline

import (
	"fmt"
	"time"

	"github.com/coeval-dev/coeval/world"
)

// TimeWarp executes at once and keeps a snapshot of the world at every tick; a command that comes late takes the world back to before its tick, whether it makes
// a difference or not. It is Jefferson's algorithm (1985) as far as a mirror needs it: as worlds send each other nothing but players' commands, there are no
// anti-messages. It repairs sooner than Trailing and pays by a copy of the world at every tick and as many worlds as its window has ticks.
type TimeWarp struct {
	warp
	o TimeWarpOptions
}

// TimeWarpOptions say how far TimeWarp can go back.
type TimeWarpOptions struct {
	Options
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
		return nil, errNoWorld
	}
	t := &TimeWarp{o: o}
	reach := newClock(start.Game()).ticks(o.Window) + 1
	if err := t.open(start, o.Options, reach, o.Every+1); err != nil {
		return nil, err
	}
	if err := t.ready(start, reach, o.Every, fmt.Sprintf("snapshots for %v every %d ticks", o.Window, o.Every)); err != nil {
		return nil, err
	}
	return t, nil
}

// Stamp is the tick that is due next, and never one that was computed.
func (t *TimeWarp) Stamp(now time.Duration) world.Tick { return max(t.next(now), t.w.Tick()+1) }

// Next is when the world takes its next tick, or one is settled.
func (t *TimeWarp) Next() time.Duration {
	return min(t.time(t.w.Tick()+1)+t.o.Delay, t.time(t.settled+1)+t.o.Window)
}

// Submit takes a command in.
func (t *TimeWarp) Submit(_ time.Duration, c Command) (Fate, error) {
	if c.Kind == Promise {
		return OnTime, t.book.valid(&c)
	}
	f, err := t.take(&c, c.Tick, t.settled)
	if err != nil || f != OnTime {
		return f, err
	}
	if c.Tick <= t.w.Tick() {
		t.stats.Late++
		t.spoil(c.Tick)
		return Late, nil
	}
	return f, nil
}

// Advance goes back if it has to, and computes what is due. Commands that came since the last time are repaired together.
func (t *TimeWarp) Advance(now time.Duration) error {
	return t.each(now, func(time.Duration) {
		t.run(max(t.due(t.now-t.o.Delay), t.w.Tick()))
		t.settle(t.due(t.now - t.o.Window))
	})
}

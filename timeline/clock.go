package timeline

import (
	"time"

	"github.com/coeval-dev/coeval/world"
)

// A Clock says when ticks are. Tick n is stamped, and due in a world without delay, at n tick
// lengths after the beginning of time, which all mirrors share. Delays are durations and not
// numbers of ticks: a world with delay d computes tick n at that time plus d, so 5 ms make a
// difference though a tick lasts 16.
type Clock struct{ rate time.Duration }

// NewClock is that of a world. Where there is no world, which Core.Open refuses, it is any.
func NewClock(w *world.World) Clock {
	if w == nil {
		return Clock{1}
	}
	return Clock{time.Duration(w.Game().Rate())}
}

// Length is that of a tick, rounded down to a nanosecond.
func (c Clock) Length() time.Duration { return time.Second / c.rate }

// Time is when a tick is due.
func (c Clock) Time(t world.Tick) time.Duration {
	r := world.Tick(c.rate)
	return time.Duration(t/r)*time.Second + time.Duration(t%r)*time.Second/c.rate
}

// Due is the last tick whose time has come, or 0.
func (c Clock) Due(now time.Duration) world.Tick {
	if now < 0 {
		return 0
	}
	return world.Tick(now/time.Second*c.rate + ((now%time.Second+1)*c.rate-1)/time.Second)
}

// Upcoming is the first tick whose time is not before now.
func (c Clock) Upcoming(now time.Duration) world.Tick {
	t := c.Due(now)
	if c.Time(t) < now {
		t++
	}
	return t
}

// Ticks is how many ticks a duration touches.
func (c Clock) Ticks(d time.Duration) int {
	if d <= 0 {
		return 0
	}
	return int(c.Upcoming(d))
}

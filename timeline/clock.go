package timeline

import (
	"time"

	"github.com/coeval-dev/coeval/world"
)

// A clock says when ticks are. Tick n is stamped, and due in a world without delay, at n tick lengths after the beginning of time, which all mirrors share.
// Delays are durations and not numbers of ticks: a world with delay d computes tick n at that time plus d, so 5 ms make a difference though a
// tick lasts 16.
type clock struct{ rate time.Duration }

func newClock(g *world.Game) clock { return clock{time.Duration(g.Rate())} }

// length is that of a tick, rounded down to a nanosecond.
func (c clock) length() time.Duration { return time.Second / c.rate }

// time is when a tick is due.
func (c clock) time(t world.Tick) time.Duration {
	r := world.Tick(c.rate)
	return time.Duration(t/r)*time.Second + time.Duration(t%r)*time.Second/c.rate
}

// due is the last tick whose time has come, or 0.
func (c clock) due(now time.Duration) world.Tick {
	if now < 0 {
		return 0
	}
	return world.Tick(now/time.Second*c.rate + ((now%time.Second+1)*c.rate-1)/time.Second)
}

// next is the first tick whose time is not before now.
func (c clock) next(now time.Duration) world.Tick {
	t := c.due(now)
	if c.time(t) < now {
		t++
	}
	return t
}

// ticks is how many ticks a duration touches.
func (c clock) ticks(d time.Duration) int {
	if d <= 0 {
		return 0
	}
	return int(c.next(d))
}

package predict

import (
	"time"

	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/replica"
	"github.com/coeval-dev/coeval/world"
)

// This file is what style None needs in place of the worlds of recent ticks: it shows the truth
// itself, and its clock only sends commands in time.

// takePlain takes a packet's worth of news as it came.
func (c *Client) takePlain(now time.Duration, s *replica.Snapshot) {
	if s.Report {
		c.lead.heard(now, s.Tick, s.Early, c.trip+c.jitter)
		c.stats.Repeated += s.Repeated
	}
	if s.Tick >= c.known || !c.any {
		c.any, c.known = true, s.Tick
		c.truth.Host().SetTick(s.Tick)
	} else {
		c.stats.Overtaken++
	}
	for i := range s.Updates {
		u := &s.Updates[i]
		if u.What != replica.Held {
			c.truth.Host().Drop(u.ID)
		} else {
			c.fail(c.truth.Host().Put(u.ID, u.Entry, u.Image))
		}
	}
	for i := range s.Events {
		c.told(&s.Events[i])
	}
	c.notices.sure(s.Settled)
	c.notices.forget(c.known - min(c.known, c.o.Keep+2*c.o.Patience))
}

// showPlain gives the truth, with the events that have come since it was shown before.
func (c *Client) showPlain() *world.World {
	c.truth.Host().SetTick(c.known)
	c.hand(c.truth)
	return c.truth
}

// plainClock says for which ticks commands are sent where nothing is predicted: it begins with a
// guess from the round trip, and then moves slowly until the server says that commands come
// comfortably early.
type plainClock struct {
	tick   time.Duration // the length of one
	known  bool
	origin time.Duration
	lead   float64       // ticks at origin
	quiet  time.Duration // until then reports are about commands from before
	moved  bool          // the way to the server is another
	late   int           // reports in a row that commands came much too late
}

const (
	// comfort is how early commands shall come, in quarters of a tick: enough that a little jitter
	// makes none late.
	comfort = 6
	// leadGain is the part of an error that each snapshot takes away. What it causes is seen a
	// round trip later, a dozen snapshots on the longest paths, so it must be small or the clock
	// would swing.
	leadGain = 0.04
	// leadJump is an error, in ticks, that is not worth gliding over. To be further ahead than the
	// guess is none as long as commands do not come too early: a server that is one of several may
	// want them long before it executes them.
	leadJump = 12
	// leadLate is how late commands may come, in quarters of a tick, before the clock is set right
	// at once.
	leadLate = 8
)

// reset forgets everything: another world begins, or time stood still.
func (c *plainClock) reset() { c.known, c.moved = false, false }

// heard takes what a snapshot says of how early commands came, and how long the way there and back
// is.
func (c *plainClock) heard(now time.Duration, server world.Tick, early int, trip time.Duration) {
	guess := float64(server) + float64(trip)/float64(c.tick) + 2
	at := c.at(now)
	longer := c.moved && guess > at // where it is shorter there is time
	c.moved = false
	far := det.Abs(guess-at) > leadJump+float64(trip)/float64(c.tick)
	switch {
	case !c.known || longer || far && (guess > at || early > 4*leadJump):
		c.known, c.origin, c.lead = true, now, guess
		c.quiet = now + 2*trip
		return
	case now < c.quiet:
		return
	case early < -leadLate:
		// Not one stall of the way, but all of the time: nothing that is sent counts, and in a
		// world at rest the next report is long in coming.
		if c.late++; c.late > 2 {
			c.origin, c.lead = now, at+float64(comfort-early)/4
			c.quiet, c.late = now+2*trip, 0
			return
		}
	default:
		c.late = 0
	}
	step := float64(det.Clamp(float64(comfort-early)/4, -leadJump, leadJump) * leadGain)
	c.origin, c.lead = now, at+step
}

func (c *plainClock) at(now time.Duration) float64 {
	return c.lead + float64(now-c.origin)/float64(c.tick)
}

// target is the tick up to which commands should be on their way, or zero as long as nothing was
// heard.
func (c *plainClock) target(now time.Duration) world.Tick {
	if !c.known {
		return 0
	}
	return world.Tick(max(c.at(now), 0))
}

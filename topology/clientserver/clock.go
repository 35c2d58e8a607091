package clientserver

import (
	"time"

	"github.com/coeval-dev/coeval/conn"
	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/replica"
	"github.com/coeval-dev/coeval/world"
)

// A Clock decides for which ticks a client sends commands: it runs ahead of the server by just enough that commands arrive in time. A client that predicts brings
// its own.
type Clock interface {
	// Heard is told of each snapshot, and how the connection does.
	Heard(now time.Duration, s *replica.Snapshot, q conn.Quality)
	// Target is the tick up to which commands should be on their way now. It may be zero as long as nothing was heard.
	Target(now time.Duration) world.Tick
	// Reset forgets everything: another world begins, or time stood still.
	Reset()
}

// A Mover is a Clock that is told when the client goes on at another server, to which the way may be longer: the world's time goes on, what was measured does not count
// any more.
type Mover interface{ Moved() }

// leadClock is a simple Clock: it begins with a guess from the round trip, and then moves slowly until the server says that commands come comfortably early.
type leadClock struct {
	tick    time.Duration // the length of one
	known   bool
	origin  time.Duration
	lead    float64 // ticks at origin
	settled time.Duration
	moved   bool // the way to the server is another
	late    int  // reports in a row that commands came much too late
}

const (
	// comfort is how early commands shall come, in quarters of a tick: enough that a little jitter makes none late.
	comfort = 6
	// leadGain is the part of an error that each snapshot takes away. What it causes is seen a round trip later, a dozen snapshots on the longest paths, so it
	// must be small or the clock would swing.
	leadGain = 0.04
	// leadJump is an error, in ticks, that is not worth gliding over. To be further ahead than the guess is none as long as commands do not come too early: a server
	// that is one of several may want them long before it executes them.
	leadJump = 12
	// leadLate is how late commands may come, in quarters of a tick, before the clock is set right at once.
	leadLate = 8
)

func (c *leadClock) Reset() { c.known, c.moved = false, false }

func (c *leadClock) Moved() { c.moved = true }

func (c *leadClock) Heard(now time.Duration, s *replica.Snapshot, q conn.Quality) {
	trip := q.RoundTrip + q.Jitter
	guess := float64(s.Tick) + float64(trip)/float64(c.tick) + 2
	at := c.at(now)
	longer := c.moved && guess > at // where it is shorter there is time
	c.moved = false
	switch {
	case !c.known || longer || det.Abs(guess-at) > leadJump+float64(trip)/float64(c.tick) && (guess > at || s.Early > 4*leadJump):
		c.known, c.origin, c.lead = true, now, guess
		c.settled = now + 2*trip // until then reports are about commands from before
		return
	case now < c.settled:
		return
	case s.Early < -leadLate:
		// Not one stall of the way, but all of the time: nothing that is sent counts, and in a world at rest the next report is long in coming.
		if c.late++; c.late > 2 {
			c.origin, c.lead = now, at+float64(comfort-s.Early)/4
			c.settled, c.late = now+2*trip, 0
			return
		}
	default:
		c.late = 0
	}
	c.origin, c.lead = now, at+float64(det.Clamp(float64(comfort-s.Early)/4, -leadJump, leadJump)*leadGain)
}

func (c *leadClock) at(now time.Duration) float64 {
	return c.lead + float64(now-c.origin)/float64(c.tick)
}

func (c *leadClock) Target(now time.Duration) world.Tick {
	if !c.known {
		return 0
	}
	return world.Tick(max(c.at(now), 0))
}

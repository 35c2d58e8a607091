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

// leadClock is a simple Clock: it begins with a guess from the round trip, and then moves slowly until the server says that commands come comfortably early.
type leadClock struct {
	tick    time.Duration // the length of one
	known   bool
	origin  time.Duration
	lead    float64 // ticks at origin
	settled time.Duration
}

const (
	// comfort is how early commands shall come, in quarters of a tick: enough that a little jitter makes none late.
	comfort = 6
	// leadGain is the part of an error that each snapshot takes away. What it causes is seen a round trip later, a dozen snapshots on the longest paths, so it
	// must be small or the clock would swing.
	leadGain = 0.04
	// leadJump is an error, in ticks, that is not worth gliding over.
	leadJump = 12
)

func (c *leadClock) Reset() { c.known = false }

func (c *leadClock) Heard(now time.Duration, s *replica.Snapshot, q conn.Quality) {
	trip := q.RoundTrip + q.Jitter
	guess := float64(s.Tick) + float64(trip)/float64(c.tick) + 2
	at := c.at(now)
	switch {
	case !c.known || det.Abs(guess-at) > leadJump+float64(trip)/float64(c.tick):
		c.known, c.origin, c.lead = true, now, guess
		c.settled = now + 2*trip // until then reports are about commands from before
		return
	case now < c.settled:
		return
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

package predict

import (
	"time"

	"github.com/coeval-dev/coeval/conn"
)

// A Cadence says how many packets a second a client's commands go in. One for each tick is best.
// But a packet of commands is mostly headers, sixty of them are more than a modem takes, and what
// then waits before it delays all that follows. Where the connection has met a limit, the commands
// of two or more ticks share a packet, so many that they take up four fifths of what may be sent at
// most. Where it has met none, each goes at once.
//
// Give PerSecond to conn.Conn's SetSendRate. The zero value is ready.
type Cadence struct {
	// Rate is the game's ticks a second. Default: 60.
	Rate int

	every int // ticks for each packet; 0 is 1
}

const (
	cadenceMost  = 6    // ticks for each packet
	cadenceFull  = 0.95 // of what may be sent: beyond it fewer packets go
	cadenceRoomy = 0.8  // and what more packets may take
)

// Observe takes what the connection measures, once for each snapshot.
func (c *Cadence) Observe(_ time.Duration, q conn.Quality) {
	c.every = max(c.every, 1)
	if q.Limit == 0 {
		c.every = 1
		return
	}
	rate := c.Rate
	orElse(&rate, 60)
	need := func(every int) float64 { return float64(rate*q.Packet) / float64(every) }
	allowed := float64(q.Rate)
	if need(c.every) <= cadenceFull*allowed &&
		(c.every == 1 || need(c.every-1) > cadenceRoomy*allowed) {
		return
	}
	for c.every = 1; c.every < cadenceMost && need(c.every) > cadenceRoomy*allowed; {
		c.every++
	}
}

// PerSecond is how many packets to send in a second, or zero for one at each tick.
func (c *Cadence) PerSecond() float64 {
	if c.every <= 1 {
		return 0
	}
	rate := c.Rate
	orElse(&rate, 60)
	return float64(rate) / float64(c.every)
}

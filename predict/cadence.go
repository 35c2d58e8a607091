package predict

import (
	"time"

	"github.com/coeval-dev/coeval/conn"
)

// A Cadence says how many packets a second a client's commands go in. One for each tick is best.
// But a packet of commands is mostly headers, sixty of them are more than a modem takes, and what
// then waits before it delays all that follows. Where a queue forms and is shorter with fewer
// packets, the commands of two or four ticks share one; more are tried again after a while of play,
// and after a longer one each time that this fails. A queue that has other causes is left alone.
//
// Give PerSecond to conn.Conn's SetSendRate. The zero value is ready.
type Cadence struct {
	// Rate is the game's ticks a second. Default: 60.
	Rate int

	every  int           // ticks for each packet; 0 is 1
	full   int           // of these, as many as there were when a queue formed; 0 if none has
	before time.Duration // the queue then
	trial  bool          // fewer packets are being tried
	until  time.Duration // when to look again
	calm   int           // snapshots without a queue
	// of these, before it is tried again with as many packets as made the queue
	enough int
}

const (
	cadenceMost  = 4                     // ticks for each packet
	cadenceLong  = 80 * time.Millisecond // a queue that hurts
	cadenceTime  = 3 * time.Second       // what it takes to drain, beside some round trips
	cadenceRest  = 20 * time.Second      // for which a queue of others is left alone
	cadenceQuick = 60                    // snapshots, before more packets are tried that may do
	cadenceCalm  = 300                   // and before those that did not
)

// Observe takes what the connection measures, once for each snapshot.
func (c *Cadence) Observe(now time.Duration, q conn.Quality) {
	c.every, c.enough = max(c.every, 1), max(c.enough, cadenceCalm)
	if now < c.until {
		return
	}
	long := q.Queue > cadenceLong+2*q.Jitter
	wait := cadenceTime + 2*q.RoundTrip
	switch {
	case c.trial && q.Queue > c.before*3/4: // it was not for these packets
		c.every, c.full, c.trial, c.until = c.full, 0, false, now+cadenceRest
	case long && c.every < cadenceMost:
		if c.every == c.full {
			c.enough = min(2*c.enough, 16*cadenceCalm)
		}
		c.before, c.full, c.every, c.trial, c.until, c.calm = q.Queue, c.every, cadenceMost, true,
			now+wait, 0
	case long:
		c.trial, c.calm = false, 0
	default:
		c.trial = false
		c.calm++
		c.quicken(now + wait)
	}
}

// quicken goes back to more packets when there was no queue for long enough.
func (c *Cadence) quicken(next time.Duration) {
	enough := cadenceQuick
	if c.every/2 <= c.full {
		enough = c.enough
	}
	switch {
	case c.calm < enough:
	case c.every > 1:
		c.every, c.until, c.calm = c.every/2, next, 0
	default:
		c.full, c.enough = 0, cadenceCalm
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

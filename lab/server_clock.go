package lab

import "time"

// slowClock is a clock that may run slower than time does. A server takes as long for a tick whatever the time between two of them; so a machine that has too few
// cores for all bots plays in slow motion, and what a tick costs is the same.
type slowClock struct {
	since time.Time     // when it was last set
	at    time.Duration // what it showed then
	pace  float64       // how much of a second passes in one
}

func newSlowClock(every time.Duration) *slowClock {
	return &slowClock{since: tickStart(every), pace: 1}
}

func (c *slowClock) now() time.Duration {
	return c.at + time.Duration(float64(time.Since(c.since))*c.pace)
}

// setPace changes how fast it runs, without a jump, from a moment on that comes soon. All processes on a machine that are told the same moment still agree on when ticks begin.
func (c *slowClock) setPace(pace float64, from time.Time) {
	if !(pace > 0 && pace <= 1) {
		return
	}
	time.Sleep(min(time.Until(from), time.Second))
	c.at += time.Duration(float64(from.Sub(c.since)) * c.pace)
	c.since, c.pace = from, pace
}

// sleep lets so much of its time pass.
func (c *slowClock) sleep(d time.Duration) { time.Sleep(time.Duration(float64(d) / c.pace)) }

package lab

import "time"

// A Clock is the time of workers on one machine, which may run slower than time does. A server
// takes as long for a tick whatever the time between two of them; so a machine that has too few
// cores for all bots plays in slow motion, and what a tick costs is the same.
type Clock struct {
	since time.Time     // when it was last set
	at    time.Duration // what it showed then
	Pace  float64       // how much of a second passes in one
}

// NewClock begins at the last moment at which a tick began. All processes on a machine agree on it,
// since they ask the same clock.
func NewClock(every time.Duration) *Clock {
	now := time.Now()
	return &Clock{since: now.Add(-now.Sub(now.Truncate(every))), Pace: 1}
}

// Now is what the clock shows.
func (c *Clock) Now() time.Duration {
	return c.at + time.Duration(float64(time.Since(c.since))*c.Pace)
}

// SetPace changes how fast the clock runs, without a jump, from a moment on that comes soon. All
// processes on a machine that are told the same moment still agree on when ticks begin.
func (c *Clock) SetPace(pace float64, from time.Time) {
	if !(pace > 0 && pace <= 1) {
		return
	}
	time.Sleep(min(time.Until(from), time.Second))
	c.at += time.Duration(float64(from.Sub(c.since)) * c.Pace)
	c.since, c.Pace = from, pace
}

// Sleep lets so much of the clock's time pass.
func (c *Clock) Sleep(d time.Duration) { time.Sleep(time.Duration(float64(d) / c.Pace)) }

// Wall is the time of day at which the clock began.
func (c *Clock) Wall() int64 { return c.since.Unix() }

// A Beat is a steady tick that does not make up for what it missed.
type Beat struct {
	Every time.Duration
	due   time.Duration
}

// Next is how long to rest until the next tick.
func (b *Beat) Next(now time.Duration) time.Duration {
	b.due += b.Every
	if b.due <= now {
		b.due = now - (now-b.due)%b.Every
		return 0
	}
	return b.due - now
}

// A Turn is when clients act within a tick: evenly spread from one moment of it to another. They
// leave out the moment at which the server drains its socket, so that each tick brings one message
// of each: otherwise those who come just then would bring two at one tick and none at the next, and
// what is counted for a message would depend on chance.
type Turns struct {
	Every   time.Duration
	Clients int
	next    int
}

// due is when turn n comes.
func (t *Turns) due(n int, from, to time.Duration) time.Duration {
	return time.Duration(n/t.Clients)*t.Every + from +
		(to-from)*time.Duration(n%t.Clients)/time.Duration(t.Clients)
}

// Take calls play for all clients whose turn has come, and says when the next one's is. Where the
// clock has run away by more than a tick, whole ticks are left out, so that nobody plays twice at
// once.
func (t *Turns) Take(now, from, to time.Duration, play func(client int) error) (time.Duration,
	error) {
	if late := now - t.due(t.next, from, to) - t.Every; late > 0 {
		t.next += (int(late/t.Every) + 1) * t.Clients
	}
	for t.due(t.next, from, to) <= now {
		if err := play(t.next % t.Clients); err != nil {
			return 0, err
		}
		t.next++
	}
	return t.due(t.next, from, to), nil
}

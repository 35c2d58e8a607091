package conn

import "time"

// rate is how much may be sent: a bucket that fills at a rate, and a controller
// that adapts the rate once a round trip.
//
// Loss alone says little on a radio link, so what counts is queueing: the
// difference between the least round trip of this round and the least of the
// last ten seconds or so. A queue makes the rate sink, whatever is lost. Loss without
// a queue makes it sink as well, since some networks police rather than queue, but
// never below lossFloor.
type rate struct {
	bytes  float64 // a second
	bucket float64
	at     time.Duration // when the bucket was filled last

	flushed float64 // bytes of messages since the last flush
	burst   float64 // the most of that, of late

	began    time.Duration // of this round
	spent    int           // bytes in it
	acked    int
	lost     int
	refused  int
	verdicts int           // packets that got one
	samples  int           // of the round trip
	least    time.Duration // round trip in it
	queue    time.Duration
	starved  bool // there was more to send than the bucket held
	limited  bool // has met a limit: rises gently from here on
}

const (
	roundMin  = 100 * time.Millisecond
	roundMost = time.Second
	// The least of fewer round trips than this says more about jitter than about queues.
	roundSamples = 4
	// Nor is one lost of a few packets a rate of loss.
	roundVerdicts = 10
	lossFloor     = 32 << 10

	// Queueing below calm is noise, above heavy it hurts play. On top of either comes
	// what jitter can explain.
	queueCalm  = 20 * time.Millisecond
	queueHeavy = 60 * time.Millisecond

	bucketTime = 100 * time.Millisecond
)

func newRate(now time.Duration, o *Options) rate {
	r := rate{bytes: float64(o.Rate), at: now, began: now, least: unmeasuredTrip}
	r.bucket = r.size(o.Datagram)
	return r
}

// size is the most the bucket holds: a tenth of a second, but some packets at least.
func (r *rate) size(datagram int) float64 {
	return max(r.bytes*bucketTime.Seconds(), 3*float64(datagram+udpOverhead))
}

func (c *Conn) fillBucket() {
	r := &c.rate
	now := c.m.now
	if d := now - r.at; d > 0 {
		r.bucket = min(r.bucket+float64(r.bytes*d.Seconds()), r.size(c.datagram))
		r.at = now
	}
}

func (c *Conn) spend(size int, bulk bool) {
	r := &c.rate
	r.bucket -= float64(size + udpOverhead)
	r.spent += size + udpOverhead
	if !bulk {
		r.flushed += float64(size + udpOverhead)
	}
}

// endFlush learns how much messages need at once.
func (r *rate) endFlush() {
	r.burst = max(r.burst-r.burst/256, r.flushed)
	r.flushed = 0
}

// rateRound ends a round when one has passed and adapts the rate.
func (c *Conn) rateRound() {
	r := &c.rate
	now := c.m.now
	took := now - r.began
	if took < max(c.measure.smooth, roundMin) || r.samples < roundSamples && took < roundMost {
		return
	}
	o := &c.m.opt
	if r.least != unmeasuredTrip {
		r.queue = max(r.least-c.measure.base(), 0)
	}
	loss := 0.0
	if n := r.acked + r.lost; r.verdicts >= roundVerdicts {
		loss = float64(r.lost) / float64(n)
	}
	arrived := float64(r.acked) / took.Seconds()
	noise := 2 * c.measure.jitter
	busy := r.starved || float64(r.spent) > 0.7*r.bytes*took.Seconds()

	switch {
	case r.refused > 0:
		r.bytes *= 0.7
		r.limited = true
	case r.queue > queueHeavy+2*noise && busy:
		// More goes in than comes out: fall to what arrives, and a bit below, so that
		// the queue can empty.
		r.bytes = max(min(r.bytes*0.85, arrived*0.85), r.bytes/2)
		r.limited = true
	case r.queue > queueCalm+noise && loss > 0.02 && busy:
		r.bytes *= 0.85
		r.limited = true
	case r.queue > queueCalm+noise:
		// Neither up nor down: the next round will tell.
	case loss > 0.10 && busy:
		r.bytes = max(r.bytes*0.9, min(r.bytes, lossFloor))
	case busy && !r.limited:
		r.bytes *= 2
	case busy:
		r.bytes += max(r.bytes*0.08, float64(c.datagram))
	}
	r.bytes = min(max(r.bytes, float64(o.MinRate)), float64(o.MaxRate))

	if c.sent.reordering > 0 && r.lost == 0 {
		c.sent.reordering-- // forget slowly
	}
	r.began = now
	r.spent, r.acked, r.lost, r.refused, r.samples, r.verdicts = 0, 0, 0, 0, 0, 0
	r.least = unmeasuredTrip
	r.starved = false
}

// Budget is how many bytes may be sent to the peer now, headers included. It is
// what the layer above should fill its packets by; small overdrafts are paid back
// by later calls.
func (c *Conn) Budget(now time.Duration) int {
	c.m.advance(now)
	c.fillBucket()
	return max(int(c.rate.bucket), 0)
}

// pace is how often messages go, if not at each Flush: every so much time, next when it is time
// again.
type pace struct{ every, next time.Duration }

// SetSendRate changes how many packets a second messages are gathered into. Zero
// means one at each Flush.
func (c *Conn) SetSendRate(perSecond float64) {
	c.pace.every = 0
	if perSecond > 0 {
		c.pace.every = time.Duration(float64(time.Second) / perSecond)
	}
}

// Due reports whether the steady send rate allows a packet now. Flush keeps to
// it; a layer above that composes its own packets asks.
func (c *Conn) Due(now time.Duration) bool {
	c.m.advance(now)
	return c.due()
}

func (c *Conn) due() bool { return c.pace.every == 0 || c.m.now >= c.pace.next }

// paced notes that a packet of messages goes out at its time.
func (c *Conn) paced() {
	if c.pace.every == 0 {
		return
	}
	// The beat is kept even when ticks fall beside it, but what was missed is not made up for.
	p, now := &c.pace, c.m.now
	if p.next += p.every; p.next <= now {
		p.next = now + p.every - (now-p.next)%p.every
	}
}

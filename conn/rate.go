package conn

import "time"

// rate is how much may be sent: a bucket that fills at a rate, and a controller that adapts the
// rate once a round trip.
//
// Loss alone says little on a radio link, so what counts is queueing: the difference between the
// least round trip of this round and the least of the last ten seconds or so. Where a queue stands,
// the line is busy, and what arrives is what it carries. The rate falls below that until the queue
// is gone, and stays a little below afterwards. A queue that does not shrink although the line had
// the time to empty it is not of our making: the path has become longer, or others fill it. Then
// the longer round trip is what the next ones are compared with, and the rate is as before.
// Loss without a queue makes the rate sink as well, since some networks police rather than queue,
// but never below lossFloor.
type rate struct {
	bytes  float64 // a second
	bucket float64
	at     time.Duration // when the bucket was filled last

	flushed float64 // bytes of messages since the last flush
	burst   float64 // the most of that, of late

	round
	queue   time.Duration // on the way to the peer
	queueIn time.Duration // and from it
	long    bool          // the queue was longer than it may be
	arrives float64       // bytes a second, smoothed, while no queue is emptied
	mean    float64       // bytes of a packet of ours, headers included
	limit   float64       // what the line carries, once a queue has shown it; zero before
	met     time.Duration // when the limit was met last
	calm    int           // rounds near the limit since then
	drain   drain
}

// round is what happened since the rate was adapted last. Bytes are with headers.
type round struct {
	began    time.Duration
	spent    int // bytes
	packets  int
	acked    int
	lost     int
	refused  int
	verdicts int           // packets that got one
	samples  int           // of the round trip
	least    time.Duration // of them
	leastIn  time.Duration // on the way from the peer, by its clock
	starved  bool          // there was more to send than the bucket held
}

// drain is the attempt to empty a queue.
type drain struct {
	on      bool
	queue   time.Duration // as long as it was at most
	waits   float64       // seconds that it, and all that was on its way to it, takes on the line
	before  float64       // the rate before
	limit   float64       // and what the line seemed to carry
	seconds float64       // that it takes so far
	arrived float64       // bytes meanwhile, so that it is known what the line carries
	spare   float64       // seconds of the line that were left to empty the queue
}

const (
	roundMin  = 100 * time.Millisecond
	roundMost = time.Second
	// The least of fewer round trips than this says more about jitter than about queues.
	roundSamples = 4
	// Nor is one lost of a few packets a rate of loss.
	roundVerdicts = 10
	lossFloor     = 32 << 10

	// queueCalm is what a queue may be beside what jitter and the airtime of one packet explain.
	queueCalm = 40 * time.Millisecond
	// drainSlack is how much longer than it should take a queue is given to empty, in seconds.
	drainSlack = 0.15

	bucketTime = 100 * time.Millisecond
	// flightSpare is for how long may be sent beyond a round trip without an acknowledgement.
	flightSpare = 250 * time.Millisecond
	flightLeast = 3 // datagrams
	// limitFor is how long a limit holds that is not met again.
	limitFor    = 20 * time.Second
	bucketLeast = 800
)

func newRate(now time.Duration, o *Options) rate {
	r := rate{bytes: float64(o.Rate), at: now, mean: 100,
		round: newRound(now)}
	r.bucket = r.size()
	return r
}

func newRound(now time.Duration) round {
	return round{began: now, least: unmeasuredTrip, leastIn: unmeasuredTrip}
}

// size is the most the bucket holds: a tenth of a second, but enough for a packet that says
// something. What is in it goes at once, and waits on a line that is slower.
func (r *rate) size() float64 { return max(r.bytes*bucketTime.Seconds(), bucketLeast) }

// airtime is how long bytes take at the rate.
func (r *rate) airtime(bytes float64) time.Duration {
	return time.Duration(bytes / max(r.bytes, 1) * float64(time.Second))
}

func (c *Conn) fillBucket() {
	r := &c.rate
	now := c.m.now
	if d := now - r.at; d > 0 {
		r.bucket = min(r.bucket+float64(r.bytes*d.Seconds()), r.size())
		r.at = now
	}
}

// room is how many bytes may go now: what the bucket holds, as long as no more is under way than
// the path holds without a queue. So where nothing is acknowledged, not much is sent.
func (c *Conn) room() float64 {
	r, q := &c.rate, &c.measure
	trip := q.smooth
	if base := q.base(); base != unmeasuredTrip {
		trip = base
	}
	trip += c.queueAllowed() + q.peerDelay + flightSpare
	window := max(r.bytes*trip.Seconds(), flightLeast*float64(c.datagram+udpOverhead))
	return min(r.bucket, window-float64(c.sent.flightBytes))
}

func (c *Conn) spend(size int, bulk bool) {
	r := &c.rate
	// What was sent far beyond the budget is forgiven: it is over.
	r.bucket = max(r.bucket-float64(size+udpOverhead), -r.size()-float64(c.datagram))
	r.spent += size + udpOverhead
	r.packets++
	if !bulk {
		r.flushed += float64(size + udpOverhead)
	}
}

// endFlush learns how much messages need at once.
func (r *rate) endFlush() {
	r.burst = max(r.burst-r.burst/256, r.flushed)
	r.flushed = 0
}

// queueAllowed is how much longer than the least a round trip may be.
func (c *Conn) queueAllowed() time.Duration {
	return queueCalm + c.measure.jitter + c.rate.airtime(c.rate.mean)
}

// rateRound ends a round when one has passed and adapts the rate.
func (c *Conn) rateRound() {
	r := &c.rate
	now := c.m.now
	took := now - r.began
	if took < min(max(c.measure.smooth, roundMin), roundMost) ||
		r.samples < roundSamples && took < roundMost {
		return
	}
	o := &c.m.opt
	if r.leastIn != unmeasuredTrip {
		r.queueIn = r.leastIn - min(c.measure.in, c.measure.inBefore)
	}
	if r.least != unmeasuredTrip {
		// What waits on the way back is not for us to send less for.
		both := max(r.least-c.measure.base(), 0)
		r.queueIn = min(r.queueIn, both)
		r.queue = both - r.queueIn
	}
	if r.packets > 0 {
		r.mean += (float64(r.spent)/float64(r.packets) - r.mean) / 4
	}
	if !r.drain.on {
		r.arrives += (float64(r.acked)/took.Seconds() - r.arrives) / 4
	}
	c.adapt(took.Seconds())
	r.bytes = min(max(r.bytes, float64(o.MinRate)), float64(o.MaxRate))
	r.bucket = min(r.bucket, r.size())

	if c.sent.reordering > 0 && r.lost == 0 {
		c.sent.reordering-- // forget slowly
	}
	r.round = newRound(now)
}

// adapt changes the rate by what a round of so many seconds has shown.
func (c *Conn) adapt(took float64) {
	r := &c.rate
	loss := 0.0
	if n := r.acked + r.lost; r.verdicts >= roundVerdicts {
		loss = float64(r.lost) / float64(n)
	}
	allowed := c.queueAllowed()
	busy := r.starved || float64(r.spent) > 0.7*r.bytes*took
	if c.m.now-r.met > limitFor {
		r.limit = 0
	}
	// A single round says little, unless the path is known to be narrow.
	again := r.long || r.limit > 0 || r.queue > 2*allowed
	r.long = r.queue > allowed
	switch {
	case r.refused > 0:
		r.bytes *= 0.7
		r.limit, r.met = r.bytes, c.m.now
	case r.long && again || r.drain.on && r.queue > allowed/2:
		c.empty(took)
	case r.drain.on:
		r.emptied()
	case r.queue > allowed/2 && loss > 0.02 && busy && r.bytes > lossFloor:
		r.bytes = max(r.bytes*0.85, lossFloor)
	case r.queue > allowed/2:
		// Neither up nor down: the next round will tell.
	case loss > 0.10 && busy && r.bytes > lossFloor:
		r.bytes = max(r.bytes*0.9, lossFloor)
	case !busy:
	case r.limit == 0 || r.bytes > 2*r.limit:
		r.limit = 0
		// Twice what arrives is enough to learn whether twice as much does.
		r.bytes = max(r.bytes, min(2*r.bytes, 2*float64(r.acked)/took))
	case r.bytes < 0.85*r.limit || r.bytes > 1.3*r.limit:
		r.bytes *= 1.2
	default:
		r.calm++
		r.bytes *= 1.02 + float64(0.005*float64(r.calm)) // about here was a queue
	}
}

// empty sends less than the line carries, so that the queue on it becomes shorter.
func (c *Conn) empty(took float64) {
	r := &c.rate
	d := &r.drain
	if !d.on {
		*d = drain{on: true, before: r.bytes, limit: r.limit}
		r.bucket, r.limit = min(r.bucket, 0), 0
	} else {
		d.spare += took - float64(r.spent)/max(r.limit, 1)
	}
	d.queue = max(d.queue, r.queue)
	d.seconds += took
	d.arrived += float64(r.acked)
	// Once less is sent, less arrives.
	r.limit, r.met, r.calm = max(r.limit, d.arrived/d.seconds), c.m.now, 0
	d.waits = max(d.waits, d.queue.Seconds(), float64(c.sent.flightBytes)/max(r.limit, 1))
	if d.spare > d.waits+drainSlack && r.least != unmeasuredTrip {
		c.measure.longer(r.least, r.leastIn)
		r.bytes, r.queue, r.limit = min(d.before, 2*r.limit), 0, 0
		d.on = false
		return
	}
	share := min(max(1-r.queue.Seconds(), 0.3), 0.75)
	r.bytes = min(r.bytes, share*r.limit)
}

// emptied goes on after a queue: close to what the line carries. One that went before the line had
// the time to empty it, and during which much less arrived than before, was a moment in which
// nothing came through.
func (r *rate) emptied() {
	d := &r.drain
	d.on = false
	if d.spare < d.queue.Seconds()/2 && r.limit < 0.8*r.arrives {
		r.bytes, r.limit = d.before, d.limit
		return
	}
	r.bytes = 0.85 * r.limit
}

// shorter begins anew: the path is another, and nothing is known of it.
func (r *rate) shorter() { r.limit, r.drain.on = 0, false }

// Budget is how many bytes may be sent to the peer now, headers included. It is
// what the layer above should fill its packets by; small overdrafts are paid back
// by later calls.
func (c *Conn) Budget(now time.Duration) int {
	c.m.advance(now)
	c.fillBucket()
	return max(int(c.room()), 0)
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

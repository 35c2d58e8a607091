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

	mean float64       // bytes of a packet of ours, headers included
	air  time.Duration // that one of those takes
	round
}

// line is what is known of the path from the rounds before this one.
type line struct {
	queue   time.Duration // on the way to the peer
	queueIn time.Duration // and from it
	long    bool          // the queue was longer than it may be
	arrives float64       // bytes a second, smoothed, while no queue is emptied
	limit   float64       // what it carries, once a queue has shown it; zero before
	met     time.Duration // when the limit was met last
	calm    int           // rounds near the limit since then
	drain   drain
}

// round is what happened since the rate was adapted last. Bytes are with headers.
type round struct {
	began    time.Duration
	least    time.Duration // round trip
	leastIn  time.Duration // on the way from the peer, by its clock
	spent    int32         // bytes
	packets  int32
	acked    int32
	lost     int32
	refused  int32
	verdicts int32 // packets that got one
	samples  int32 // of the round trip
	starved  bool  // there was more to send than the bucket held
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
	r.weigh()
	return r
}

func newRound(now time.Duration) round {
	return round{began: now, least: unmeasuredTrip, leastIn: unmeasuredTrip}
}

// size is the most the bucket holds: a tenth of a second, but enough for a packet that says
// something. What is in it goes at once, and waits on a line that is slower.
func (r *rate) size() float64 { return max(r.bytes*bucketTime.Seconds(), bucketLeast) }

// weigh finds how long a packet of ours takes at the rate, when either has changed.
func (r *rate) weigh() {
	r.air = time.Duration(r.mean / max(r.bytes, 1) * float64(time.Second))
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
	window := max(r.bytes*(float64(trip)*1e-9), flightLeast*float64(c.datagram+udpOverhead))
	return min(r.bucket, window-float64(c.sent.flightBytes))
}

func (c *Conn) spend(size int, bulk bool) {
	r := &c.rate
	// What was sent far beyond the budget is forgiven: it is over.
	r.bucket = max(r.bucket-float64(size+udpOverhead), -r.size()-float64(c.datagram))
	r.spent += int32(size + udpOverhead)
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
	return queueCalm + c.measure.jitter + c.rate.air
}

// rateRound ends a round when one has passed and adapts the rate.
func (c *Conn) rateRound() {
	r, l := &c.rate, &c.line
	now := c.m.now
	took := now - r.began
	if took < min(max(c.measure.smooth, roundMin), roundMost) ||
		r.samples < roundSamples && took < roundMost {
		return
	}
	o := &c.m.opt
	if r.leastIn != unmeasuredTrip {
		l.queueIn = r.leastIn - min(c.measure.in, c.measure.inBefore)
	}
	if r.least != unmeasuredTrip {
		// What waits on the way back is not for us to send less for.
		both := max(r.least-c.measure.base(), 0)
		l.queueIn = min(l.queueIn, both)
		l.queue = both - l.queueIn
	}
	if r.packets > 0 {
		r.mean += (float64(r.spent)/float64(r.packets) - r.mean) / 4
		r.weigh()
	}
	if !l.drain.on {
		l.arrives += (float64(r.acked)/took.Seconds() - l.arrives) / 4
	}
	c.adapt(took.Seconds())
	r.bytes = min(max(r.bytes, float64(o.MinRate)), float64(o.MaxRate))
	r.bucket = min(r.bucket, r.size())
	r.weigh()

	if c.sent.reordering > 0 && r.lost == 0 {
		c.sent.reordering-- // forget slowly
	}
	r.round = newRound(now)
}

// adapt changes the rate by what a round of so many seconds has shown.
func (c *Conn) adapt(took float64) {
	r, l := &c.rate, &c.line
	loss := 0.0
	if n := r.acked + r.lost; r.verdicts >= roundVerdicts {
		loss = float64(r.lost) / float64(n)
	}
	allowed := c.queueAllowed()
	busy := r.starved || float64(r.spent) > 0.7*r.bytes*took
	if c.m.now-l.met > limitFor {
		l.limit = 0
	}
	// A single round says little, unless the path is known to be narrow.
	again := l.long || l.limit > 0 || l.queue > 2*allowed
	l.long = l.queue > allowed
	switch {
	case r.refused > 0:
		r.bytes *= 0.7
		l.limit, l.met = r.bytes, c.m.now
	case l.long && again || l.drain.on && l.queue > allowed/2:
		c.empty(took)
	case l.drain.on:
		c.emptied()
	case l.queue > allowed/2 && loss > 0.02 && busy && r.bytes > lossFloor:
		r.bytes = max(r.bytes*0.85, lossFloor)
	case l.queue > allowed/2:
		// Neither up nor down: the next round will tell.
	case loss > 0.10 && busy && r.bytes > lossFloor:
		r.bytes = max(r.bytes*0.9, lossFloor)
	case !busy:
	case l.limit == 0 || r.bytes > 2*l.limit:
		l.limit = 0
		// Twice what arrives is enough to learn whether twice as much does.
		r.bytes = max(r.bytes, min(2*r.bytes, 2*float64(r.acked)/took))
	case r.bytes < 0.85*l.limit || r.bytes > 1.3*l.limit:
		r.bytes *= 1.2
	default:
		l.calm++
		r.bytes *= 1.02 + float64(0.005*float64(l.calm)) // about here was a queue
	}
}

// empty sends less than the line carries, so that the queue on it becomes shorter.
func (c *Conn) empty(took float64) {
	r, l := &c.rate, &c.line
	d := &l.drain
	if !d.on {
		*d = drain{on: true, before: r.bytes, limit: l.limit}
		r.bucket, l.limit = min(r.bucket, 0), 0
	} else {
		d.spare += took - float64(r.spent)/max(l.limit, 1)
	}
	d.queue = max(d.queue, l.queue)
	d.seconds += took
	d.arrived += float64(r.acked)
	// Once less is sent, less arrives.
	l.limit, l.met, l.calm = max(l.limit, d.arrived/d.seconds), c.m.now, 0
	d.waits = max(d.waits, d.queue.Seconds(), float64(c.sent.flightBytes)/max(l.limit, 1))
	if d.spare > d.waits+drainSlack && r.least != unmeasuredTrip {
		c.measure.longer(r.least, r.leastIn)
		r.bytes, l.queue, l.limit = min(d.before, 2*l.limit), 0, 0
		d.on = false
		return
	}
	share := min(max(1-l.queue.Seconds(), 0.3), 0.75)
	r.bytes = min(r.bytes, share*l.limit)
}

// emptied goes on after a queue: close to what the line carries. One that went before the line had
// the time to empty it, and during which much less arrived than before, was a moment in which
// nothing came through.
func (c *Conn) emptied() {
	r, l := &c.rate, &c.line
	d := &l.drain
	d.on = false
	if d.spare < d.queue.Seconds()/2 && l.limit < 0.8*l.arrives {
		r.bytes, l.limit = d.before, d.limit
		return
	}
	r.bytes = 0.85 * l.limit
}

// shorter begins anew: the path is another, and nothing is known of it.
func (l *line) shorter() { l.limit, l.drain.on = 0, false }

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

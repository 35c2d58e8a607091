package conn

import "time"

// Quality is how well a connection does. All of it is learnt from packets that
// go anyway.
type Quality struct {
	// RoundTrip is smoothed, without the time that either end sat on a packet;
	// RoundTripMin is the least of late. Zero before the first measurement.
	RoundTrip, RoundTripMin time.Duration
	// Jitter is how much one round trip differs from the next, smoothed.
	Jitter time.Duration
	// LossOut and LossIn are the shares of packets lost on the way to the peer and
	// from it, smoothed over some seconds.
	LossOut, LossIn float64
	// Offset is what to add to our clock to get the peer's; it is off by OffsetError at
	// most, if nothing else is known than that light takes time. Both are zero
	// until the peer's clock has been heard.
	Offset, OffsetError time.Duration
	// Rate is bytes a second that may be sent, by the rate controller's judgement; Queue the
	// delay that it takes for queueing on the way to the peer, and QueueIn on the way back.
	Rate           int
	Queue, QueueIn time.Duration
	// Limit is bytes a second that the path was seen to carry, because a queue formed; zero
	// where none has, and Rate is then no more than what was needed so far. Packet is the mean
	// size of packets sent. Rate, Limit and Packet count the headers of UDP and IP.
	Limit, Packet int
	// InFlight is bytes sent whose fate is not known yet.
	InFlight int
}

// Silence is for how long no genuine packet of the peer has come, by the connection's own time.
func (c *Conn) Silence() time.Duration { return c.m.now - c.lastHeard }

// measure holds the measurements behind Quality.
type measure struct {
	handshake time.Duration // see Handshake
	smooth    time.Duration
	deviation time.Duration
	latest    time.Duration // as it was, the peer's delay included
	jitter    time.Duration
	peerDelay time.Duration // how long the peer sits on packets: rises at once, falls slowly
	samples   int
	trip      time.Duration // the last that was measured
	tripFresh bool          // and that with the packet at hand

	// The least round trip, of this period and of the one before; and the least time on the way
	// from the peer, by the peer's clock, which may be anything.
	least, leastBefore time.Duration
	in, inBefore       time.Duration
	leastSince         time.Duration

	lossOut, lossIn   float64
	lossAt            time.Duration
	outAcked, outLost int // packets since then

	lastClock  time.Duration // when ours was told
	clocksSent int
	clocks     int
	clock      [clockSamples]clockSample
}

// clockSample is one sight of the peer's clock.
type clockSample struct {
	offset, roundTrip, at time.Duration
}

const (
	clockSamples   = 8
	clockEvery     = time.Second
	clockQuick     = 100 * time.Millisecond // for the first few
	initialTrip    = 500 * time.Millisecond
	leastPeriod    = 10 * time.Second
	shorterBy      = 10 * time.Millisecond // at least, where the path is another
	lossPeriod     = 500 * time.Millisecond
	unmeasuredTrip = time.Duration(1<<63 - 1)
)

func newMeasure(now time.Duration) measure {
	return measure{smooth: initialTrip, latest: initialTrip, deviation: initialTrip / 4,
		least: unmeasuredTrip, leastBefore: unmeasuredTrip,
		in: unmeasuredTrip, inBefore: unmeasuredTrip, lossAt: now,
		lastClock: now - clockEvery}
}

// sampleRoundTrip learns from the acknowledgement of p, which the peer sat on
// for the given delay.
func (c *Conn) sampleRoundTrip(p *sentPacket, delay byte) {
	if p.epoch != c.m.epoch {
		return // the clock jumped in between
	}
	q := &c.measure
	now := c.m.now
	total := now - p.at
	held, known := unpackDelay(delay)
	if !known {
		return
	}
	wait := time.Duration(held) * time.Microsecond
	q.peerDelay = max(wait, q.peerDelay-q.peerDelay/16)
	q.latest = total
	// A peer could claim a delay that makes the trip look shorter than it was; then
	// it only fools its own rate controller, as long as the result is not negative.
	trip := max(total-wait-c.m.waited, 0)
	if q.samples == 0 {
		q.smooth, q.deviation = trip, trip/2
	} else {
		q.deviation += ((trip - q.smooth).Abs() - q.deviation) / 4
		q.smooth += (trip - q.smooth) / 8
		q.jitter += ((trip - q.trip).Abs() - q.jitter) / 16
	}
	q.trip, q.tripFresh = trip, true
	q.samples++
	if base := q.base(); trip < base-base/4-shorterBy && q.samples > roundSamples {
		c.line.shorter()
	}
	if now-q.leastSince > leastPeriod {
		q.leastBefore, q.least, q.leastSince = q.least, trip, now
		q.inBefore, q.in = q.in, unmeasuredTrip
	}
	q.least = min(q.least, trip)
	c.rate.least = min(c.rate.least, trip)
	c.rate.samples++
}

// longer makes a round trip the least, and so a time on the way from the peer, where the path has
// become longer.
func (q *measure) longer(trip, in time.Duration) {
	q.least, q.leastBefore = trip, trip
	q.in, q.inBefore = in, in
}

// base is what a round trip takes without queues; unmeasuredTrip before the first.
func (q *measure) base() time.Duration { return min(q.least, q.leastBefore) }

// hearClock learns from the peer's clock, which came with the acknowledgement
// that was just measured: halfway back its clock showed what the packet says.
func (c *Conn) hearClock(theirs time.Duration) {
	q := &c.measure
	in := c.m.raw - theirs
	q.in = min(q.in, in)
	c.rate.leastIn = min(c.rate.leastIn, in)
	if !q.tripFresh {
		return // no round trip was measured with this packet
	}
	q.clock[q.clocks%clockSamples] = clockSample{
		theirs + q.trip/2 - (c.m.raw - c.m.waited), q.trip, c.m.now}
	q.clocks++
}

// offset believes the sample with the shortest round trip, since that leaves the
// least room for asymmetry; old samples lose credit as clocks drift apart.
func (q *measure) offset(now time.Duration) (offset, err time.Duration) {
	best := unmeasuredTrip
	for _, s := range q.clock[:min(q.clocks, clockSamples)] {
		if cost := s.roundTrip/2 + (now-s.at)/10000; cost < best {
			best, offset, err = cost, s.offset, s.roundTrip/2
		}
	}
	return offset, err
}

// weighLoss turns counts into shares from time to time.
func (c *Conn) weighLoss() {
	q := &c.measure
	now := c.m.now
	if now-q.lossAt < lossPeriod {
		return
	}
	q.lossAt = now
	c.slim()
	if n := q.outAcked + q.outLost; n >= 8 {
		q.lossOut += (float64(q.outLost)/float64(n) - q.lossOut) / 4
		q.outAcked, q.outLost = 0, 0
	}
	r := &c.received
	if n := r.largest - r.windowStart; n >= 8 {
		missing := max(float64(n)-float64(r.windowCount), 0) / float64(n)
		q.lossIn += (missing - q.lossIn) / 4
		r.windowStart, r.windowCount = r.largest, 0
	}
}

// Handshake is how long the last round trip of the handshake took, for who connected: a first guess
// before Quality has a measurement. It is zero where what was sent again blurs it.
func (c *Conn) Handshake() time.Duration { return c.measure.handshake }

// Quality tells how the connection does now.
func (c *Conn) Quality() Quality {
	q := &c.measure
	out := Quality{
		Jitter:   q.jitter,
		LossOut:  q.lossOut,
		LossIn:   q.lossIn,
		Rate:     int(c.rate.bytes),
		Queue:    c.line.queue,
		QueueIn:  c.line.queueIn,
		Limit:    int(c.line.limit),
		Packet:   int(c.rate.mean),
		InFlight: c.sent.flightBytes,
	}
	if q.samples > 0 {
		out.RoundTrip, out.RoundTripMin = q.smooth, q.base()
	}
	out.Offset, out.OffsetError = q.offset(c.m.now)
	return out
}

package crimp

import "time"

// delay is how far away a member is, as far as is known. The one-way delay is half of
// the round trip, which our clock in the reports of its control packets gives.
type delay struct {
	known  bool
	way    time.Duration // smoothed
	last   uint32        // its clock in the last datagram that came
	lastAt time.Duration
	heard  bool
	// The time a packet was on its way, up to a constant that nobody knows, is the
	// difference of two clocks; what changes in it is queueing.
	least  int64 // of the differences of late, in microseconds
	other  int64 // the least of the time before the last change of turns
	turn   time.Duration
	jitter time.Duration // smoothed
	queue  time.Duration // smoothed
	prior  int64
}

const (
	firstGuess = 30 * time.Millisecond // before anything was measured
	leastTurn  = 10 * time.Second      // for how long a least delay counts
)

// oneWay is the delay to reckon with.
func (d *delay) oneWay() time.Duration {
	if !d.known {
		return firstGuess
	}
	return d.way
}

// stamp takes a datagram's clock.
func (d *delay) stamp(now time.Duration, clock uint32) {
	diff := int64(int32(uint32(now/time.Microsecond) - clock))
	if !d.heard {
		d.heard, d.least, d.other, d.turn, d.prior = true, diff, diff, now, diff
	}
	d.last, d.lastAt = clock, now
	if now-d.turn > leastTurn {
		d.other, d.least, d.turn = d.least, diff, now
	}
	d.least = min(d.least, diff)
	queue := time.Duration(diff-min(d.least, d.other)) * time.Microsecond
	d.queue += (queue - d.queue) / 8
	step := time.Duration(diff-d.prior) * time.Microsecond
	d.prior = diff
	if step < 0 {
		step = -step
	}
	d.jitter += (min(step, 100*time.Millisecond) - d.jitter) / 16
}

// answered takes a report with our own clock in it.
func (d *delay) answered(now time.Duration, r *report) {
	if r.held == holdMost {
		return
	}
	round := int64(int32(uint32(now/time.Microsecond)-r.clock)) - int64(r.held)
	if round < 0 || round > 10_000_000 {
		return
	}
	way := time.Duration(round) * time.Microsecond / 2
	if !d.known {
		d.known, d.way = true, way
		return
	}
	d.way += (way - d.way) / 8
}

// held is for how long the last clock has waited to be reported, in microseconds.
func (d *delay) held(now time.Duration) uint32 {
	return uint32(min((now-d.lastAt)/time.Microsecond, holdMost))
}

package survey

import (
	"math"
	"slices"
	"time"
)

// A place is what is known of one.
type place struct {
	due      time.Duration // not asked before
	sent     []time.Duration
	answered []bool
	trips    []time.Duration // round trips, as they came
	out      bool            // surely not the nearest
	aside    bool            // not to be the nearest

	dirty    bool // the rest is older than trips
	round    time.Duration
	spread   time.Duration // a robust standard deviation of round trips
	jitter   time.Duration
	ordered  []time.Duration
	averages []time.Duration
}

func (x *place) init(most int) {
	x.sent = make([]time.Duration, 0, most)
	x.answered = make([]bool, most)
	x.trips = make([]time.Duration, 0, most)
	x.ordered = make([]time.Duration, 0, most)
	x.averages = make([]time.Duration, 0, most*(most+1)/2)
}

func (x *place) add(trip time.Duration) {
	x.trips = append(x.trips, max(trip, 0))
	x.dirty = true
}

// How long an answer is waited for: for longer than round trips have been, and where none is known
// for as long as those around the world take.
const (
	coldPatience  = time.Second
	leastPatience = 100 * time.Millisecond
)

// patience is after how long a probe without an answer is taken for lost.
func (x *place) patience() time.Duration {
	if len(x.trips) == 0 {
		return coldPatience
	}
	x.compute()
	return min(max(x.round+8*x.spread, 2*x.round, leastPatience), coldPatience)
}

// lost counts probes of which no answer can be expected any more.
func (x *place) lost(now time.Duration) (n int) {
	p := x.patience()
	for i, at := range x.sent {
		if !x.answered[i] && now-at >= p {
			n++
		}
	}
	return n
}

// waits says whether an answer may still come, and until when.
func (x *place) waits(now time.Duration) (until time.Duration, ok bool) {
	p := x.patience()
	for i, at := range x.sent {
		if !x.answered[i] && now-at < p {
			until, ok = max(until, at+p), true
		}
	}
	return until, ok
}

// compute brings the estimates up to date.
func (x *place) compute() {
	if !x.dirty {
		return
	}
	x.dirty = false
	x.ordered = append(x.ordered[:0], x.trips...)
	slices.Sort(x.ordered)
	x.averages = x.averages[:0]
	for i, a := range x.ordered {
		for _, b := range x.ordered[i:] {
			x.averages = append(x.averages, (a+b)/2)
		}
	}
	slices.Sort(x.averages)
	x.round = middle(x.averages)
	// The median of how far they are from their own median, as a standard deviation of what is
	// distributed normally.
	m := middle(x.ordered)
	for i, a := range x.ordered {
		x.ordered[i] = (a - m).Abs()
	}
	slices.Sort(x.ordered)
	x.spread = time.Duration(1.4826 * float64(middle(x.ordered)))
	// Jitter is how much a round trip differs from the one before, as RFC 3550 has it.
	x.jitter = 0
	for i := 1; i < len(x.trips); i++ {
		x.jitter += (x.trips[i] - x.trips[i-1]).Abs()
	}
	if len(x.trips) > 1 {
		x.jitter /= time.Duration(len(x.trips) - 1)
	}
	// The median of a few may be nothing by chance. Two of what is normal differ by 1.13 standard
	// deviations.
	x.spread = max(x.spread, time.Duration(0.886*float64(x.jitter)))
}

// middle is the median of what is sorted.
func middle(list []time.Duration) time.Duration {
	n := len(list)
	if n == 0 {
		return 0
	}
	return (list[(n-1)/2] + list[n/2]) / 2
}

// leastError is that of a clock and of whoever reads it. Fewer than leastTrips say nothing of how
// much they differ.
const (
	leastError = 100 * time.Microsecond
	leastTrips = 3
)

// deviation is the standard error of the round trip, larger where few are known: the spread of a
// few is often too small.
func (x *place) deviation() time.Duration {
	n := float64(len(x.trips))
	if n < leastTrips {
		return time.Hour
	}
	e := 1.05 * float64(x.spread) / math.Sqrt(n) * (1 + 4/n)
	return max(time.Duration(e), leastError)
}

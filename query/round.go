package query

import (
	"slices"
	"time"
)

// A Round is what was measured of the way to an address and back.
type Round struct {
	// Sent is how many pings went out; of those Answered came back, Lost did not in time, and the
	// others are on their way.
	Sent, Answered, Lost int
	// Best and Median are round trips, less what the server says it held a ping before it looked.
	// Jitter is how far they are from the median, on average.
	Best, Median, Jitter time.Duration
}

// Loss is the share of pings that were lost, of those whose end is known.
func (r Round) Loss() float64 {
	if n := r.Answered + r.Lost; n > 0 {
		return float64(r.Lost) / float64(n)
	}
	return 0
}

// measure works out the times of a round. It sorts trips.
func (r *Round) measure(trips []time.Duration) {
	if r.Answered = len(trips); r.Answered == 0 {
		return
	}
	slices.Sort(trips)
	middle := len(trips) / 2
	r.Best, r.Median = trips[0], trips[middle]
	if len(trips)%2 == 0 {
		r.Median = (trips[middle-1] + trips[middle]) / 2
	}
	var off time.Duration
	for _, t := range trips {
		off += max(t-r.Median, r.Median-t)
	}
	r.Jitter = off / time.Duration(len(trips))
}

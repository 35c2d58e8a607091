package seamless

import "time"

// pace is how long ticks of a zone take to compute, on whatever machine this is. It is no part of
// the zone: another server may be faster.
type pace struct {
	busy  float64 // the part of a tick's length, on average over about a second
	worst time.Duration
	over  uint64 // ticks that took longer than their length
	thin  int
}

func (p *pace) took(d, length time.Duration) {
	p.busy += (float64(d)/float64(length) - p.busy) / 64
	p.worst = max(p.worst, d)
	if d > length {
		p.over++
	}
}

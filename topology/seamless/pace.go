package seamless

import "time"

// pace is how long ticks of a zone take to compute, on whatever machine this is. It is no part of
// the zone: another server may be faster.
type pace struct {
	off   bool    // time is not measured, as it is not real
	busy  float64 // the part of a tick's length, on average over about a second
	over  uint64  // ticks that took longer than their length
	count int
	// worst is the longest tick of the last so many, and past that of as many before.
	worst, past time.Duration
	// thin is by how many halvings the rate is lowered at which what is far from a border is shown
	// beyond it.
	thin int
}

const (
	// judged is after how many ticks it is judged whether a zone can keep up.
	judged = 64
	// recent is of how many ticks the longest is kept.
	recent = 600
	// tooBusy and easy are between which parts of a tick's time nothing changes.
	tooBusy, easy = 0.8, 0.5
	maxThin       = 4
)

// took notes how long a tick took. A zone that hardly keeps up shows less; one with time to spare
// shows more again.
func (p *pace) took(d, length time.Duration) {
	if p.off {
		return
	}
	p.count++
	p.busy += (float64(d)/float64(length) - p.busy) / judged
	p.worst = max(p.worst, d)
	if d > length {
		p.over++
	}
	if p.count%recent == 0 {
		p.past, p.worst = p.worst, 0
	}
	if p.count%judged != 0 {
		return
	}
	switch {
	case p.busy > tooBusy && p.thin < maxThin:
		p.thin++
	case p.busy < easy && p.thin > 0:
		p.thin--
	}
}

// rests says whether something that is far from a border is not shown anew after a tick.
func (p *pace) rests(turn uint64) bool { return turn&(1<<p.thin-1) != 0 }

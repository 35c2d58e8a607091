package predict

import "math"

// again is how many messages must carry a command so that no more than a share of commands is lost
// for good, where each message is lost with the probability given. It is at least one.
func again(loss, share float64) int {
	switch {
	case !(loss > share):
		return 1
	case loss >= 0.99:
		return maxRepeats
	}
	return min(maxRepeats, int(math.Ceil(math.Log(share)/math.Log(loss))))
}

const maxRepeats = 16

// Redundancy says how many of the last commands each message carries. A command that was lost comes
// again with the next message, without anyone asking for it; the more is lost, the more often each
// is sent. Losses come in bursts, so it looks at how many in a row are lost as well as at the mean.
type Redundancy struct {
	// Least and Most bound it. Defaults: 2 and 16.
	Least, Most int
	// Share is the share of commands that may never arrive. Default: 0.001.
	Share float64

	run   int     // how many were lost in a row just now
	worst float64 // of late, fading
	loss  float64
}

// Observe takes the verdict on a message with commands, in the order in which they were sent:
// whether it was lost.
func (r *Redundancy) Observe(lost bool) {
	const fade = 1.0 / 600 // of a message: ten seconds of play
	x := 0.0
	if lost {
		r.run++
		x = 1
	} else {
		r.run = 0
	}
	r.loss += (x - r.loss) / 128
	r.worst = max(float64(r.run), r.worst-r.worst*fade)
}

// SetLoss takes the share of lost datagrams as the connection measures it, where there are no
// verdicts on single ones.
func (r *Redundancy) SetLoss(share float64) { r.loss = min(max(share, 0), 1) }

// Commands is how many to put into a message: the newest, and those before it.
func (r *Redundancy) Commands() int {
	least, most, share := r.Least, r.Most, r.Share
	orElse(&least, 2)
	orElse(&most, maxRepeats)
	orElse(&share, 0.001)
	n := max(again(r.loss, share), int(math.Ceil(r.worst))+1)
	if r.worst < 0.5 {
		n = again(r.loss, share)
	}
	return min(max(n, least), most)
}

package wire

import "time"

// A Prediction is what a client says about its own prediction: how far ahead it is, and what it
// takes. It is for operators to look at, and nothing is decided by it.
type Prediction struct {
	// Ahead is how many sixteenths of a tick the client is ahead of the newest snapshot.
	Ahead uint16
	// Again is how many ticks were computed again in the last second, and Took for how many
	// microseconds of it, all in, the client was busy with what came and what follows; 0 is not
	// known.
	Again uint16
	Took  uint32
}

// Share is which part of its time the client is busy with it.
func (p Prediction) Share() float64 {
	return (time.Duration(p.Took) * time.Microsecond).Seconds()
}

func (w *cursor) prediction(p *Prediction) {
	w.U16(&p.Ahead)
	w.U16(&p.Again)
	w.U32(&p.Took)
	w.Check(p.Took <= 10_000_000)
}

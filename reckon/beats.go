package reckon

import (
	"time"

	"github.com/coeval-dev/coeval/det"
)

// Beats is when something is told again although nothing is wrong with what was told, so that
// newcomers learn of it, and how long it may be silent before it is taken to be gone. The zero
// value has no beats and forgets nothing: for connections that know both.
type Beats struct {
	// Moving and Still are the times between updates of what moves and of what does not. Zero
	// means none; a zero Still means that of Moving.
	Moving, Still time.Duration

	// Spread is by which part the times are made longer or shorter at random, at most 0.9: so that
	// a thousand things that began together do not speak together for ever.
	Spread float64

	// Timeout is after how many beats of silence something is gone. Zero means never.
	Timeout float64
}

// StandardBeats are those of DIS version 7, by default: 5 s, 60 s for what stands still, each
// within 10 %; and gone after 2.4 of them. Public sources disagree about kinds for which they are
// longer, and an exercise may agree on others.
var StandardBeats = Beats{Moving: 5 * time.Second, Still: time.Minute, Spread: 0.1, Timeout: 2.4}

// Next is the time until the beat with a number of the thing with a seed: the same on every
// machine. It is zero where there are none.
func (b *Beats) Next(still bool, seed, number uint64) time.Duration {
	every := b.every(still)
	if every <= 0 {
		return 0
	}
	spread := det.Clamp(b.Spread, 0, 0.9)
	at := det.At(seed, 0, number)
	part := 1 + float64(spread*at.Range(-1, 1))
	return max(1, time.Duration(det.Int64(float64(float64(every)*part))))
}

// Gone is how long something may be silent. It is zero where that does not matter.
func (b *Beats) Gone(still bool) time.Duration {
	if b.Timeout <= 0 {
		return 0
	}
	return time.Duration(det.Int64(float64(float64(b.every(still)) * b.Timeout)))
}

func (b *Beats) every(still bool) time.Duration {
	if still && b.Still > 0 {
		return b.Still
	}
	return b.Moving
}

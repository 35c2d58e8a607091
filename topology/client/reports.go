package client

import (
	"math"
	"time"

	"github.com/coeval-dev/coeval/topology/wire"
)

// reports is what the server is told about the client's prediction, for operators: every few
// seconds, in a message of a dozen bytes.
type reports struct {
	at    time.Duration // when it was last told
	steps int           // ticks that had been computed again by then
	busy  time.Duration // since then
	began time.Duration // of the work at hand, by Options.Clock
}

const reportEvery = 5 * time.Second

// work begins or ends to measure what the client takes.
func (r *reports) work(clock func() time.Duration, begins bool) {
	switch {
	case clock == nil:
	case begins:
		r.began = clock()
	default:
		r.busy += max(clock()-r.began, 0)
	}
}

// report tells the server how prediction does, when it is time.
func (c *Client) report() {
	r, p := &c.reports, c.predict
	passed := c.now - r.at
	if p == nil || !p.Started() || !c.predicts() || passed < reportEvery {
		return
	}
	per := func(n float64) float64 { return n / passed.Seconds() }
	st := p.Stats()
	m := wire.Message{Kind: wire.Predicts, Prediction: wire.Prediction{
		Ahead: uint16(min(max(16*p.Ahead(), 0), math.MaxUint16)),
		Again: uint16(min(max(per(float64(st.Steps-r.steps)), 0), math.MaxUint16)),
		Took:  uint32(min(per(float64(r.busy.Microseconds())), 1e6)),
	}}
	r.at, r.steps, r.busy = c.now, st.Steps, 0
	c.tell(&m)
}

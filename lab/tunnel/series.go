package tunnel

import (
	"math"
	"time"

	"github.com/coeval-dev/coeval/lab"
)

// A Series is what players met in each step of a run, by the keys of axes and in their units. What
// is shown counts for the step in which it was shown.
type Series struct {
	// Step is how long one is, in seconds.
	Step float64 `json:"step"`
	// All are of all players together, and Players of each. A step in which there was nothing to
	// measure has the value before it.
	All     map[string][]float64   `json:"all,omitempty"`
	Players []map[string][]float64 `json:"players,omitempty"`
}

// mostSteps is how many a series has at most: those of a long run are longer.
const mostSteps = 120

// stepOf is how long a step is, in a run of a length: whole seconds.
func stepOf(run time.Duration) time.Duration {
	step := time.Second
	if least := run / mostSteps; least > step {
		step = (least + time.Second - 1).Truncate(time.Second)
	}
	return step
}

// A bin is what a player met in a step.
type bin struct {
	off, own               float64 // distances, summed
	offs, owns             int
	corrections, rollbacks int
	still                  time.Duration
	bytes                  uint64 // that its machine received
}

func (b *bin) book(d float32, own bool) {
	if own {
		b.own, b.owns = b.own+float64(d), b.owns+1
	} else {
		b.off, b.offs = b.off+float64(d), b.offs+1
	}
}

// add is what another player met in the same step.
func (b *bin) add(o *bin) {
	b.off, b.offs = b.off+o.off, b.offs+o.offs
	b.own, b.owns = b.own+o.own, b.owns+o.owns
	b.corrections, b.rollbacks = b.corrections+o.corrections, b.rollbacks+o.rollbacks
	b.still, b.bytes = b.still+o.still, b.bytes+o.bytes
}

// beginSeries makes room for what will be met, and counts bytes step by step.
func (t *Trial) beginSeries() {
	step := stepOf(t.Time)
	for _, s := range t.Seats {
		s.bins, s.received = make([]bin, int((t.Time+step-1)/step)), s.bytes()
	}
	t.Net.Every(step, t.endStep)
}

// endStep books the bytes of the step that is over. The last ends when measuring does.
func (t *Trial) endStep() {
	for _, s := range t.Seats {
		if t.on && t.steps < len(s.bins) {
			now := s.bytes()
			s.bins[t.steps].bytes, s.received = now-s.received, now
		}
	}
	t.steps++
}

// bytes is how many the player's machine has received.
func (s *Seat) bytes() uint64 {
	if s.End == nil {
		return 0
	}
	c := s.End.Counters()
	return c.ReceivedBytes + headers*c.Received
}

// bin is that of a moment.
func (s *Seat) bin(at time.Duration) *bin {
	i := int((at - s.trial.since) / stepOf(s.trial.Time))
	return &s.bins[max(0, min(i, len(s.bins)-1))]
}

// series sums up what was met.
func (t *Trial) series() Series {
	if len(t.Seats) == 0 || len(t.Seats[0].bins) == 0 {
		return Series{}
	}
	r := Series{Step: stepOf(t.Time).Seconds()}
	all := make([]bin, len(t.Seats[0].bins))
	for _, s := range t.Seats {
		for i := range all {
			all[i].add(&s.bins[i])
		}
		r.Players = append(r.Players, t.curves(s.bins, 1))
	}
	r.All = t.curves(all, len(t.Seats))
	return r
}

// curves are what bins come to, of so many players.
func (t *Trial) curves(bins []bin, players int) map[string][]float64 {
	curves := map[string][]float64{}
	width := t.width()
	add := func(key string, v float64, known bool) {
		list := curves[key]
		if !known && len(list) > 0 {
			v = list[len(list)-1]
		}
		curves[key] = append(list, math.Round(v*1e4)/1e4)
	}
	left := t.Time
	for i := range bins {
		b := &bins[i]
		seconds := min(left, stepOf(t.Time)).Seconds() * float64(players)
		left -= stepOf(t.Time)
		if t.body >= 0 {
			add("off_others_mean", lab.Ratio(b.off, float64(b.offs))/width, b.offs > 0)
			add("off_own_mean", lab.Ratio(b.own, float64(b.owns))/width, b.owns > 0)
			add("corrections", 60*float64(b.corrections)/seconds, true)
		}
		add("rollbacks", float64(b.rollbacks)/seconds, true)
		add("still", 100*b.still.Seconds()/seconds, true)
		add("client_down", float64(b.bytes)/seconds, true)
	}
	return curves
}

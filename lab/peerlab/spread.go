package peerlab

import (
	"slices"
	"time"

	"github.com/coeval-dev/coeval/lab"
)

// A Spread sums up a distribution of times, in milliseconds.
type Spread struct {
	Mean   float64 `json:"mean" head:"mean" as:"%.1f"`
	Median float64 `json:"median" head:"median" as:"%.1f"`
	P95    float64 `json:"p95" head:"p95" as:"%.1f"`
	Most   float64 `json:"most" head:"most" as:"%.1f"`
	N      int     `json:"n" head:"n"`
}

// times are what a Spread is made of.
type times []time.Duration

func (t times) spread() (s Spread) {
	if len(t) == 0 {
		return s
	}
	slices.Sort(t)
	sum := time.Duration(0)
	for _, d := range t {
		sum += d
	}
	at := func(q float64) float64 { return lab.Millis(t[min(int(q*float64(len(t))), len(t)-1)]) }
	return Spread{Mean: lab.Millis(sum) / float64(len(t)), Median: at(0.5), P95: at(0.95),
		Most: lab.Millis(t[len(t)-1]), N: len(t)}
}

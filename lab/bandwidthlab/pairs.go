package bandwidthlab

import (
	"math"
	"slices"
	"time"

	"github.com/coeval-dev/coeval/lab"
)

// pairs gathers how long commands of each player took until each other player saw them.
type pairs struct {
	n     int
	sum   []time.Duration
	count []int
	all   []time.Duration
}

func newPairs(n int) *pairs {
	return &pairs{n: n, sum: make([]time.Duration, n*n), count: make([]int, n*n)}
}

func (p *pairs) add(from, to int, d time.Duration) {
	p.sum[from*p.n+to] += d
	p.count[from*p.n+to]++
	p.all = append(p.all, d)
}

// Latency is how long it takes from a player's command until another player sees it, in
// milliseconds, over all ordered pairs of players: each pair counts by its mean.
type Latency struct {
	Mean   float64 `json:"mean_ms" as:"%.0f"`
	Median float64 `json:"median_ms" head:"median" as:"%.0f"`
	P95    float64 `json:"p95_ms" head:"p95" as:"%.0f"`
	Worst  float64 `json:"worst_ms" head:"worst" as:"%.0f"`
	// From and To are the worst pair's places.
	From string `json:"worst_from" head:"worst from"`
	To   string `json:"worst_to" head:"to"`
	// Samples is how many commands were timed, and SampleP95 the 95th percentile of them all; both
	// zero for what is computed.
	Samples   int     `json:"samples,omitempty"`
	SampleP95 float64 `json:"sample_p95_ms,omitempty"`
}

// latency sums up.
func (p *pairs) latency(place func(i int) string) Latency {
	l := Latency{Samples: len(p.all)}
	var means []float64
	for i := range p.n {
		for j := range p.n {
			k := i*p.n + j
			if p.count[k] == 0 {
				continue
			}
			m := lab.Millis(p.sum[k]) / float64(p.count[k])
			if means = append(means, m); m > l.Worst {
				l.Worst, l.From, l.To = m, place(i), place(j)
			}
			l.Mean += m
		}
	}
	if len(means) == 0 {
		return l
	}
	l.Mean /= float64(len(means))
	slices.Sort(means)
	l.Median, l.P95 = quantile(means, 0.5), quantile(means, 0.95)
	slices.Sort(p.all)
	if len(p.all) > 0 {
		l.SampleP95 = lab.Millis(p.all[int(math.Ceil(0.95*float64(len(p.all))))-1])
	}
	return l
}

// quantile is that of a sorted list, by the nearest rank; the median of an even number is the mean
// of the two in the middle.
func quantile(sorted []float64, q float64) float64 {
	n := len(sorted)
	if q == 0.5 && n%2 == 0 {
		return (sorted[n/2-1] + sorted[n/2]) / 2
	}
	return sorted[max(int(math.Ceil(q*float64(n)))-1, 0)]
}

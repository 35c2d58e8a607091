package mirrorlab

import "time"

// A Spread sums up a distribution of times, in milliseconds.
type Spread struct {
	Mean   float64 `json:"mean"`
	Median float64 `json:"median"`
	P95    float64 `json:"p95"`
	Most   float64 `json:"most"`
	N      int     `json:"n"`
}

// A tally counts times by steps of a tenth of a millisecond, since there are millions of them. Those beyond its end are counted at it.
type tally struct {
	counts []int32
	below  int32 // zero
	n      int
	sum    time.Duration
	most   time.Duration
}

const (
	tallyStep = 100 * time.Microsecond
	tallyEnd  = 4 * time.Second
)

func (t *tally) add(d time.Duration) {
	if t.counts == nil {
		t.counts = make([]int32, tallyEnd/tallyStep+1)
	}
	if t.n == 0 || d > t.most {
		t.most = d
	}
	t.n++
	t.sum += d
	if d < 0 {
		t.below++
		return
	}
	t.counts[min(int(d/tallyStep), len(t.counts)-1)]++
}

// quantile is the middle of the step in which a share of the times ends; it is zero for what is below zero.
func (t *tally) quantile(q float64) float64 {
	want := q * float64(t.n)
	seen := float64(t.below)
	if t.n == 0 || seen > want {
		return 0
	}
	for i, c := range t.counts {
		if seen += float64(c); seen >= want && c > 0 {
			return millis(time.Duration(i)*tallyStep + tallyStep/2)
		}
	}
	return millis(tallyEnd)
}

func (t *tally) spread() Spread {
	if t.n == 0 {
		return Spread{}
	}
	return Spread{Mean: millis(t.sum) / float64(t.n), Median: t.quantile(0.5), P95: t.quantile(0.95), Most: millis(t.most), N: t.n}
}

func millis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

package mirrorlab

import (
	"reflect"
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
	tally  *tally  // of times that are not summed up yet
}

func (s *Spread) add(d time.Duration) {
	if s.tally == nil {
		s.tally = new(tally)
	}
	s.tally.add(d)
}

// sumUp sums up all spreads in a struct.
func sumUp(v reflect.Value) {
	switch {
	case v.Kind() == reflect.Pointer && !v.IsNil():
		sumUp(v.Elem())
	case v.Type() == reflect.TypeFor[Spread]():
		if s := v.Addr().Interface().(*Spread); s.tally != nil {
			*s = s.tally.spread()
		}
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			sumUp(v.Field(i))
		}
	}
}

// A tally counts times by steps of a tenth of a millisecond, since there are millions of them.
// Those beyond its end are counted at it.
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

// quantile is the middle of the step in which a share of the times ends; it is zero for what is
// below zero.
func (t *tally) quantile(q float64) float64 {
	want := q * float64(t.n)
	seen := float64(t.below)
	if t.n == 0 || seen > want {
		return 0
	}
	for i, c := range t.counts {
		if seen += float64(c); seen >= want && c > 0 {
			return lab.Millis(time.Duration(i)*tallyStep + tallyStep/2)
		}
	}
	return lab.Millis(tallyEnd)
}

func (t *tally) spread() Spread {
	if t.n == 0 {
		return Spread{}
	}
	return Spread{
		Mean: lab.Millis(t.sum) / float64(t.n), Median: t.quantile(0.5), P95: t.quantile(0.95),
		Most: lab.Millis(t.most), N: t.n}
}

package mirrorlab

import (
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/coeval-dev/coeval/lab"
)

// TestTally: quantiles are those of the sorted times, to within a step.
func TestTally(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := rapid.SliceOfN(rapid.Int64Range(0, int64(tallyEnd-tallyStep)), 1, 200).Draw(t,
			"times")
		var x tally
		sum := 0.0
		for _, v := range list {
			x.add(time.Duration(v))
			sum += lab.Millis(time.Duration(v))
		}
		slices.Sort(list)
		s := x.spread()
		if s.N != len(list) || math.Abs(s.Mean-sum/float64(len(list))) > 1e-6 ||
			s.Most != lab.Millis(time.Duration(list[len(list)-1])) {
			t.Fatalf("%+v of %v", s, list)
		}
		for q, got := range map[float64]float64{0.5: s.Median, 0.95: s.P95} {
			at := max(int(math.Ceil(q*float64(len(list))))-1, 0)
			if want := lab.Millis(time.Duration(list[at])); math.Abs(got-want) > lab.Millis(
				tallyStep) {
				t.Fatalf("quantile %v is %v, want %v of %v", q, got, want, list)
			}
		}
	})
	var x tally
	if x.spread() != (Spread{}) {
		t.Error("nothing was counted")
	}
	x.add(-time.Second)
	x.add(time.Hour)
	if s := x.spread(); s.N != 2 || s.Most != lab.Millis(time.Hour) ||
		s.P95 > lab.Millis(tallyEnd+tallyStep) {
		t.Errorf("%+v", s)
	}
}

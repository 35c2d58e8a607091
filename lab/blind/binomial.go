package blind

import "math"

// Alpha is how often chance alone may look like a difference, at most.
const Alpha = 0.05

// AtLeast is how likely k or more successes are in n trials, if each has the chance p.
func AtLeast(k, n int, p float64) float64 {
	switch {
	case k <= 0:
		return 1
	case k > n:
		return 0
	}
	// The shorter tail is summed, so that what is small is exact.
	if float64(k) > p*float64(n) {
		return min(sum(k, n, n, p), 1)
	}
	return max(1-sum(0, k-1, n, p), 0)
}

// sum is how likely a number of successes from low to high is.
func sum(low, high, n int, p float64) (all float64) {
	for k := low; k <= high; k++ {
		all += exactly(k, n, p)
	}
	return all
}

// exactly is how likely k successes are.
func exactly(k, n int, p float64) float64 {
	if p <= 0 || p >= 1 {
		if k == 0 && p <= 0 || k == n && p >= 1 {
			return 1
		}
		return 0
	}
	choose := lgamma(n+1) - lgamma(k+1) - lgamma(n-k+1)
	return math.Exp(choose + float64(k)*math.Log(p) + float64(n-k)*math.Log1p(-p))
}

func lgamma(n int) float64 {
	v, _ := math.Lgamma(float64(n))
	return v
}

// Chance is how often guessing gives what was found or more: for ABX, so many right answers of n;
// for Better, so many or more for either side.
func Chance(q Question, k, n int) float64 {
	if q == Better {
		return min(1, 2*AtLeast(max(k, n-k), n, 0.5))
	}
	return AtLeast(k, n, 0.5)
}

// Critical is the least count, of n, that guessing gives no more often than Alpha. It is n+1 where
// no count would do.
func Critical(q Question, n int) int {
	k := n/2 + 1
	for k <= n && Chance(q, k, n) > Alpha {
		k++
	}
	return k
}

// Power is how often a test of n trials shows a difference, where the chance of success in each is
// p.
func Power(q Question, n int, p float64) float64 {
	k := Critical(q, n)
	power := AtLeast(k, n, p)
	if q == Better && k <= n {
		power += 1 - AtLeast(n-k+1, n, p)
	}
	return power
}

// WantedPower is how often a test should show a difference that is there.
const WantedPower = 0.8

// MostNeeded is how many trials Needed looks at.
const MostNeeded = 5000

// Needed is the least number of trials with which a difference is shown WantedPower of the time,
// where the chance of success in each is p. It is 0 where more than MostNeeded would be needed, or
// p is that of guessing.
func Needed(q Question, p float64) int {
	if q == Better && p < 0.5 {
		p = 1 - p
	}
	// Below this not even the approximation by a normal distribution is within the bound.
	if p < 0.5+1.2/math.Sqrt(MostNeeded) {
		return 0
	}
	for n := 5; n <= MostNeeded; n++ {
		if Power(q, n, p) >= WantedPower {
			return n
		}
	}
	return 0
}

// An Interval is where a chance may lie.
type Interval struct {
	Low  float64 `json:"low" head:"from" as:"%.0f %%"`
	High float64 `json:"high" head:"to" as:"%.0f %%"`
}

// ClopperPearson is the interval that has the true chance in it at least that often, after k
// successes in n trials: level is 0.95 for nineteen times in twenty. It is exact, and so wider than
// intervals that are right on average.
func ClopperPearson(k, n int, level float64) Interval {
	half := (1 - level) / 2
	i := Interval{0, 1}
	if k > 0 {
		i.Low = find(func(p float64) bool { return AtLeast(k, n, p) >= half })
	}
	if k < n {
		i.High = find(func(p float64) bool { return 1-AtLeast(k+1, n, p) < half })
	}
	return i
}

// find is the least number from 0 to 1 for which something is true that stays so above it.
func find(is func(p float64) bool) float64 {
	low, high := 0.0, 1.0
	for range 60 {
		if mid := (low + high) / 2; is(mid) {
			high = mid
		} else {
			low = mid
		}
	}
	return high
}

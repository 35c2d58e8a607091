package blind

import (
	"math"
	"slices"
)

// A Strength is how much one of several things is preferred over the others.
type Strength struct {
	Name string `json:"name" head:"side"`
	// Rate is how often it would be preferred to one of middling strength, and Within where that
	// lies nineteen times in twenty.
	Rate   float64  `json:"rate" head:"preferred" as:"%.0f %%"`
	Within Interval `json:"within"`
}

// Rank finds how strong things are of which two at a time were compared, by the model of Bradley
// and Terry (1952): i is preferred to j with odds of s(i) to s(j). Wins are how often i was
// preferred to j. To each pair that was compared half a preference each way is added, so that one
// that always won has a strength, too. Things that are not connected by comparisons cannot be
// ranked together, and then it gives nothing. The strongest comes first.
func Rank(names []string, wins [][]int) []Strength {
	n := len(names)
	if n < 2 || !connected(wins) {
		return nil
	}
	w := make([][]float64, n)
	for i := range w {
		w[i] = make([]float64, n)
		for j := range w[i] {
			if i != j && wins[i][j]+wins[j][i] > 0 {
				w[i][j] = float64(wins[i][j]) + 0.5
			}
		}
	}
	theta := fit(w)
	spread := covariance(w, theta)
	list := make([]Strength, n)
	rate := func(x float64) float64 { return 1 / (1 + math.Exp(-x)) }
	for i := range list {
		half := 1.96 * math.Sqrt(max(spread[i][i], 0))
		list[i] = Strength{names[i], rate(theta[i]),
			Interval{rate(theta[i] - half), rate(theta[i] + half)}}
	}
	slices.SortStableFunc(list, func(a, b Strength) int {
		switch {
		case a.Rate > b.Rate:
			return -1
		case a.Rate < b.Rate:
			return 1
		}
		return 0
	})
	return list
}

// connected says whether comparisons lead from each to each.
func connected(wins [][]int) bool {
	seen := make([]bool, len(wins))
	var visit func(i int)
	visit = func(i int) {
		seen[i] = true
		for j := range wins {
			if !seen[j] && wins[i][j]+wins[j][i] > 0 {
				visit(j)
			}
		}
	}
	visit(0)
	return !slices.Contains(seen, false)
}

// fit finds the logarithms of the strengths, whose mean is zero, by Hunter's iteration (2004),
// which always gets nearer.
func fit(w [][]float64) []float64 {
	n := len(w)
	s, next := make([]float64, n), make([]float64, n)
	for i := range s {
		s[i] = 1
	}
	for range 10000 {
		var moved float64
		mean := 0.0
		for i := range s {
			won, share := 0.0, 0.0
			for j := range s {
				won += w[i][j]
				if m := w[i][j] + w[j][i]; m > 0 {
					share += m / (s[i] + s[j])
				}
			}
			next[i] = won / share
			mean += math.Log(next[i]) / float64(n)
		}
		for i := range s {
			x := next[i] / math.Exp(mean)
			moved = max(moved, math.Abs(math.Log(x/s[i])))
			s[i] = x
		}
		if moved < 1e-10 {
			break
		}
	}
	for i := range s {
		s[i] = math.Log(s[i])
	}
	return s
}

// covariance is how uncertain they are: the inverse of the information, in which the common level
// is held fixed by adding one to each entry and taking that away again.
func covariance(w [][]float64, theta []float64) [][]float64 {
	n := len(w)
	info := make([][]float64, n)
	for i := range info {
		info[i] = make([]float64, n)
	}
	for i := range w {
		for j := range w {
			if m := w[i][j] + w[j][i]; i != j && m > 0 {
				p := 1 / (1 + math.Exp(theta[j]-theta[i]))
				info[i][i] += m * p * (1 - p)
				info[i][j] -= m * p * (1 - p)
			}
		}
	}
	for i := range info {
		for j := range info {
			info[i][j] += 1 / float64(n)
		}
	}
	inverse := invert(info)
	for i := range inverse {
		for j := range inverse {
			inverse[i][j] -= 1 / float64(n)
		}
	}
	return inverse
}

// invert inverts a symmetric positive matrix.
func invert(m [][]float64) [][]float64 {
	n := len(m)
	a := make([][]float64, n)
	for i := range a {
		a[i] = append(slices.Clone(m[i]), make([]float64, n)...)
		a[i][n+i] = 1
	}
	for c := range n {
		best := c
		for r := c + 1; r < n; r++ {
			if math.Abs(a[r][c]) > math.Abs(a[best][c]) {
				best = r
			}
		}
		a[c], a[best] = a[best], a[c]
		for k := range a[c] {
			if k != c {
				a[c][k] /= a[c][c]
			}
		}
		a[c][c] = 1
		for r := range a {
			if f := a[r][c]; r != c && f != 0 {
				for k := range a[r] {
					a[r][k] -= f * a[c][k]
				}
			}
		}
	}
	for i := range a {
		a[i] = a[i][n:]
	}
	return a
}

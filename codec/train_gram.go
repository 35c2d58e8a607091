package codec

import (
	"math"
	"slices"
)

// gram gathers the normal equations of a weighted least-squares problem.
type gram struct {
	k  int
	a  []float64 // k by k, symmetric
	b  []float64
	yy float64
}

func newGram(k int) *gram { return &gram{k: k, a: make([]float64, k*k), b: make([]float64, k)} }

func (g *gram) add(v []float64, y, w float64) {
	for i, x := range v {
		if x == 0 {
			continue
		}
		x *= w
		row := g.a[i*g.k : i*g.k+i+1]
		for j := range row {
			row[j] += x * v[j]
		}
		g.b[i] += x * y
	}
	g.yy += w * y * y
}

func (g *gram) at(i, j int) float64 {
	if j > i {
		i, j = j, i
	}
	return g.a[i*g.k+j]
}

// solve finds the weights of the selected variables; the others are 0.
func (g *gram) solve(sel []int) []float64 {
	n := len(sel)
	l := make([]float64, n*n)
	x := make([]float64, n)
	for i := range n {
		for j := 0; j <= i; j++ {
			s := g.at(sel[i], sel[j])
			if i == j {
				s += s*1e-6 + 1e-9
			}
			for k := range j {
				s -= l[i*n+k] * l[j*n+k]
			}
			if i == j {
				l[i*n+i] = math.Sqrt(max(s, 1e-12))
			} else {
				l[i*n+j] = s / l[j*n+j]
			}
		}
	}
	for i := range n {
		s := g.b[sel[i]]
		for k := range i {
			s -= l[i*n+k] * x[k]
		}
		x[i] = s / l[i*n+i]
	}
	for i := n - 1; i >= 0; i-- {
		s := x[i]
		for k := i + 1; k < n; k++ {
			s -= l[k*n+i] * x[k]
		}
		x[i] = s / l[i*n+i]
	}
	w := make([]float64, g.k)
	for i, s := range sel {
		w[s] = x[i]
	}
	return w
}

// left is the squared error that remains with weights w.
func (g *gram) left(w []float64) float64 {
	s := g.yy
	for i, x := range w {
		if x == 0 {
			continue
		}
		s -= 2 * x * g.b[i]
		for j, z := range w {
			if z != 0 {
				s += x * z * g.at(i, j)
			}
		}
	}
	return s
}

// selectForward adds variables to those selected, the one that helps most each time, up to most.
func (g *gram) selectForward(sel []int, most int) []int {
	left := g.yy
	if len(sel) > 0 {
		left = g.left(g.solve(sel))
	}
	for len(sel) < most {
		best, bestLeft := -1, left*0.99
		for v := range g.k {
			if g.at(v, v) == 0 || slices.Contains(sel, v) {
				continue
			}
			if e := g.left(g.solve(append(slices.Clone(sel), v))); e < bestLeft {
				best, bestLeft = v, e
			}
		}
		if best < 0 {
			break
		}
		sel, left = append(sel, best), bestLeft
	}
	return sel
}

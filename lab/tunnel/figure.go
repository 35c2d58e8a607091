package tunnel

import (
	"fmt"
	"math"
	"slices"
)

// A Figure is what was measured on one axis, over several runs, with the interval in which the mean
// lies at 95 %.
type Figure struct {
	Mean float64 `json:"mean"`
	Low  float64 `json:"low"`
	High float64 `json:"high"`
	N    int     `json:"n"`
}

// students are by how many standard errors a mean of so many runs, less one, may be off at 95 %.
var students = []float64{
	math.Inf(1), 12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262,
	2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086}

// NewFigure sums up the values of several runs.
func NewFigure(values []float64) Figure {
	f := Figure{N: len(values)}
	if f.N == 0 {
		return f
	}
	for _, v := range values {
		f.Mean += v / float64(f.N)
	}
	squares := 0.0
	for _, v := range values {
		squares += (v - f.Mean) * (v - f.Mean)
	}
	f.Low, f.High = f.Mean, f.Mean
	if f.N < 2 {
		return f
	}
	t := 1.96
	if f.N-1 < len(students) {
		t = students[f.N-1]
	}
	half := t * math.Sqrt(squares/float64(f.N-1)/float64(f.N))
	f.Low, f.High = f.Mean-half, f.Mean+half
	return f
}

// Width is how wide the interval is to each side, as a share of the mean, or of what makes no
// difference on the axis if that is more. Of one run nothing is known.
func (f Figure) Width(a Axis) float64 {
	if f.N < 2 {
		return math.Inf(1)
	}
	scale := math.Max(math.Abs(f.Mean), a.Floor)
	if scale == 0 {
		return 0
	}
	return (f.High - f.Low) / 2 / scale
}

// Few is how wide an interval may be before a figure rests on too few runs.
const Few = 0.2

// Text is the figure as people read it, with its interval.
func (f Figure) Text(a Axis) string {
	if f.N == 0 {
		return "–"
	}
	half := (f.High - f.Low) / 2
	text := Short(f.Mean)
	if f.N > 1 && half > 0 {
		text += " ± " + Short(half)
	}
	if f.Width(a) > Few {
		text += " (too few)"
	}
	return text
}

// Short writes three digits, or whole numbers.
func Short(v float64) string {
	switch a := math.Abs(v); {
	case a == 0:
		return "0"
	case a >= 100:
		return fmt.Sprintf("%.0f", v)
	case a >= 10:
		return fmt.Sprintf("%.1f", v)
	case a >= 1:
		return fmt.Sprintf("%.2f", v)
	case a < 0.0005:
		return "0.000"
	}
	return fmt.Sprintf("%.3f", v)
}

// A Cell is what was found of one architecture on one network.
type Cell struct {
	Arch    string   `json:"architecture"`
	Field   string   `json:"network"`
	Players int      `json:"players"`
	Refused string   `json:"refused,omitempty"` // why it could not be played so
	Samples []Sample `json:"samples,omitempty"`
	// Figures are by the keys of axes.
	Figures map[string]Figure `json:"figures,omitempty"`
}

// sum makes the figures from the samples, which are put in the order of their seeds.
func (c *Cell) sum() {
	slices.SortFunc(c.Samples, func(a, b Sample) int {
		if a.Seed < b.Seed {
			return -1
		}
		return 1
	})
	c.Figures = map[string]Figure{}
	for _, a := range axes {
		var values []float64
		for i := range c.Samples {
			if v, ok := c.Samples[i].Figures[a.Key]; ok {
				values = append(values, v)
			}
		}
		if len(values) > 0 {
			c.Figures[a.Key] = NewFigure(values)
		}
	}
}

// Widest is the widest interval of a cell, and on which axis. Axes of the processor do not count,
// nor such that are about the worst that happened.
func (c *Cell) Widest() (width float64, key string) {
	for _, a := range axes {
		if a.Machine || a.Extreme {
			continue
		}
		if f, ok := c.Figures[a.Key]; ok && f.Width(a) > width {
			width, key = f.Width(a), a.Key
		}
	}
	return width, key
}

package tunnel

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// A Limit is the most that an axis may be, on every network.
type Limit struct {
	Axis string  `json:"axis"`
	Most float64 `json:"most"`
}

// ParseLimit reads a limit, such as client_down=8000.
func ParseLimit(text string) (Limit, error) {
	key, number, ok := strings.Cut(text, "=")
	l := Limit{Axis: strings.TrimSpace(key)}
	v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if l.Most = v; !ok || err != nil || !(v >= 0) || math.IsInf(v, 0) {
		return l, fmt.Errorf("limit %q: write an axis and the most that it may be, such as "+
			"client_down=8000", text)
	}
	if _, ok := AxisOf(l.Axis); !ok {
		var keys []string
		for _, a := range axes {
			keys = append(keys, a.Key)
		}
		return l, fmt.Errorf("limit %q: there is no axis %q; there are %s", text, l.Axis,
			strings.Join(keys, ", "))
	}
	return l, nil
}

// An objective is what a search makes as small as it can: units of annoyance, as in Advice, over
// some networks, within limits.
type objective struct {
	weights map[Group]float64
	players int
	worst   bool // the network that is worst counts, and not the mean
	limits  []Limit
}

// figures are what runs found on one network, by the keys of axes. A run that was not made is nil.
type figures []map[string]float64

// means are those of some runs, on the axes that have a measure.
func (f figures) means(runs []int) map[string]float64 {
	out := map[string]float64{}
	for _, m := range measures {
		if v, n := f.mean(m.key, runs); n > 0 {
			out[m.key] = v
		}
	}
	return out
}

func (f figures) mean(key string, runs []int) (mean float64, n int) {
	for _, run := range runs {
		if v, ok := f[run][key]; ok {
			mean += v
			n++
		}
	}
	return mean / float64(max(n, 1)), n
}

// cost is what figures cost on one network, on those axes that others have as well, if there are
// others.
func (o *objective) cost(means, others map[string]float64) (sum float64) {
	for _, m := range measures {
		v, ok := means[m.key]
		if _, known := others[m.key]; !ok || others != nil && !known {
			continue
		}
		a, _ := AxisOf(m.key)
		sum += o.weights[a.Group] * annoyance(a, v, m.one, o.players)
	}
	return sum
}

// total is what a point costs over all networks, by some runs; on the axes that another has as
// well, if there is another.
func (o *objective) total(p, other *point, runs []int) float64 {
	mean, most := 0.0, math.Inf(-1)
	for i, f := range p.figures {
		var others map[string]float64
		if other != nil {
			others = other.figures[i].means(runs)
		}
		c := o.cost(f.means(runs), others)
		mean += c / float64(len(p.figures))
		most = max(most, c)
	}
	if o.worst {
		return most
	}
	return mean
}

// costs is what a point costs, with its interval, by the first runs.
func (o *objective) costs(p *point, runs int) Figure {
	return jackknife(runs, func(list []int) float64 { return o.total(p, nil, list) })
}

// more is by how much a point costs more than another, with the interval of the difference: both
// met the same seeds, so that what these are like does not count.
func (o *objective) more(p, than *point, runs int) Figure {
	return jackknife(runs, func(list []int) float64 {
		return o.total(p, than, list) - o.total(than, p, list)
	})
}

// jackknife is a statistic of the first runs, with the interval that follows from what it would be
// without each of them: of a mean it is the usual one.
func jackknife(runs int, of func(list []int) float64) Figure {
	all := make([]int, runs)
	for i := range all {
		all[i] = i
	}
	whole := of(all)
	if runs < 2 {
		return Figure{Mean: whole, Low: whole, High: whole, N: runs}
	}
	values := make([]float64, runs)
	rest := make([]int, runs-1)
	for i := range values {
		copy(rest, all[:i])
		copy(rest[i:], all[i+1:])
		values[i] = float64(runs)*whole - float64(runs-1)*of(rest)
	}
	f := NewFigure(values)
	half := (f.High - f.Low) / 2
	return Figure{Mean: whole, Low: whole - half, High: whole + half, N: runs}
}

// beyond is by how much a point is above its limits, as a share of them, on the network where it is
// most so, and which limit that is. Sure asks that a point is below by as much as its figures may
// be off.
func (o *objective) beyond(p *point, runs int, sure bool) (share float64, which Limit) {
	for _, l := range o.limits {
		for _, f := range p.figures {
			var values []float64
			for _, found := range f[:runs] {
				if v, ok := found[l.Axis]; ok {
					values = append(values, v)
				}
			}
			x := NewFigure(values)
			v := x.Mean
			if sure && x.N > 2 {
				v = (x.Mean + x.High) / 2
			}
			if by := (v - l.Most) / max(l.Most, 1e-9); by > share {
				share, which = by, l
			}
		}
	}
	return share, which
}

package mirrorlab

import (
	"bytes"
	"fmt"
	"html"
	"math"
)

// Plot draws a result as one SVG of three panels over time: rollbacks and retractions, the delays of settled and leading worlds, and traffic between mirrors.
// What happened in a run with a fault is marked.
func Plot(r *Result) []byte {
	d := &drawing{}
	fmt.Fprintf(&d.b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="sans-serif" font-size="12">`+"\n", plotWide, 3*panelHigh+20)
	d.b.WriteString(`<rect width="100%" height="100%" fill="white"/>` + "\n")
	for _, m := range r.Series {
		d.last = max(d.last, m.Second)
	}
	if len(r.Series) > 0 {
		d.first = r.Series[0].Second
	}
	if r.Fault != nil && len(r.Fault.Runs) > 0 {
		d.mark = r.Fault.Runs[0].At / 1000
		d.what = "fault: " + r.Fault.Fault
	} else {
		d.mark, d.what = d.last-r.Seconds, "measured from here"
	}
	pick := func(f func(m *Moment) float64) []float64 {
		out := make([]float64, len(r.Series))
		for i := range r.Series {
			out[i] = f(&r.Series[i])
		}
		return out
	}
	d.panel(r, 0, "Repairs of all mirrors, each second", "a second", []line{
		{"rollbacks", "#0072b2", pick(func(m *Moment) float64 { return float64(m.Rollbacks) })},
		{"events retracted", "#d55e00", pick(func(m *Moment) float64 { return float64(m.Retracted) })},
	})
	d.panel(r, 1, "How far worlds are behind the present", "ms", []line{
		{"settled", "#0072b2", pick(func(m *Moment) float64 { return m.Settled })},
		{"leading", "#009e73", pick(func(m *Moment) float64 { return m.Leading })},
	})
	d.panel(r, 2, "Traffic between mirrors", "kbit/s", []line{
		{"measured", "#0072b2", pick(func(m *Moment) float64 { return m.KBits })},
	})
	d.b.WriteString("</svg>\n")
	return d.b.Bytes()
}

const (
	plotWide, panelHigh = 860, 240
	padLeft, padRight   = 60, 20
	padTop, padBottom   = 34, 34
)

type drawing struct {
	b                 bytes.Buffer
	first, last, mark float64 // seconds
	what              string  // happened at the mark
}

// A line is one curve of a panel, in colours that the colour-blind tell apart.
type line struct {
	name, colour string
	values       []float64
}

func (d *drawing) panel(r *Result, number int, title, unit string, lines []line) {
	top := float64(number * panelHigh)
	most := 1e-9
	for _, l := range lines {
		for _, v := range l.values {
			most = max(most, v)
		}
	}
	most *= 1.08
	x := func(second float64) float64 {
		return padLeft + (second-d.first)/max(d.last-d.first, 1e-9)*(plotWide-padLeft-padRight)
	}
	y := func(v float64) float64 {
		return top + panelHigh - padBottom - v/most*(panelHigh-padTop-padBottom)
	}
	d.text(padLeft, top+18, "start", title+", "+unit)
	for _, v := range steps(most, 5) {
		d.rule(padLeft, y(v), plotWide-padRight, y(v), "#dddddd", "")
		d.text(padLeft-6, y(v)+4, "end", fmt.Sprintf("%g", v))
	}
	for _, s := range steps(d.last, 12) {
		if s >= d.first {
			d.text(x(s), top+panelHigh-padBottom+16, "middle", fmt.Sprintf("%g s", s))
		}
	}
	if d.mark > d.first && d.mark < d.last {
		d.rule(x(d.mark), top+padTop, x(d.mark), top+panelHigh-padBottom, "#888888", "4 3")
		if number == 0 {
			d.text(x(d.mark)+4, top+padTop+10, "start", d.what)
		}
	}
	for i, l := range lines {
		fmt.Fprintf(&d.b, `<polyline fill="none" stroke="%s" stroke-width="1.5" points="`, l.colour)
		for j, v := range l.values {
			fmt.Fprintf(&d.b, "%.1f,%.1f ", x(r.Series[j].Second), y(v))
		}
		d.b.WriteString(`"/>` + "\n")
		at := float64(plotWide - padRight - 130*(len(lines)-i))
		d.rule(at, top+14, at+18, top+14, l.colour, "")
		d.text(at+24, top+18, "start", l.name)
	}
}

// steps are round numbers up to the most, about so many.
func steps(most float64, about int) (out []float64) {
	step := math.Pow(10, math.Floor(math.Log10(max(most, 1e-9)/float64(about))))
	for _, by := range []float64{1, 2, 5, 10} {
		if most/(step*by) <= float64(about) {
			step *= by
			break
		}
	}
	for i := 0; float64(i)*step <= most; i++ {
		out = append(out, float64(i)*step)
	}
	return out
}

func (d *drawing) text(x, y float64, anchor, s string) {
	fmt.Fprintf(&d.b, `<text x="%.1f" y="%.1f" text-anchor="%s">%s</text>`+"\n", x, y, anchor, html.EscapeString(s))
}

func (d *drawing) rule(x1, y1, x2, y2 float64, colour, dash string) {
	fmt.Fprintf(&d.b, `<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="%s" stroke-width="1.2" stroke-dasharray="%s"/>`+"\n", x1, y1, x2, y2, colour, dash)
}

package lab

import (
	"bytes"
	"fmt"
	"html"
	"maps"
	"math"
	"slices"
)

// A Plot is a picture of panels, so many beside each other.
type Plot struct {
	Across     int
	Wide, High float64 // of a panel
	Panels     []Panel
}

// A Panel is one diagram. Both axes go up to the most that there is, y from zero.
type Panel struct {
	Title, X, Y string
	Series      []Series
	Labels      map[float64]string // at the x axis; round numbers if there are none
	FirstX      float64
	MostX       float64 // if that is more than the series have
	Note        float64 // where a line goes from top to bottom, if that is inside
	NoteText    string
}

// A Series is some points of one colour, as Draw says.
type Series struct {
	Name   string // in the panel's corner, if it has one
	Colour int    // one of Colours
	Draw   Style
	Points []Point
}

// A Point is where something was measured, with a range if there is one.
type Point struct{ X, Y, Low, High float64 }

// A Style is how a series is drawn.
type Style uint8

// The styles: a curve, a broken one, dots, and bars as wide as Bar.
const (
	Curve Style = iota
	Broken
	Dots
	Bars
)

// Bar is how wide a bar is, along the x axis.
const Bar = 0.22

// Colours are such as the colour-blind tell apart.
var Colours = [...]string{"#0072b2", "#d55e00", "#009e73"}

const (
	padLeft, padRight = 60.0, 20.0
	padTop, padBottom = 52.0, 50.0
)

// SVG draws the plot.
func (p *Plot) SVG() []byte {
	var b bytes.Buffer
	down := (len(p.Panels) + p.Across - 1) / p.Across
	fmt.Fprintf(&b,
		`<svg xmlns="http://www.w3.org/2000/svg" width="%g" height="%g" font-family="sans-serif" font-size="12">`+"\n",
		p.Wide*float64(p.Across), p.High*float64(down))
	b.WriteString(`<rect width="100%" height="100%" fill="white"/>` + "\n")
	for i := range p.Panels {
		d := &drawing{
			Buffer: &b, Panel: &p.Panels[i], left: p.Wide * float64(i%p.Across),
			top: p.High * float64(i/p.Across), wide: p.Wide, high: p.High}
		d.axes()
		for _, s := range d.Series {
			d.series(&s)
		}
	}
	b.WriteString("</svg>\n")
	return b.Bytes()
}

// A drawing is a panel at its place in the picture.
type drawing struct {
	*bytes.Buffer
	*Panel
	left, top, wide, high float64
	mostY                 float64
	named                 int
}

func (d *drawing) x(v float64) float64 {
	return d.left + padLeft + (v-d.FirstX)/(d.MostX-d.FirstX)*(d.wide-padLeft-padRight)
}

func (d *drawing) y(v float64) float64 {
	return d.top + d.high - padBottom - v/d.mostY*(d.high-padTop-padBottom)
}

// axes are drawn before all else: they find out how far everything reaches.
func (d *drawing) axes() {
	d.MostX, d.mostY = max(d.MostX, d.FirstX+1e-9), 1e-9
	for _, s := range d.Series {
		for _, p := range s.Points {
			d.MostX, d.mostY = max(d.MostX, p.X), max(d.mostY, p.Y*1.08, p.High*1.08)
		}
	}
	low, right := d.y(0), d.left+d.wide-padRight
	d.text(d.left+padLeft, d.top+18, "start", d.Title)
	d.text((d.left+padLeft+right)/2, d.top+d.high-8, "middle", d.X)
	fmt.Fprintf(d,
		`<text transform="translate(%.1f %.1f) rotate(-90)" text-anchor="middle">%s</text>`+"\n",
		d.left+14, d.top+d.high/2, html.EscapeString(d.Y))
	for _, v := range steps(d.mostY, 5) {
		d.line(d.x(d.FirstX), d.y(v), right, d.y(v), "#dddddd", "")
		d.text(d.left+padLeft-6, d.y(v)+4, "end", fmt.Sprintf("%g", v))
	}
	labels := d.Labels
	if labels == nil {
		labels = map[float64]string{}
		for _, v := range steps(d.MostX, 12) {
			labels[v] = fmt.Sprintf("%g", v)
		}
	}
	for _, v := range slices.Sorted(maps.Keys(labels)) {
		if v >= d.FirstX {
			d.text(d.x(v), low+16, "middle", labels[v])
		}
	}
	if d.Note > d.FirstX && d.Note < d.MostX {
		d.line(d.x(d.Note), d.top+padTop, d.x(d.Note), low, "#888888", "4 3")
		d.text(d.x(d.Note)+4, d.top+padTop+10, "start", d.NoteText)
	}
	d.line(d.x(d.FirstX), d.top+padTop, d.x(d.FirstX), low, "black", "")
	d.line(d.x(d.FirstX), low, right, low, "black", "")
}

func (d *drawing) series(s *Series) {
	colour := Colours[s.Colour]
	if s.Name != "" {
		at := d.left + padLeft + 130*float64(d.named)
		d.named++
		d.line(at, d.top+34, at+18, d.top+34, colour, "")
		d.text(at+24, d.top+38, "start", s.Name)
	}
	if s.Draw <= Broken {
		dash := []string{"", "5 3"}[s.Draw]
		fmt.Fprintf(d,
			`<polyline fill="none" stroke="%s" stroke-width="1.5" stroke-dasharray="%s" points="`,
			colour, dash)
		for _, p := range s.Points {
			fmt.Fprintf(d, "%.1f,%.1f ", d.x(p.X), d.y(p.Y))
		}
		fmt.Fprintln(d, `"/>`)
	}
	for _, p := range s.Points {
		x, y := d.x(p.X), d.y(p.Y)
		switch s.Draw {
		case Dots:
			fmt.Fprintf(d, `<circle cx="%.1f" cy="%.1f" r="3.5" fill="%s"/>`+"\n", x, y, colour)
		case Bars:
			half := (d.x(Bar) - d.x(0)) / 2
			fmt.Fprintf(d, `<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="%s"/>`+"\n",
				x-half, y, 2*half, d.y(0)-y, colour)
		}
		if p.High > p.Low {
			d.line(x, d.y(p.Low), x, d.y(p.High), "black", "")
		}
	}
}

func (d *drawing) text(x, y float64, anchor, s string) {
	fmt.Fprintf(d, `<text x="%.1f" y="%.1f" text-anchor="%s">%s</text>`+"\n", x, y, anchor,
		html.EscapeString(s))
}

func (d *drawing) line(x1, y1, x2, y2 float64, colour, dash string) {
	fmt.Fprintf(d,
		`<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="%s" stroke-width="1.2" stroke-dasharray="%s"/>`+"\n", x1, y1, x2, y2, colour, dash)
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

package bandwidthlab

import (
	"bytes"
	"fmt"
	"html"
	"math"
)

// Plot draws a result as one SVG of three panels: state updates by number of clients with the line through them (the paper's Figure 2.3), what a server and a
// mirror carry (Figure 2.4), and measured latencies by topology.
func Plot(r *Result) []byte {
	d := &drawing{}
	fmt.Fprintf(&d.b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="sans-serif" font-size="12">`+"\n", 3*panelWide, panelHigh+30)
	d.b.WriteString(`<rect width="100%" height="100%" fill="white"/>` + "\n")
	d.updates(r)
	d.loads(r)
	if len(r.Topologies) > 0 {
		d.latencies(r)
	}
	d.b.WriteString("</svg>\n")
	return d.b.Bytes()
}

const (
	panelWide, panelHigh = 420, 340
	padLeft, padRight    = 60, 20
	padTop, padBottom    = 40, 50
)

// colours by architecture: ones that the colour-blind tell apart.
var colours = map[Architecture]string{ClientServer: "#0072b2", PeerToPeer: "#d55e00", Mirrored: "#009e73"}

type drawing struct{ b bytes.Buffer }

// axes are a panel's: from zero to the most of both.
type axes struct {
	d           *drawing
	left        float64
	mostX, most float64
}

func (d *drawing) panel(number int, title, x, y string, mostX, mostY float64) *axes {
	a := &axes{d: d, left: float64(number * panelWide), mostX: max(mostX, 1e-9), most: max(mostY*1.05, 1e-9)}
	d.text(a.left+padLeft, 22, "start", title)
	d.text(a.left+(panelWide+padLeft-padRight)/2, panelHigh-8, "middle", x)
	fmt.Fprintf(&d.b, `<text transform="translate(%.1f %d) rotate(-90)" text-anchor="middle">%s</text>`+"\n", a.left+14, panelHigh/2, html.EscapeString(y))
	for _, v := range steps(a.most) {
		py := a.y(v)
		d.line(a.left+padLeft, py, a.left+panelWide-padRight, py, "#dddddd", 1, "")
		d.text(a.left+padLeft-6, py+4, "end", fmt.Sprintf("%g", v))
	}
	d.line(a.left+padLeft, padTop, a.left+padLeft, panelHigh-padBottom, "black", 1, "")
	d.line(a.left+padLeft, panelHigh-padBottom, a.left+panelWide-padRight, panelHigh-padBottom, "black", 1, "")
	return a
}

func (a *axes) x(v float64) float64 {
	return a.left + padLeft + v/a.mostX*(panelWide-padLeft-padRight)
}
func (a *axes) y(v float64) float64 {
	return panelHigh - padBottom - v/a.most*(panelHigh-padTop-padBottom)
}

// steps are round numbers up to the most.
func steps(most float64) (out []float64) {
	step := math.Pow(10, math.Floor(math.Log10(most)))
	switch {
	case most/step < 2:
		step /= 5
	case most/step < 5:
		step /= 2
	}
	for i := 0; float64(i)*step <= most; i++ {
		out = append(out, float64(i)*step)
	}
	return out
}

func (d *drawing) text(x, y float64, anchor, s string) {
	fmt.Fprintf(&d.b, `<text x="%.1f" y="%.1f" text-anchor="%s">%s</text>`+"\n", x, y, anchor, html.EscapeString(s))
}

func (d *drawing) line(x1, y1, x2, y2 float64, colour string, width float64, dash string) {
	fmt.Fprintf(&d.b, `<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="%s" stroke-width="%g" stroke-dasharray="%s"/>`+"\n", x1, y1, x2, y2, colour, width, dash)
}

func (d *drawing) dot(x, y float64, colour string) {
	fmt.Fprintf(&d.b, `<circle cx="%.1f" cy="%.1f" r="3.5" fill="%s"/>`+"\n", x, y, colour)
}

// key names colours in a corner.
func (a *axes) key(i int, colour, name string) {
	y := float64(padTop + 8 + 16*i)
	a.d.line(a.left+padLeft+10, y-4, a.left+padLeft+30, y-4, colour, 3, "")
	a.d.text(a.left+padLeft+36, y, "start", name)
}

func (a *axes) clients(r *Result) {
	for _, s := range r.Served {
		a.d.text(a.x(float64(s.Clients)), panelHigh-padBottom+16, "middle", fmt.Sprint(s.Clients))
	}
}

func (d *drawing) updates(r *Result) {
	mostX, most := 0.0, 0.0
	for _, s := range r.Served {
		mostX, most = max(mostX, float64(s.Clients)), max(most, s.UpdateMost, r.Line.At(float64(s.Clients)))
	}
	a := d.panel(0, "State updates to one client", "clients", "kbit/s", mostX, most)
	a.clients(r)
	colour := colours[ClientServer]
	d.line(a.x(0), a.y(max(r.Line.Intercept, 0)), a.x(mostX), a.y(r.Line.At(mostX)), colour, 1.5, "5 3")
	for _, s := range r.Served {
		x := a.x(float64(s.Clients))
		d.line(x, a.y(s.UpdateLeast), x, a.y(s.UpdateMost), colour, 1.5, "")
		d.dot(x, a.y(s.Update), colour)
	}
	a.key(0, colour, fmt.Sprintf("%.1f + %.2f n, R² %.3f", r.Line.Intercept, r.Line.Slope, r.Line.RSquared))
}

func (d *drawing) loads(r *Result) {
	mostX, most := 0.0, 0.0
	load := func(c *Comparison, rates *Rates) float64 {
		if c.Architecture == PeerToPeer {
			return rates.TotalClient
		}
		return rates.TotalServer
	}
	for i := range r.Compared {
		c := &r.Compared[i]
		mostX, most = max(mostX, float64(c.Clients)), max(most, load(c, &c.Measured), load(c, &c.Counted))
	}
	a := d.panel(1, "Load of one server, mirror or peer", "clients (dots measured, lines by the model)", "kbit/s", mostX, most)
	a.clients(r)
	for k, arch := range Architectures() {
		var px, py float64
		for i := range r.Compared {
			c := &r.Compared[i]
			if c.Architecture != arch {
				continue
			}
			x, y := a.x(float64(c.Clients)), a.y(load(c, &c.Counted))
			if px > 0 {
				d.line(px, py, x, y, colours[arch], 1.5, "5 3")
			}
			px, py = x, y
			d.dot(x, a.y(load(c, &c.Measured)), colours[arch])
		}
		a.key(k, colours[arch], string(arch))
	}
}

func (d *drawing) latencies(r *Result) {
	most := 0.0
	for _, t := range r.Topologies {
		most = max(most, t.Measured.P95)
	}
	groups := float64(len(r.Topologies) / len(colours))
	a := d.panel(2, "Command until seen by others (bar: mean, line: to p95)", "", "ms", max(groups, 1), most*1.2)
	for i, t := range r.Topologies {
		g, k := i/len(colours), i%len(colours)
		wide := (a.x(1) - a.x(0)) / 4
		x := a.x(float64(g)) + wide*(float64(k)+0.5)
		top := a.y(t.Measured.Mean)
		fmt.Fprintf(&d.b, `<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="%s"/>`+"\n", x, top, wide*0.9, a.y(0)-top, colours[t.Architecture])
		d.line(x+wide*0.45, top, x+wide*0.45, a.y(t.Measured.P95), "black", 1, "")
		if k == 1 {
			d.text(x+wide*0.45, panelHigh-padBottom+16, "middle", t.Topology)
		}
	}
	for k, arch := range Architectures() {
		a.key(k, colours[arch], string(arch))
	}
}

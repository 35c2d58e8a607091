package bandwidthlab

import (
	"fmt"

	"github.com/coeval-dev/coeval/lab"
)

// Plot draws a result in three panels: state updates by number of clients with the line through
// them (the paper's Figure 2.3), what a server and a mirror carry (Figure 2.4), and measured
// latencies by topology.
func (r *Result) Plot() *lab.Plot {
	p := &lab.Plot{
		Across: 3, Wide: 420, High: 350, Panels: []lab.Panel{r.plotUpdates(), r.plotLoads()}}
	if len(r.Topologies) > 0 {
		p.Panels = append(p.Panels, r.plotLatencies())
	}
	return p
}

// clientLabels are the numbers of clients.
func (r *Result) clientLabels() map[float64]string {
	m := map[float64]string{}
	for _, s := range r.Served {
		m[float64(s.Clients)] = fmt.Sprint(s.Clients)
	}
	return m
}

func (r *Result) plotUpdates() lab.Panel {
	var dots []lab.Point
	for _, s := range r.Served {
		dots = append(dots,
			lab.Point{X: float64(s.Clients), Y: s.Update, Low: s.UpdateLeast, High: s.UpdateMost})
	}
	last := dots[len(dots)-1].X
	return lab.Panel{
		Title: "State updates to one client", X: "clients", Y: "kbit/s", Labels: r.clientLabels(),
		Series: []lab.Series{
			{Draw: lab.Broken,
				Points: []lab.Point{{Y: max(r.Line.Intercept, 0)}, {X: last, Y: r.Line.At(last)}},
				Name: fmt.Sprintf("%.1f + %.2f n, R² %.3f", r.Line.Intercept, r.Line.Slope,
					r.Line.RSquared)},
			{Draw: lab.Dots, Points: dots},
		}}
}

func (r *Result) plotLoads() lab.Panel {
	p := lab.Panel{
		Title: "Load of one server, mirror or peer",
		X:     "clients (dots measured, lines by the model)", Y: "kbit/s", Labels: r.clientLabels()}
	load := func(c *Comparison, rates *Rates) float64 {
		if c.Architecture == PeerToPeer {
			return rates.TotalClient
		}
		return rates.TotalServer
	}
	for k, a := range Architectures() {
		line, dots := lab.Series{Name: string(a), Colour: k, Draw: lab.Broken}, lab.Series{
			Colour: k, Draw: lab.Dots}
		for _, c := range r.of(a) {
			line.Points = append(line.Points,
				lab.Point{X: float64(c.Clients), Y: load(&c, &c.Counted)})
			dots.Points = append(dots.Points,
				lab.Point{X: float64(c.Clients), Y: load(&c, &c.Measured)})
		}
		p.Series = append(p.Series, line, dots)
	}
	return p
}

func (r *Result) plotLatencies() lab.Panel {
	p := lab.Panel{
		Title: "Command until seen by others (bar: mean, line: to p95)", Y: "ms",
		Labels: map[float64]string{}}
	for k, a := range Architectures() {
		p.Series = append(p.Series, lab.Series{Name: string(a), Colour: k, Draw: lab.Bars})
	}
	for i, t := range r.Topologies {
		group, k := i/len(p.Series), i%len(p.Series)
		x := float64(group) + (float64(k)+1)/4
		p.Labels[float64(group)+0.5], p.MostX = t.Topology, float64(group+1)
		p.Series[k].Points = append(p.Series[k].Points,
			lab.Point{X: x, Y: t.Measured.Mean, Low: t.Measured.Mean, High: t.Measured.P95})
	}
	return p
}

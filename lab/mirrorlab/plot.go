package mirrorlab

import "github.com/coeval-dev/coeval/lab"

// Plot draws a result in three panels over time: rollbacks and retractions, the delays of settled
// and leading worlds, and traffic between mirrors. A line shows when measuring began, or when a
// fault happened.
func (r *Result) Plot() *lab.Plot {
	base := lab.Panel{X: "seconds"}
	for i, m := range r.Series {
		if i == 0 {
			base.FirstX = m.Second
		}
		base.MostX = max(base.MostX, m.Second)
	}
	base.Note, base.NoteText = base.MostX-r.Seconds, "measured from here"
	if r.Fault != nil && len(r.Fault.Runs) > 0 {
		base.Note, base.NoteText = r.Fault.Runs[0].At/1000, "fault: "+r.Fault.Fault
	}
	series := func(name string, colour int, value func(m *Moment) float64) lab.Series {
		s := lab.Series{Name: name, Colour: colour}
		for i := range r.Series {
			s.Points = append(s.Points, lab.Point{X: r.Series[i].Second, Y: value(&r.Series[i])})
		}
		return s
	}
	panel := func(title, unit string, list ...lab.Series) lab.Panel {
		p := base
		p.Title, p.Y, p.Series = title, unit, list
		return p
	}
	return &lab.Plot{Across: 1, Wide: 860, High: 260, Panels: []lab.Panel{
		panel("Repairs of all mirrors, each second", "a second",
			series("rollbacks", 0, func(m *Moment) float64 { return float64(m.Rollbacks) }),
			series("events retracted", 1, func(m *Moment) float64 { return float64(m.Retracted) })),
		panel("How far worlds are behind the present", "ms",
			series("settled", 0, func(m *Moment) float64 { return m.Settled }),
			series("leading", 2, func(m *Moment) float64 { return m.Leading })),
		panel("Traffic between mirrors", "kbit/s",
			series("measured", 0, func(m *Moment) float64 { return m.KBits })),
	}}
}

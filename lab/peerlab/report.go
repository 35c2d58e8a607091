package peerlab

import "github.com/coeval-dev/coeval/lab"

// styled is a distribution with the style that it is of.
type styled struct {
	Style string `head:"style"`
	Spread
}

// Report says what was found.
func (r *Result) Report(p *lab.Report) {
	to := "to each other"
	if r.Relay {
		to = "to a relay and from it"
	}
	p.Say("%s, %d players at %d ticks a second, %d packets a second %s; path %s; seed %d", r.Game,
		r.Players, r.Rate, r.Packets, to, r.Path, r.Seed)
	if r.Join != nil {
		r.Join.report(p)
	} else {
		r.reportStyles(p)
	}
	p.Say("What should be reached")
	p.Table(r.Targets, "What | Got, Want, Reached")
}

func (r *Result) reportStyles(p *lab.Report) {
	spreads := func(text string, of func(x *Row) Spread) {
		var list []styled
		for i := range r.Rows {
			list = append(list, styled{r.Rows[i].Style, of(&r.Rows[i])})
		}
		p.Say("%s", text)
		p.Table(list, "Style | Mean, Median, P95, Most, N")
	}
	spreads("Own input, from when it is given until a tick is shown that executes it, ms",
		func(x *Row) Spread { return x.Own })
	spreads("Input of others that nobody could guess, from when they give it until it is shown "+
		"here, ms", func(x *Row) Spread { return x.Others })
	p.Say("Ticks that are shown, and those that wait")
	p.Table(r.Rows, "Style | Depth, Delay, OwnTicks, Shown, Waits, Still, Longest")
	p.Say("Ticks that are computed again")
	p.Table(r.Rows, "Style | Rollbacks, Again, Deepest, Wrong, Processor, Tick")
	spreads("The settled world behind what is shown, ms", func(x *Row) Spread { return x.Settled })
	to := "one other"
	if r.Relay {
		to = "the relay"
	}
	p.Say("What one peer sends %s, bytes a second with the headers of IP and UDP", to)
	p.Table(r.Rows, "Style | Bytes, BytesMost, Datagrams")
	for i := range r.Rows {
		p.Add("%s: %s", r.Rows[i].Style, lab.Largest(r.Rows[i].By))
	}
	if r.Relay {
		var list []AtRelay
		for i := range r.Rows {
			list = append(list, *r.Rows[i].Relay)
		}
		p.Say("At the relay, bytes a second with the headers of IP and UDP")
		p.Table(list, "Style | Out, In, Down, DownMost, Late, Repeated")
	}
	p.Say("Settled worlds")
	p.Table(r.Rows, "Style | Compared.Compared, Compared.Different")
	if r.Again != nil {
		p.Say("Ticks computed again after a wrong guess, at the quickest")
		p.Table([]Again{*r.Again}, "Ticks, Players | Micros, Allocs")
	}
	if r.Forced != nil {
		p.Say("Played with every command late by chance, and held against the same match played " +
			"straight through: equal at every tick")
		p.Table([]Forced{*r.Forced}, "Ticks, Returns, Again, Deepest")
	}
}

// Plot draws the last style in three panels over time: rollbacks, waits and traffic.
func (r *Result) Plot() *lab.Plot {
	panel := func(title, unit string, value func(m *Moment) float64) lab.Panel {
		p := lab.Panel{Title: title, X: "seconds", Y: unit}
		s := lab.Series{Name: title}
		for i := range r.Series {
			m := &r.Series[i]
			if i == 0 {
				p.FirstX = m.Second
				continue // there is nothing to hold it against
			}
			p.MostX = m.Second
			s.Points = append(s.Points, lab.Point{X: m.Second, Y: value(m)})
		}
		p.Series = []lab.Series{s}
		return p
	}
	return &lab.Plot{Across: 1, Wide: 860, High: 260, Panels: []lab.Panel{
		panel("rollbacks of all peers", "a second",
			func(m *Moment) float64 { return float64(m.Rollbacks) }),
		panel("waits of all peers", "a second",
			func(m *Moment) float64 { return float64(m.Waits) }),
		panel("traffic of all peers", "kB/s", func(m *Moment) float64 { return m.KBytes }),
	}}
}

package proxy

import (
	"cmp"
	"fmt"
	"time"

	"github.com/coeval-dev/coeval/netsim"
)

// Report is the state of a proxy at one moment, as --json prints it.
type Report struct {
	Seconds float64   `json:"seconds"` // since the start
	Preset  string    `json:"preset"`
	Cut     bool      `json:"partitioned"`
	Clients int       `json:"clients"`
	Met     uint64    `json:"clients_met"`
	Refused uint64    `json:"refused"` // datagrams of clients beyond the limit
	Up      Direction `json:"up"`
	Down    Direction `json:"down"`
}

// Direction is the traffic one way since the start, over all clients.
type Direction struct {
	Offered        uint64  `json:"offered"`
	OfferedBytes   uint64  `json:"offered_bytes"`
	Delivered      uint64  `json:"delivered"`
	DeliveredBytes uint64  `json:"delivered_bytes"`
	Lost           uint64  `json:"lost"`
	Overflowed     uint64  `json:"overflowed"`
	TooLarge       uint64  `json:"too_large"`
	CutOff         uint64  `json:"cut_off"`
	Duplicated     uint64  `json:"duplicated"`
	HeldBack       uint64  `json:"held_back"`
	Corrupted      uint64  `json:"corrupted"`
	QueueMS        float64 `json:"queue_ms"` // the longest queue of any client now
}

// Report tells what the proxy has done so far.
func (p *Proxy) Report() Report {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.now()
	r := Report{
		Seconds: now.Seconds(), Preset: p.conditions.Name, Cut: p.cut, Clients: len(p.clients),
		Met: p.met, Refused: p.refused}
	for dir, d := range []*Direction{&r.Up, &r.Down} {
		sum := p.past[dir]
		var longest time.Duration
		for _, c := range p.clients {
			sum = sum.Add(c.paths[dir].Stats())
			longest = max(longest, c.paths[dir].Waiting(now))
		}
		*d = direction(sum)
		d.QueueMS = float64(longest.Microseconds()) / 1000
	}
	return r
}

func direction(s netsim.Stats) Direction {
	return Direction{
		Offered: s.Offered, OfferedBytes: s.OfferedBytes,
		Delivered: s.Delivered, DeliveredBytes: s.DeliveredBytes,
		Lost: s.Lost, Overflowed: s.Overflowed, TooLarge: s.TooLarge, CutOff: s.Cut,
		Duplicated: s.Duplicated, HeldBack: s.HeldBack, Corrupted: s.Corrupted,
	}
}

// line is a report for people: rates since the one before.
func (r Report) line(before Report) string {
	name := cmp.Or(r.Preset, "custom")
	if r.Cut {
		name += ", partitioned"
	}
	span := max(r.Seconds-before.Seconds, 0.001)
	return fmt.Sprintf("%6.0f s  %s  %s  up %s  down %s",
		r.Seconds, name, count(r.Clients, "client"), r.Up.line(before.Up, span),
		r.Down.line(before.Down, span))
}

func (d Direction) line(before Direction, span float64) string {
	offered := d.Offered - before.Offered
	missing := d.missing() - before.missing()
	share := 0.0
	if offered > 0 {
		share = 100 * float64(missing) / float64(offered)
	}
	return fmt.Sprintf("%.0f/s %.1f kB/s, %.1f %% lost, queue %.0f ms",
		float64(offered)/span, float64(d.OfferedBytes-before.OfferedBytes)/1000/span, share,
		d.QueueMS)
}

// missing is how many did not arrive at all.
func (d Direction) missing() uint64 { return d.Lost + d.Overflowed + d.TooLarge + d.CutOff }

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

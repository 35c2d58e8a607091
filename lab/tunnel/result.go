package tunnel

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/coeval-dev/coeval/knob"
	"github.com/coeval-dev/coeval/lab"
)

// Version is that of results and of what is kept.
const Version = 2

// Result is what Run found. The JSON names are for scripts and stay.
type Result struct {
	Version       int            `json:"version"`
	Game          string         `json:"game"`
	Level         string         `json:"map"`
	Players       int            `json:"players"`
	Rate          int            `json:"tick_rate"`
	Seed          uint64         `json:"seed"`
	Seconds       float64        `json:"seconds"`
	Warm          float64        `json:"warm_seconds"`
	Open          bool           `json:"open_loop,omitempty"`
	Traces        []string       `json:"traces,omitempty"`
	Architectures []Entry        `json:"architectures"`
	Networks      []NetworkEntry `json:"networks"`
	Cells         []Cell         `json:"cells"`
}

// An Entry is one of the architectures.
type Entry struct {
	Name   string `json:"name"`
	Family Family `json:"family"`
	About  string `json:"about"`
	// Knobs are what of it was set, if anything was.
	Knobs knob.Values `json:"knobs,omitempty"`
}

// A NetworkEntry is one of the networks: where players are, and how far from a server in the best
// place and from each other.
type NetworkEntry struct {
	Name  string  `json:"name"`
	Homes string  `json:"homes"`
	City  string  `json:"server,omitempty"` // the best place for one
	Trip  float64 `json:"round_trip_ms"`    // to that, mean
	Far   float64 `json:"round_trip_ms_most"`
	Peers float64 `json:"round_trip_ms_peers"` // between two players, mean
	Most  float64 `json:"round_trip_ms_peers_most"`
}

// describe says all that a field is.
func (f *Field) describe() string {
	var b strings.Builder
	for i := range f.homes {
		fmt.Fprintf(&b, "%v / %v; ", f.homes[i].Up, f.homes[i].Down)
	}
	if f.delays != nil {
		fmt.Fprint(&b, f.delays.Places, f.delays.Way, f.cities)
	}
	return b.String()
}

func (f *Field) entry(players int) NetworkEntry {
	e := NetworkEntry{Name: f.Name}
	for i := range f.homes {
		if i > 0 {
			e.Homes += ", "
		}
		e.Homes += f.homes[i].Name
	}
	server := f.Servers(1, players)[0]
	e.City = f.City(server)
	n := 0.0
	for i := range players {
		a := f.Player(i)
		t := lab.Millis(f.Trip(a, server))
		e.Trip, e.Far = e.Trip+t/float64(players), max(e.Far, t)
		for k := range i {
			t := lab.Millis(f.Trip(a, f.Player(k)))
			e.Peers, e.Most, n = e.Peers+t, max(e.Most, t), n+1
		}
	}
	e.Peers /= max(n, 1)
	return e
}

// Cell finds what was found of an architecture on a network, or nil.
func (r *Result) Cell(arch, field string) *Cell {
	for i := range r.Cells {
		if c := &r.Cells[i]; c.Arch == arch && c.Field == field {
			return c
		}
	}
	return nil
}

// Check is an error where nothing was measured at all.
func (r *Result) Check() error {
	var why []error
	for i := range r.Cells {
		if c := &r.Cells[i]; len(c.Samples) > 0 {
			return nil
		} else if c.Refused != "" {
			why = append(why, fmt.Errorf("%s: %s", c.Arch, c.Refused))
		}
	}
	return errors.Join(append([]error{ErrNothing}, why...)...)
}

// A Row is a line of the table of a network.
type Row struct {
	Arch   string `json:"-" head:"architecture"`
	Own    string `json:"-" head:"own input, ms"`
	Others string `json:"-" head:"others' input, ms"`
	Off    string `json:"-" head:"others off, widths"`
	Denied string `json:"-" head:"hits denied, %"`
	Taken  string `json:"-" head:"events taken back, %"`
	Still  string `json:"-" head:"stood still, %"`
	Fair   string `json:"-" head:"far by near"`
	Down   string `json:"-" head:"down, B/s"`
	Up     string `json:"-" head:"up, B/s"`
	Server string `json:"-" head:"servers out, B/s"`
	CPU    string `json:"-" head:"CPU a player, µs"`
}

// Report is a table for each network.
func (r *Result) Report(p *lab.Report) {
	p.Say("%s, map %s, %d players, %.0f s a run at %d ticks a second, seed %d on", r.Game, r.Level,
		r.Players, r.Seconds, r.Rate, r.Seed)
	for _, a := range r.Architectures {
		if len(a.Knobs) > 0 {
			p.Add("%s with %s.", a.Name, a.Knobs)
		}
	}
	p.Add("Each figure is a mean over runs with its interval at 95 %%; \"few\": wider than 20 %%.")
	for _, n := range r.Networks {
		p.Say("%s: to a server %.0f ms there and back, %.0f at most; between players %.0f, %.0f "+
			"at most", n.Name, n.Trip, n.Far, n.Peers, n.Most)
		var rows []Row
		var refused []string
		for _, a := range r.Architectures {
			c := r.Cell(a.Name, n.Name)
			if c == nil || c.Refused != "" {
				refused = append(refused, a.Name+": "+c.Refused)
				continue
			}
			rows = append(rows, c.row())
		}
		p.Table(rows, "Arch | Own, Others, Off, Denied, Taken, Still, Fair, Down, Up, Server, CPU")
		for _, text := range refused {
			p.Add("%s", text)
		}
	}
}

func (c *Cell) row() Row {
	text := func(key string) string {
		a, _ := AxisOf(key)
		f := c.Figures[key]
		if f.N == 0 {
			return ""
		}
		s := Short(f.Mean)
		if f.Width(a) > Few {
			return s + " few"
		}
		if half := (f.High - f.Low) / 2; half > 0 {
			s += " ±" + Short(half)
		}
		return s
	}
	return Row{Arch: c.Arch, Own: text("own_ms"), Others: text("others_ms"),
		Off: text("off_others_mean"), Denied: text("hits_denied"), Taken: text("events_taken"),
		Still: text("still"), Fair: text("fairness"), Down: text("client_down"),
		Up: text("client_up"), Server: text("server_out"), CPU: text("client_cpu")}
}

// ReadResult reads what Run found, from JSON; the name is for errors. A result of another version
// is refused.
func ReadResult(name string, b []byte) (*Result, error) {
	var r Result
	if err := json.Unmarshal(b, &r); err != nil {
		return nil, fmt.Errorf("%s: this is no result of lab run: %w", name, err)
	}
	if r.Version != Version {
		return nil, fmt.Errorf("%s: a result of version %d, and this program reads version %d: "+
			"measure anew with lab run", name, r.Version, Version)
	}
	if len(r.Cells) == 0 {
		return nil, fmt.Errorf("%s: there is nothing in it", name)
	}
	return &r, nil
}

package netsim

import (
	"cmp"
	"slices"
	"time"
)

// Chaos is a plan for trouble: Net.Chaos draws faults from it by the seed. The
// lists name endpoints that may suffer each kind, "*" for all; an empty list
// means none of that kind.
type Chaos struct {
	Start, End time.Duration // when faults may begin
	Most       int           // how many there are at most; the number is drawn too
	Longest    time.Duration // how long one lasts at most; a second when zero

	Cut     []string // cut off from another endpoint, one way or both
	Pause   []string
	Restart []string // see Endpoint.OnRestart
	Rebind  []string // port or address
	Storm   []string // the path to another endpoint becomes Weather
	Weather string   // settings as in a script; "preset=awful" when empty
}

// Chaos draws faults and schedules them. Call it when all endpoints are made.
// When a script is replayed its faults stand in for the drawn ones, and Chaos does
// nothing.
func (n *Net) Chaos(c Chaos) error {
	if n.replaying {
		return nil
	}
	if c.Longest <= 0 {
		c.Longest = time.Second
	}
	c.Weather = cmp.Or(c.Weather, "preset=awful")
	type kind struct {
		kind  Kind
		names []string
	}
	var choices []kind
	for _, k := range []kind{
		{Cut, c.Cut}, {Pause, c.Pause}, {Restart, c.Restart}, {Rebind, c.Rebind}, {
			Storm, c.Storm}} {
		if k.names = n.spell(k.names); len(k.names) > 0 {
			choices = append(choices, k)
		}
	}
	if len(choices) == 0 || c.Most <= 0 {
		return nil
	}
	r := Rand{state: mix(n.seed ^ hashName("chaos"))}
	for range r.IntN(c.Most + 1) {
		k := choices[r.IntN(len(choices))]
		f := Fault{
			Kind: k.kind,
			At:   (c.Start + r.Duration(c.End-c.Start)).Truncate(time.Microsecond),
			From: k.names[r.IntN(len(k.names))],
		}
		if f.Kind != Rebind {
			f.For = r.Duration(c.Longest).Truncate(time.Microsecond) + time.Microsecond
		}
		switch f.Kind {
		case Rebind:
			f.Address = r.Chance(0.5)
		case Cut, Storm:
			f.To = n.other(&r, f.From)
			f.OneWay = r.Chance(0.3)
			if f.Kind == Storm {
				f.Settings = c.Weather
			}
			if f.To == "" {
				continue
			}
		}
		if err := n.Schedule(f); err != nil {
			return err
		}
		if n.noting {
			n.noted = append(n.noted, f)
		}
	}
	return nil
}

// spell replaces "*" by the names of all endpoints.
func (n *Net) spell(names []string) []string {
	if !slices.Contains(names, "*") {
		return names
	}
	names = nil
	for _, e := range n.endpoints {
		names = append(names, e.name)
	}
	return names
}

// other picks an endpoint that is not the one named.
func (n *Net) other(r *Rand, name string) string {
	var names []string
	for _, e := range n.endpoints {
		if e.name != name {
			names = append(names, e.name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return names[r.IntN(len(names))]
}

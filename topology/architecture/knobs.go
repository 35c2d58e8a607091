package architecture

import (
	"slices"
	"strconv"

	"github.com/coeval-dev/coeval/knob"
	"github.com/coeval-dev/coeval/predict"
	"github.com/coeval-dev/coeval/topology/client"
	"github.com/coeval-dev/coeval/topology/server"
)

// Knobs are what can be set of a server and its clients that play so.
func (a Kind) Knobs() (list []knob.Knob) {
	for _, k := range knob.List(server.Knobs()) {
		if k.Name == "snapshots" && a.Snapshots > 0 {
			k.Default = strconv.Itoa(a.Snapshots)
		}
		if a.has(k.Name) && k.Name != predict.Interpolate().Name {
			list = append(list, k)
		}
	}
	for _, k := range knob.List(client.Knobs()) {
		if !a.has(k.Name) {
			continue
		}
		if k.Name == "commands" && a.Commands > 0 {
			k.Default, k.Auto = strconv.Itoa(a.Commands), ""
			k.Levels = slices.DeleteFunc(k.Levels, func(l string) bool { return l == knob.Auto })
		}
		if slices.Contains(shown, k.Name) && a.Style == predict.Doom3 {
			k.Rare = true // only some titles have anything that is not predicted
		}
		list = append(list, k)
	}
	return list
}

// shown are the knobs of what is interpolated.
var shown = []string{predict.Interpolate().Name, "gaps", "extrapolate"}

// has says whether a knob does anything.
func (a Kind) has(name string) bool {
	switch name {
	case "rewind":
		return a.Style == predict.HalfLife
	case "edges", "guard", "late":
		return a.Take == server.ByTick // otherwise nothing is late
	case "commands":
		return a.Take != server.Newest // the others are never looked at
	}
	return true
}

// Tune sets knobs of a server and of its clients. Those that are none of theirs are left to others.
func (a Kind) Tune(values knob.Values, s *server.Options, c *client.Options) error {
	own := knob.Values{}
	for _, k := range a.Knobs() {
		if v, ok := values[k.Name]; ok {
			own[k.Name] = v
		}
	}
	if err := knob.Apply(s, server.Knobs(), own); err != nil {
		return err
	}
	return knob.Apply(c, client.Knobs(), own)
}

// OfMirrors are the knobs of clients that play at mirrors, beside those of the mirrors.
func OfMirrors() (list []knob.Knob) {
	for _, k := range knob.List(client.Knobs()) {
		if !slices.Contains(shown, k.Name) {
			list = append(list, k)
		}
	}
	return list
}

// ForClients are those of some values that clients have to be told.
func ForClients(values knob.Values) knob.Values {
	out := knob.Values{}
	for _, k := range client.Knobs() {
		if v, ok := values[k.Name]; ok && v != knob.Auto {
			out[k.Name] = v
		}
	}
	return out
}

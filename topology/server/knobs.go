package server

import (
	"time"

	"github.com/coeval-dev/coeval/knob"
	"github.com/coeval-dev/coeval/predict"
)

// Knobs are what can be set of a server for lab tune to search, by names that flags of serve have
// as well where there are such.
func Knobs() []knob.Of[Options] {
	return []knob.Of[Options]{
		{Knob: knob.Knob{Name: "snapshots", Least: 1, Most: 1000, Step: 1, Default: "20",
			About:  "snapshots a second of each player, up to the tick rate: more is earlier and larger",
			Levels: []string{"5", "10", "15", "20", "30", "60"}, Flag: "snapshots"},
			Set: func(o *Options, v knob.Value) { o.SnapshotRate = v.Int() }},
		{Knob: knob.Knob{Name: "max-rate", Least: 4 << 10, Most: 8 << 20, Step: 1,
			Default: "262144", About: "most bytes a second to one player",
			Levels: []string{"4096", "8192", "16384", "32768", "262144"}, Flag: "max-rate"},
			Set: func(o *Options, v knob.Value) { o.Conn.MaxRate = v.Int() }},
		{Knob: knob.Knob{Name: "edges", Time: true, Most: 2000, Default: "250ms", Rare: true,
			About:  "by how much a command may be late for what it pressed still to count",
			Levels: []string{"0s", "100ms", "250ms", "500ms"}},
			Set: func(o *Options, v knob.Value) { o.Limits.Late = orNone(v) }},
		{Knob: knob.Knob{Name: "rewind", Time: true, Most: 5000, Default: knob.Auto,
			Auto:  "as far as the game remembers",
			About: "how far back shots are judged by what the shooter saw, at most",
			Levels: []string{"0s", "50ms", "100ms", "150ms", "200ms", "300ms",
				knob.Auto}},
			Set: func(o *Options, v knob.Value) { o.Limits.Rewind = orNone(v) }},
		{Knob: predict.Interpolate(), Set: func(o *Options, v knob.Value) {
			o.Limits.Interpolate = v.Duration()
		}},
	}
}

// orNone is a time of which zero means none, where options have that for the default.
func orNone(v knob.Value) time.Duration {
	if d := v.Duration(); d > 0 {
		return d
	}
	return -1
}

package client

import (
	"github.com/coeval-dev/coeval/knob"
	"github.com/coeval-dev/coeval/predict"
	"github.com/coeval-dev/coeval/world"
)

// Knobs are what can be set of clients for lab tune to search. A server tells its clients what was
// chosen, with the token.
func Knobs() []knob.Of[Options] {
	return []knob.Of[Options]{
		{Knob: knob.Knob{Name: "commands", Least: 1, Most: maxRedundancy, Step: 1,
			Default: knob.Auto, Auto: "as many as the network loses in a row, and at least 4",
			About:  "how many of the last commands each packet carries, in case others are lost",
			Levels: []string{"1", "2", "3", knob.Auto, "4", "8"}},
			Set: func(o *Options, v knob.Value) {
				o.Redundancy.Least, o.Redundancy.Most = v.Int(), v.Int()
			}},
		{Knob: knob.Knob{Name: "guard", Least: 0.01, Most: 16, Default: "0.5",
			About: "how many ticks before it is needed even the latest command should come: more is " +
				"safer, and is a longer prediction",
			Levels: []string{"0.1", "0.5", "1", "2", "4"}},
			Set: func(o *Options, v knob.Value) { o.Predict.Clock.Guard = v.Number }},
		{Knob: knob.Knob{Name: "late", Least: 0.0001, Most: 0.5, Default: "0.002",
			About:  "the share of commands that may come too late: less is a longer prediction",
			Levels: []string{"0.0005", "0.002", "0.01", "0.05", "0.2"}},
			Set: func(o *Options, v knob.Value) { o.Predict.Clock.Late = v.Number }},
		{Knob: predict.Interpolate(), Set: func(o *Options, v knob.Value) {
			o.Predict.Playout.Delay = v.Duration()
		}},
		{Knob: knob.Knob{Name: "gaps", Least: 0.001, Most: 0.9, Default: "0.02",
			About: "with interpolate=auto, the share of snapshots that may come too late to be " +
				"interpolated to",
			Levels: []string{"0.005", "0.02", "0.1", "0.3"}},
			Set: func(o *Options, v knob.Value) { o.Predict.Playout.Gaps = v.Number }},
		{Knob: knob.Knob{Name: "extrapolate", Least: 1, Most: 240, Step: 1, Default: knob.Auto,
			Auto: "a quarter of a second", Rare: true,
			About:  "for how many ticks what is interpolated goes on when nothing is heard",
			Levels: []string{"1", "5", knob.Auto, "30"}},
			Set: func(o *Options, v knob.Value) { o.Predict.Extrapolate = world.Tick(v.Int()) }},
	}
}

package mirror

import (
	"slices"
	"time"

	"github.com/coeval-dev/coeval/knob"
	"github.com/coeval-dev/coeval/timeline/kinds"
	"github.com/coeval-dev/coeval/topology/server"
)

// Knobs are what can be set of mirrors with a kind of timeline, for lab tune to search.
func Knobs(kind string) (list []knob.Of[Options]) {
	for _, k := range server.Knobs() {
		if k.Name != "snapshots" && k.Name != "max-rate" && k.Name != "edges" {
			continue
		}
		if k.Name == "snapshots" {
			k.Default = "30"
		}
		list = append(list, knob.Of[Options]{Knob: k.Knob,
			Set: func(o *Options, v knob.Value) { k.Set(&o.Server, v) }})
	}
	list = append(list, delayKnobs(kind)...)
	if kinds.Trails(kind) {
		list = append(list, knob.Of[Options]{Knob: knob.Knob{Name: "repair",
			Words: kinds.Repairs(), Default: string(kinds.AtOnce), Levels: kinds.Repairs(),
			About: "what is done about commands of other mirrors that were late", Flag: "repair"},
			Set: func(o *Options, v knob.Value) { o.Repair = kinds.Repair(v.Text) }})
	}
	return append(list, knob.Of[Options]{Knob: knob.Knob{Name: "send-every", Time: true, Least: 1,
		Most: 150, Default: knob.Auto, Auto: "half a tick", Rare: true,
		About:  "how often commands that have come in are passed on to the other mirrors",
		Levels: []string{"2ms", "4ms", knob.Auto, "16ms", "32ms"}},
		Set: func(o *Options, v knob.Value) { o.SendEvery = v.Duration() }})
}

// delayKnobs are those of a kind of timeline.
func delayKnobs(kind string) (list []knob.Of[Options]) {
	add := func(name, about, def string, levels []string, set func(*kinds.Delays, time.Duration)) {
		list = append(list, knob.Of[Options]{Knob: knob.Knob{Name: name, About: about, Time: true,
			Most: 60000, Default: def, Levels: levels, Flag: "delays"},
			Set: func(o *Options, v knob.Value) { set(&o.Delays, v.Duration()) }})
	}
	short := []string{"0s", "20ms", "40ms", "60ms", "80ms", "120ms", "160ms"}
	long := []string{"40ms", "60ms", "80ms", "120ms", "160ms", "200ms", "250ms"}
	windows := []string{"250ms", "500ms", "1s", "2s"}
	lead := func(d *kinds.Delays, v time.Duration) { d.Lead = v }
	window := func(d *kinds.Delays, v time.Duration) { d.Window = v }
	waits := "how long the world that is shown waits for commands of other mirrors: more is later, " +
		"and less is put right"
	closes := "for how long what is shown may still be put right"
	switch kind {
	case "trailing":
		add("lead", waits, "0s", short, lead)
		add("trail", "how far behind the copy is that finds out what was wrong", "100ms",
			[]string{"50ms", "100ms", "150ms", "200ms", "300ms", "500ms"},
			func(d *kinds.Delays, v time.Duration) { d.Trails = []time.Duration{v} })
		add("window", closes, "1s", windows, window)
	case "auto":
		add("window", closes, "1s", windows, window)
	case "timewarp":
		add("lead", waits, "0s", short, lead)
		add("window", closes, "1s", windows, window)
	case "rollback":
		add("lead", "how long after the present commands are stamped", "0s", short, lead)
		add("most", "how much may be guessed", "140ms", []string{"100ms", "140ms", "200ms", "300ms",
			"500ms"}, func(d *kinds.Delays, v time.Duration) { d.Most = v })
	case "lockstep":
		add("lead", "how long after the last tick commands are stamped", "40ms", long, lead)
	case "conservative":
		add("lead", "the look-ahead: how long commands wait", "0s", long, lead)
	case "bucket":
		add("lead", "how long commands wait for the bucket of their tick", "100ms", long, lead)
	case "ruled":
		add("lead", waits, "0s", short, lead)
		add("judge", "how long the judge waits for commands", "100ms", []string{"0s", "50ms",
			"100ms", "150ms", "200ms"}, func(d *kinds.Delays, v time.Duration) {
			if d.Judge = v; v == 0 {
				d.Judge = -1 // it does not wait
			}
		})
		add("window", closes, "1s", windows, window)
	}
	return list
}

// Tune sets knobs of a mirror, whose Timeline is set. Those that are none of its own are left to
// others. A copy that would not be behind the leading world is left out.
func Tune(o *Options, values knob.Values) error {
	o.common()
	if err := knob.Apply(o, Knobs(o.Timeline), values); err != nil {
		return err
	}
	if d := &o.Delays; kinds.Trails(o.Timeline) {
		d.Trails = slices.DeleteFunc(slices.Clone(d.Trails), func(v time.Duration) bool {
			return v <= d.Lead || v >= d.Window
		})
	}
	return nil
}

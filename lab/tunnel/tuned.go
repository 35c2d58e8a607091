package tunnel

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/coeval-dev/coeval/knob"
	"github.com/coeval-dev/coeval/knob/settings"
	"github.com/coeval-dev/coeval/lab"
)

// TuneResult is what Tune found. The JSON names are for scripts and stay.
type TuneResult struct {
	Version      int                `json:"version"`
	Game         string             `json:"game"`
	Level        string             `json:"map"`
	Architecture string             `json:"architecture"`
	Players      int                `json:"players"`
	Networks     []string           `json:"networks"`
	Seed         uint64             `json:"seed"`
	Seconds      float64            `json:"seconds"`
	Weights      map[string]float64 `json:"weights"`
	Worst        bool               `json:"worst,omitempty"`
	Limits       []Limit            `json:"limits,omitempty"`
	Evaluations  int                `json:"evaluations"`
	// Best are the settings that were found, and Chosen those that are to be used: they are the
	// defaults where Best is not better on the seeds of the check.
	Best   knob.Values `json:"best"`
	Chosen knob.Values `json:"chosen"`
	Knobs  []TunedKnob `json:"knobs"`
	Tried  []TunedTry  `json:"tried"` // the best first
	Held   TunedCheck  `json:"check"`
	// Command begins a game with these settings.
	Command string `json:"command,omitempty"`
}

// A TunedKnob is what a knob does by itself, with all others as they are best.
type TunedKnob struct {
	Name    string       `json:"name"`
	About   string       `json:"about"`
	Default string       `json:"default"`
	Best    string       `json:"best"`
	Others  []TunedLevel `json:"others"`
}

// A TunedLevel is by how much it costs more if a knob has another value.
type TunedLevel struct {
	Value string `json:"value"`
	More  Figure `json:"more"`
}

// A TunedTry is one choice of values.
type TunedTry struct {
	Values  string `json:"values" head:"settings"` // that differ from the defaults
	Why     string `json:"why" head:"tried as"`
	Runs    int    `json:"runs" head:"seeds"`
	Saved   Figure `json:"saved"` // units, beside the defaults on the same seeds
	Text    string `json:"-" head:"saves, units"`
	Left    string `json:"left,omitempty" head:"left because"`
	Refused string `json:"refused,omitempty"`
}

// A TunedCheck is what the best and the defaults cost on seeds that the search did not see.
type TunedCheck struct {
	Seed    uint64      `json:"seed"` // the first
	Default Figure      `json:"default"`
	Best    Figure      `json:"best"`
	Saved   Figure      `json:"saved"`
	Axes    []TunedAxis `json:"axes"` // that matter most
	Beyond  []string    `json:"beyond,omitempty"`
}

// A TunedAxis is what became of one axis, as a mean over networks.
type TunedAxis struct {
	Axis    string  `json:"axis"`
	Default float64 `json:"default"`
	Best    float64 `json:"best"`
	Saved   float64 `json:"saved"` // units
}

// result is what is known before the check.
func (t *tuner) result(best *point, alone []level) *TuneResult {
	o := t.o
	r := &TuneResult{Version: Version, Game: o.subject.Name(), Level: o.subject.Level,
		Architecture: t.arch.Name, Players: o.Players, Seed: o.Seed, Seconds: o.Time.Seconds(),
		Weights: map[string]float64{}, Worst: o.Worst, Limits: o.limits, Best: best.values}
	for g, w := range t.goal.weights {
		r.Weights[string(g)] = w
	}
	for _, f := range o.fields {
		r.Networks = append(r.Networks, f.Name)
	}
	for _, p := range t.order {
		x := TunedTry{Values: t.differs(p.values), Why: p.from, Runs: p.runs, Left: p.left,
			Refused: p.refused}
		if p.runs == 0 {
			continue
		}
		if p.refused == "" {
			x.Saved = negative(t.goal.more(p, t.usual, min(p.runs, t.usual.runs)))
		}
		r.Tried = append(r.Tried, x)
	}
	slices.SortStableFunc(r.Tried, func(a, b TunedTry) int {
		return cmp.Or(cmp.Compare(len(a.Refused), len(b.Refused)),
			cmp.Compare(b.Saved.Mean, a.Saved.Mean))
	})
	for i := range t.knobs {
		k := &t.knobs[i]
		x := TunedKnob{Name: k.Name, About: k.About, Default: k.Default, Best: best.values[k.Name]}
		for _, l := range alone {
			if l.knob == k.Name && l.refused == "" {
				x.Others = append(x.Others, TunedLevel{l.value,
					t.goal.more(l.point, best, min(l.runs, best.runs))})
			}
		}
		r.Knobs = append(r.Knobs, x)
	}
	slices.SortStableFunc(r.Knobs, func(a, b TunedKnob) int {
		return cmp.Compare(b.matters(), a.matters())
	})
	return r
}

// matters is the most that another value of a knob costs.
func (k *TunedKnob) matters() (most float64) {
	for _, l := range k.Others {
		most = max(most, math.Abs(l.More.Mean))
	}
	return most
}

func negative(f Figure) Figure {
	return Figure{Mean: 0 - f.Mean, Low: 0 - f.High, High: 0 - f.Low, N: f.N}
}

// check plays the best and the defaults on other seeds.
func (t *tuner) check(ctx context.Context, r *TuneResult, best *point) error {
	seed := t.o.Seed + checkSeeds
	usual, held := t.fresh(t.usual.values, ""), t.fresh(best.values, "")
	if best == t.usual {
		held = usual
	}
	runs := t.o.Checks
	list := []*point{usual, held}
	if held == usual {
		list = list[:1]
	}
	if err := t.play(ctx, list, runs, seed); err != nil {
		return err
	}
	for _, p := range list {
		if p.refused != "" {
			return fmt.Errorf("the check: %s", p.refused)
		}
	}
	c := &r.Held
	*c = TunedCheck{Seed: seed, Default: t.goal.costs(usual, runs), Best: t.goal.costs(held, runs),
		Saved: negative(t.goal.more(held, usual, runs)), Axes: t.axes(usual, held, runs)}
	r.Chosen, r.Evaluations = best.values, t.used
	worse, _ := t.goal.beyond(usual, runs, false)
	by, limit := t.goal.beyond(held, runs, false)
	if by > 0 {
		c.Beyond = append(c.Beyond, fmt.Sprintf("%s is %s %% above its limit of %s", limit.Axis,
			Short(100*by), Short(limit.Most)))
	}
	if c.Saved.Mean <= 0 && worse <= by {
		r.Chosen = t.usual.values
	}
	r.Command = t.command(r.Chosen)
	return nil
}

// axes are those on which the best and the defaults differ most.
func (t *tuner) axes(usual, best *point, runs int) (list []TunedAxis) {
	all := make([]int, runs)
	for i := range all {
		all[i] = i
	}
	for _, m := range measures {
		axis, _ := AxisOf(m.key)
		var x TunedAxis
		n := 0.0
		for i := range usual.figures {
			a, known := usual.figures[i].mean(m.key, all)
			b, also := best.figures[i].mean(m.key, all)
			if known == 0 || also == 0 {
				continue
			}
			x.Default, x.Best, n = x.Default+a, x.Best+b, n+1
			x.Saved += t.goal.weights[axis.Group] * (annoyance(axis, a, m.one, t.o.Players) -
				annoyance(axis, b, m.one, t.o.Players))
		}
		if n > 0 && math.Abs(x.Saved/n) > 0.005 {
			list = append(list, TunedAxis{m.key, x.Default / n, x.Best / n, x.Saved / n})
		}
	}
	slices.SortStableFunc(list, func(a, b TunedAxis) int {
		return cmp.Compare(math.Abs(b.Saved), math.Abs(a.Saved))
	})
	return list[:min(len(list), 8)]
}

// command begins a game with some settings.
func (t *tuner) command(values knob.Values) string {
	if t.arch.Command == "" {
		return ""
	}
	text := "{program} " + t.arch.Command
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if k, ok := knob.Find(t.o.AllKnobs(), name); ok && values[name] != k.Default {
			text += " --knob " + name + "=" + values[name]
		}
	}
	if t.o.Fill != nil {
		return t.o.Fill(text)
	}
	return text
}

// Settings are the settings as a file. A knob that the program sets by itself is left out.
func (r *TuneResult) Settings() *settings.File {
	f := &settings.File{Game: r.Game, Architecture: r.Architecture, Knobs: settings.Knobs{},
		About: fmt.Sprintf("lab tune: %d players on %s, %d evaluations; %s", r.Players,
			strings.Join(r.Networks, ", "), r.Evaluations, r.Verdict())}
	for name, v := range r.Chosen {
		if v != knob.Auto {
			f.Knobs[name] = v
		}
	}
	return f
}

// Verdict says in a line what was found.
func (r *TuneResult) Verdict() string {
	c := &r.Held
	by := fmt.Sprintf("%s ± %s units", Short(math.Abs(c.Saved.Mean)),
		Short((c.Saved.High-c.Saved.Low)/2))
	switch {
	case len(r.Best) > 0 && maps.Equal(r.Best, r.Chosen) && c.Saved.Mean == 0:
		return "the defaults are the best that was found"
	case c.Saved.Low > 0:
		return "better than the defaults by " + by
	case c.Saved.High < 0:
		return "worse than the defaults by " + by
	case c.Saved.Mean > 0:
		return "better than the defaults by " + by + ", which is not distinguishable from nothing"
	}
	return "worse than the defaults by " + by + ", which is not distinguishable from nothing"
}

// Check is an error where settings within the limits were not found.
func (r *TuneResult) Check() error {
	if len(r.Held.Beyond) == 0 {
		return nil
	}
	return errors.New("nothing was found within the limits: at best, " +
		strings.Join(r.Held.Beyond, ", "))
}

// Report is what was tried, what is best, and how each knob matters.
func (r *TuneResult) Report(p *lab.Report) {
	p.Say("%s as %s: map %s, %d players on %s, %.0f s a run, %d evaluations, seed %d on", r.Game,
		r.Architecture, r.Level, r.Players, strings.Join(r.Networks, ", "), r.Seconds,
		r.Evaluations, r.Seed)
	rows := r.Tried[:min(len(r.Tried), 16)]
	for i := range rows {
		x := &rows[i]
		x.Text = Short(x.Saved.Mean)
		if half := (x.Saved.High - x.Saved.Low) / 2; half > 0 {
			x.Text += " ±" + Short(half)
		}
		if x.Refused != "" {
			x.Text, x.Left = "", x.Refused
		}
	}
	p.Table(rows, "Values, Why | Runs, Text, Left")
	if n := len(r.Tried) - len(rows); n > 0 {
		p.Add("And %d more, which save less.", n)
	}
	p.Say("What each knob does by itself, with all others as they are best:")
	for i := range r.Knobs {
		p.Add("%s", r.Knobs[i].words())
	}
	c := &r.Held
	p.Say("On %d seeds that were not searched the defaults cost %s units of annoyance, and the best "+
		"%s: %s.", c.Default.N, text(c.Default), text(c.Best), r.Verdict())
	for _, x := range c.Axes {
		a, _ := AxisOf(x.Axis)
		word := "saves"
		if x.Saved < 0 {
			word = "costs"
		}
		p.Add("%s: %s, and was %s %s, which %s %s", a.Key, Short(x.Best), Short(x.Default), a.Unit,
			word, Short(math.Abs(x.Saved)))
	}
	for _, b := range c.Beyond {
		p.Add("%s.", b)
	}
	if !maps.Equal(r.Best, r.Chosen) {
		p.Add("So the defaults are kept.")
	}
	if r.Command != "" {
		p.Say("%s", r.Command)
	}
}

func text(f Figure) string {
	s := Short(f.Mean)
	if half := (f.High - f.Low) / 2; half > 0 {
		s += " ± " + Short(half)
	}
	return s
}

// words say how a knob matters.
func (k *TunedKnob) words() string {
	out := k.Name + " is best at " + k.Best
	if k.Best == k.Default {
		out += ", its default"
	}
	for i, l := range k.Others {
		sep := "; "
		if i == 0 {
			sep = ": "
		}
		value := "at " + l.Value
		if l.Value == k.Default {
			value += ", its default,"
		}
		how := "it costs " + text(l.More) + " more"
		if l.More.Mean < 0 {
			how = "it costs " + text(negative(l.More)) + " less"
		}
		if l.More.Low <= 0 && l.More.High >= 0 {
			how += ", which is not distinguishable"
		}
		out += sep + value + " " + how
	}
	return out + "."
}

package game

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/coeval-dev/coeval/knob"
	"github.com/coeval-dev/coeval/world"
)

// ofTitle is how the names of a title's knobs begin, beside those of an architecture.
const ofTitle = "game."

// A Knob is something that can be set of a title. Set is given a copy, in which it may change
// anything but the rules: how far players see, how much classes weigh.
type Knob = knob.Of[Title]

// Settable is what can be set of the title before a game begins, for lab tune and for --knob: those
// that it declares, how far players see where Sight has a Reach, and how much each class matters
// where Sight has rules. Names begin with "game.".
func (t *Title) Settable() []knob.Knob {
	list := knob.List(t.knobs())
	for i := range list {
		list[i].Name = ofTitle + list[i].Name
	}
	return list
}

// With is a copy of the title with knobs set, or the title itself if none of the values is for one
// of its own: those whose names begin with "game.".
func (t *Title) With(values knob.Values) (*Title, error) {
	own := knob.Values{}
	for name, text := range values {
		if name, ok := strings.CutPrefix(name, ofTitle); ok {
			own[name] = text
		}
	}
	if len(own) == 0 {
		return t, nil
	}
	if err := t.Check(); err != nil {
		return nil, err
	}
	list := t.knobs()
	if _, err := knob.Read("title "+t.Name(), knob.List(list), own); err != nil {
		return nil, err
	}
	out := t.Clone()
	if err := knob.Apply(out, list, own); err != nil {
		return nil, err
	}
	return out, out.Check()
}

// knobs are the title's, with those that follow from the rest. One that the title declares goes
// before what would follow by the same name.
func (t *Title) knobs() []Knob {
	list := append([]Knob(nil), t.Knobs...)
	follow := func(k Knob) {
		declared := func(own Knob) bool { return own.Name == k.Name }
		if !slices.ContainsFunc(t.Knobs, declared) {
			list = append(list, k)
		}
	}
	if r := t.Sight.Reach; r > 0 {
		follow(reachKnob(r))
	}
	if t.Sight.Views != nil || t.Sight.Rules == nil && t.Sight.Reach <= 0 {
		return list
	}
	for _, c := range t.Game.Classes() {
		if !c.State() {
			follow(t.weightKnob(c.Name()))
		}
	}
	return list
}

// reachKnob is how far players see.
func reachKnob(r float64) Knob {
	k := Knob{Knob: knob.Knob{Name: "reach", Least: r / 10, Most: r * 10,
		About:   "how far players see, in the world's units: less saves bytes",
		Default: number(r)},
		Set: func(t *Title, v knob.Value) { t.Sight.Reach = v.Number }}
	for _, part := range []float64{0.4, 0.6, 0.8, 1, 1.25} {
		k.Levels = append(k.Levels, number(float64(r*part)))
	}
	return k
}

// weightKnob is how much a class matters.
func (t *Title) weightKnob(class string) Knob {
	now := 1.0
	if w, ok := t.Sight.Weights[class]; ok {
		now = w
	}
	return Knob{Knob: knob.Knob{Name: "priority." + class, Least: 0.01, Most: 100,
		About: "how much " + class + " matters beside other classes where there is not room for " +
			"all", Default: number(now), Levels: []string{"0.25", "0.5", "1", "2", "4"},
		Rare: true},
		Set: func(t *Title, v knob.Value) {
			weights := map[string]float64{class: v.Number}
			for name, w := range t.Sight.Weights {
				if name != class {
					weights[name] = w
				}
			}
			t.Sight.Weights = weights
		}}
}

func number(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// checkKnobs says what is wrong with the knobs that the title declares.
func (t *Title) checkKnobs() (wrong []error) {
	for i := range t.Knobs {
		if t.Knobs[i].Set == nil {
			wrong = append(wrong, fmt.Errorf("knob %s does nothing: give it a Set",
				t.Knobs[i].Name))
		}
	}
	for class, w := range t.Sight.Weights {
		if !slices.ContainsFunc(t.Game.Classes(), func(c *world.ClassInfo) bool {
			return c.Name() == class
		}) {
			wrong = append(wrong, fmt.Errorf("Sight.Weights: there is no class %q", class))
		}
		if !(w > 0) {
			wrong = append(wrong, fmt.Errorf("Sight.Weights: %s weighs %v; give more than 0", class,
				w))
		}
	}
	if len(t.Sight.Weights) > 0 && t.Sight.Views != nil {
		wrong = append(wrong, errors.New("Sight.Views finds what is shown by itself; leave "+
			"Weights empty, or Views"))
	}
	return append(wrong, knob.Check(knob.List(t.knobs())))
}

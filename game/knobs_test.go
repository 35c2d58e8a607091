package game_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/interest"
	"github.com/coeval-dev/coeval/knob"
)

// TestKnobs: a title's knobs are its own, and how far players see and what matters where it has
// such rules. They are set in a copy.
func TestKnobs(t *testing.T) {
	w := started(t, plain)
	title := &game.Title{Game: plain, Sight: game.Sight{Reach: 25}, Knobs: []game.Knob{{
		Knob: knob.Knob{Name: "crowd", About: "how many play along", Least: 1, Most: 9, Step: 1,
			Default: "1", Levels: []string{"1", "4"}},
		Set: func(t *game.Title, v knob.Value) { t.Players = v.Int() }}}}
	if got := knob.Names(title.Settable()); got !=
		"game.crowd, game.reach, game.priority.scout, game.priority.tree" {
		t.Errorf("knobs: %s", got)
	}
	near, err := title.With(knob.Values{"game.reach": "12", "game.priority.tree": "2",
		"game.crowd": "3", "snapshots": "9"})
	if err != nil {
		t.Fatal(err)
	}
	if near.Players != 3 || title.Players != 0 || title.Sight.Weights != nil {
		t.Errorf("%d players in the copy, and %d in the title", near.Players, title.Players)
	}
	o := interest.Observer{Player: 3}
	if got := sees(t, views(t, near, w), w, 3, &o); got["tree"] != 3 {
		t.Errorf("within 12 there are %v", got)
	}
	v := views(t, near, w)
	_ = v.Follow(w)
	ix, rules := v.Sight(w, 3, &o)
	var view interest.View
	interest.NewFinder().Update(&view, ix, rules, o)
	most := float32(0)
	for _, e := range view.Entries() {
		if e.ID.Class() == 1 {
			most = max(most, e.Priority)
		}
	}
	if most < 1.5 {
		t.Errorf("a tree that is near matters %v", most)
	}
	if same, err := title.With(knob.Values{"snapshots": "9"}); same != title || err != nil {
		t.Errorf("a copy without need: %v", err)
	}
	for text, values := range map[string]knob.Values{
		`has no knob "wings"`:        {"game.wings": "2"},
		"must be 2.5 to 250":         {"game.reach": "900"},
		"in whole numbers":           {"game.crowd": "1.5"},
		`is "auto": it must be 0.01`: {"game.priority.tree": "auto"},
	} {
		if _, err := title.With(values); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%v: %v", values, err)
		}
	}
}

// TestOwnReach: a knob that a title declares goes before one that would follow from its sight.
func TestOwnReach(t *testing.T) {
	title := &game.Title{Game: plain, Sight: game.Sight{Reach: 25}, Knobs: []game.Knob{{
		Knob: knob.Knob{Name: "reach", About: "how far the short-sighted see", Least: 1, Most: 9,
			Default: "5", Levels: []string{"1", "5"}},
		Set: func(t *game.Title, v knob.Value) { t.Sight.Reach = 2 * v.Number }}}}
	near, err := title.With(knob.Values{"game.reach": "3"})
	if err != nil || near.Sight.Reach != 6 {
		t.Fatal(near, err)
	}
}

// TestBadKnobs: what is wrong with how knobs are declared, the title's check says.
func TestBadKnobs(t *testing.T) {
	good := knob.Knob{Name: "a", About: "a", Least: 1, Most: 2, Default: "1",
		Levels: []string{"1", "2"}}
	named := func(change func(*knob.Knob)) game.Knob {
		k := good
		change(&k)
		return game.Knob{Knob: k, Set: func(*game.Title, knob.Value) {}}
	}
	for text, list := range map[string][]game.Knob{
		"does nothing":            {{Knob: good}},
		"without =":               {named(func(k *knob.Knob) { k.Name = "a=b" })},
		"say in About":            {named(func(k *knob.Knob) { k.About = "" })},
		"nothing to choose":       {named(func(k *knob.Knob) { k.Most = 1 })},
		"at least two Levels":     {named(func(k *knob.Knob) { k.Levels = nil })},
		"must be 1 to 2":          {named(func(k *knob.Knob) { k.Default = "3" })},
		"should be 1":             {named(func(k *knob.Knob) { k.Levels = []string{"1.0", "2"} })},
		"two knobs are called":    {named(func(*knob.Knob) {}), named(func(*knob.Knob) {})},
		"there is no class \"x\"": nil,
	} {
		title := &game.Title{Game: plain, Knobs: list}
		if list == nil {
			title.Sight.Weights = map[string]float64{"x": 1}
		}
		if err := title.Check(); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%q: %v", text, err)
		}
	}
	if k := slices.IndexFunc((&game.Title{Game: plain}).Settable(),
		func(knob.Knob) bool { return true }); k >= 0 {
		t.Error("a title that shows all to everyone has knobs")
	}
}

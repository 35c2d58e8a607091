package game_test

import (
	"testing"

	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/games/arena"
	"github.com/coeval-dev/coeval/interest"
	"github.com/coeval-dev/coeval/replica"
	"github.com/coeval-dev/coeval/world"
)

// TestRelays: whose commands are relayed on account of which class, without a word of the author
// and with one.
func TestRelays(t *testing.T) {
	defer func() { hint = nil }()
	everyone := func(g *world.Game) *game.Title { return &game.Title{Game: g} }
	hiding := func(g *world.Game) *game.Title {
		return &game.Title{Game: g, Sight: game.Sight{
			Rules: func() (players, spectators *interest.Rules) { return &interest.Rules{}, nil }}}
	}
	for name, x := range map[string]struct {
		title func(*world.Game) *game.Title
		hint  func(a *thing, h *game.Hints)
		of    string // which classes, but for the state
	}{
		"all is shown":     {everyone, nil, "thing other"},
		"one is opted out": {everyone, func(_ *thing, h *game.Hints) { h.NoRelay() }, "other"},
		"a body":           {everyone, func(_ *thing, h *game.Hints) { h.Body(1) }, "thing"},
		"interpolated": {
			everyone, func(_ *thing, h *game.Hints) { h.Interpolated() }, "other"},
		"own only":          {everyone, func(_ *thing, h *game.Hints) { h.OwnOnly() }, "other"},
		"players hide":      {hiding, nil, ""},
		"a body that hides": {hiding, func(_ *thing, h *game.Hints) { h.Body(1) }, "thing"},
		"a body opted out": {
			hiding, func(_ *thing, h *game.Hints) { h.Body(1); h.NoRelay() }, ""},
		"one line": {hiding, func(_ *thing, h *game.Hints) { h.Relay() }, "thing"},
	} {
		t.Run(name, func(t *testing.T) {
			hint = x.hint
			title := x.title(rules())
			if err := title.Check(); err != nil {
				t.Fatal(err)
			}
			if got := relayed(title.Policies(), "thing", "other"); got != x.of {
				t.Errorf("relayed for those who see %q, want %q", got, x.of)
			}
			if !title.Policies()["weather"].NoRelay {
				t.Error("relayed on account of a state")
			}
		})
	}
	if got := relayed(arena.Title.Policies(), "Fighter", "Sheet", "Shot"); got != "Fighter" {
		t.Errorf("the arena relays for those who see %q", got)
	}
}

func relayed(p map[string]replica.Policy, names ...string) (list string) {
	for _, n := range names {
		if p[n].NoRelay {
			continue
		}
		if list != "" {
			list += " "
		}
		list += n
	}
	return list
}

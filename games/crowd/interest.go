package crowd

import (
	"strconv"

	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/interest"
	"github.com/coeval-dev/coeval/knob"
)

// Rules say what players are shown: themselves, and all within sight.
func Rules() *interest.Rules { return sightOf(Sight) }

func sightOf(reach float64) *interest.Rules {
	return &interest.Rules{Sources: []interest.Source{
		&interest.Owned{Weight: 4},
		&interest.Radius{Enter: reach, Leave: reach + 3},
	}}
}

// reachKnob sets how far players see.
var reachKnob = game.Knob{
	Knob: knob.Knob{Name: "reach", Least: 5, Most: 200, Default: strconv.Itoa(Sight),
		About: "how far players see",
		Levels: []string{strconv.Itoa(Sight / 2), strconv.Itoa(Sight * 3 / 4), strconv.Itoa(Sight),
			strconv.Itoa(Sight * 5 / 4)}},
	Set: func(t *game.Title, v knob.Value) {
		t.Sight.Rules = func() (players, spectators *interest.Rules) {
			return sightOf(v.Number), nil
		}
		t.Sight.Index.Cell = v.Number
	},
}

// Index fits the search to how far one sees.
func Index() interest.Options { return interest.Options{Cell: Sight} }

func place(p det.Vec2) det.Vec3 { return det.Vec3{X: p.X, Y: p.Y} }

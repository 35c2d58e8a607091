package crowd

import (
	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/interest"
)

// Rules say what players are shown: themselves, and all within sight.
func Rules() *interest.Rules {
	return &interest.Rules{Sources: []interest.Source{
		&interest.Owned{Weight: 4},
		&interest.Radius{Enter: Sight, Leave: Sight + 3},
	}}
}

// Index fits the search to how far one sees.
func Index() interest.Options { return interest.Options{Cell: Sight} }

func place(p det.Vec2) det.Vec3 { return det.Vec3{X: p.X, Y: p.Y} }

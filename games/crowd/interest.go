package crowd

import (
	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/interest"
	"github.com/coeval-dev/coeval/world"
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

// Parts describe the classes to interest management.
func Parts() []interest.Part {
	return []interest.Part{
		interest.Describe(func(w *world.World, id world.ID, a *Avatar) interest.Traits {
			return interest.Traits{Pos: place(a.Pos), Speed: speed}
		}),
		interest.Describe(func(w *world.World, id world.ID, b *Bolt) interest.Traits {
			return interest.Traits{Pos: place(b.Pos), Speed: boltSpeed}
		}),
		interest.Describe(func(w *world.World, id world.ID, g *Gem) interest.Traits {
			return interest.Traits{Pos: place(g.Pos), Importance: 0.25}
		}),
	}
}

func place(p det.Vec2) det.Vec3 { return det.Vec3{X: p.X, Y: p.Y} }

// Observe says from where a player looks. It only reads, and takes no time to speak of.
func Observe(w *world.World, p world.Player, o *interest.Observer) {
	if a := world.Get[Avatar](w, AvatarOf(w, p)); a != nil {
		o.Pos, o.Speed = place(a.Pos), speed
	}
}

// AvatarOf is a player's avatar as of the last tick, or None.
func AvatarOf(w *world.World, p world.Player) world.ID {
	if c := world.StateOf[Plaza](w).cells; c != nil && int(p) < len(c.players) && p != world.Nobody {
		return c.players[p]
	}
	return world.None
}

package crowd

import (
	"github.com/coeval-dev/coeval/interest"
	"github.com/coeval-dev/coeval/replica"
	"github.com/coeval-dev/coeval/world"
)

// What the title says of the game, said by hand.

// descriptions are those of the classes to interest management.
func descriptions() []interest.Description {
	return []interest.Description{
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

// observe says from where a player looks.
func observe(w *world.World, p world.Player, o *interest.Observer) {
	if a := world.Get[Avatar](w, avatarOf(w, p)); a != nil {
		o.Pos, o.Speed = place(a.Pos), speed
	}
}

// avatarOf is a player's avatar, or None.
func avatarOf(w *world.World, p world.Player) world.ID {
	for id := range world.All[Avatar](w) {
		if w.Owner(id) == p {
			return id
		}
	}
	return world.None
}

// sent says how the game is best sent. Bolts fly by themselves, so that a client is told of each
// only once. Nothing need be said of avatars: that Vel is the rate of Pos is known by their names,
// and the tables hold the rest.
func sent() replica.Options {
	return replica.Options{
		Tables: tables, Classes: map[string]replica.Policy{"Bolt": {Takeover: true}}}
}

package game

import (
	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/world"
)

// A Bot gives a player's command for a tick, by what it sees: a whole world or what a client is
// shown, or nil if it sees nothing. Bots makes one of a function that returns the command.
type Bot func(w *world.World, me world.Player, t world.Tick, in *world.Inputs) error

// Bots makes a Title's Bot of what an author writes: a function that makes a player from a seed,
// who then gives a command for each tick by what it sees.
//
//	Bot: game.Bots(func(seed uint64) func(w *world.World, me world.Player) Walk {
//		return newBrain(seed).think
//	}),
func Bots[C any](make func(seed uint64) func(w *world.World, me world.Player) C) func(
	seed uint64) Bot {
	return func(seed uint64) Bot {
		think := make(seed)
		return func(w *world.World, me world.Player, _ world.Tick, in *world.Inputs) error {
			if w == nil {
				return nil
			}
			return world.Give(in, me, think(w, me))
		}
	}
}

// NewBot makes a player: the title's own bot, or one that presses everything at random, each key
// held for a while.
func (t *Title) NewBot(seed uint64) Bot {
	if t.Bot != nil {
		return t.Bot(seed)
	}
	return restless(t.Game, seed)
}

func restless(g *world.Game, seed uint64) Bot {
	schema := g.Commands()
	if schema == nil {
		return func(*world.World, world.Player, world.Tick, *world.Inputs) error { return nil }
	}
	image := make([]int32, len(schema.Slots))
	return func(_ *world.World, me world.Player, t world.Tick, in *world.Inputs) error {
		for i := range image {
			s := &schema.Slots[i]
			hold := 4 + det.Draw(seed, uint64(i), 0, 1)%20
			span := uint64(uint32(s.Max-s.Min)) + 1
			image[i] = s.Min + int32(det.Draw(seed, uint64(i), uint64(t)/hold, 2)%span)
		}
		_ = in.GiveImage(me, image) // not every image is a command; then there is none this time
		return nil
	}
}

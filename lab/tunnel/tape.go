package tunnel

import (
	"errors"
	"fmt"

	"github.com/coeval-dev/coeval/lab"
	"github.com/coeval-dev/coeval/world"
)

// A Tape is what players did in a match on one machine, tick by tick: the same decisions for all
// architectures. It is played again and again where it is too short.
type Tape struct {
	players [][][]int32 // images of commands, by player and tick; nil where none was given
}

// Record has bots play on one machine, and keeps what they do.
func Record(s *lab.Subject, players, ticks int, seed uint64) (*Tape, error) {
	if s.Game.Commands() == nil {
		return nil, errors.New("a title without commands has nothing to record")
	}
	m, err := lab.NewMatch(s, players, seed)
	if err != nil {
		return nil, err
	}
	t := &Tape{players: make([][][]int32, players)}
	image := make([]int32, len(s.Game.Commands().Slots))
	for range ticks {
		if err := m.Prepare(); err != nil {
			return nil, err
		}
		for p := range players {
			var kept []int32
			if m.In.Image(world.Player(p+1), image) {
				kept = append(kept, image...)
			}
			t.players[p] = append(t.players[p], kept)
		}
		if err := m.World.Host().Step(m.In); err != nil {
			return nil, fmt.Errorf("recording at tick %d: %w", m.World.Tick(), err)
		}
	}
	return t, nil
}

// play gives a player's command for a tick.
func (t *Tape) play(player int, tick world.Tick, me world.Player, in *world.Inputs) error {
	list := t.players[player%len(t.players)]
	if image := list[int(tick)%len(list)]; image != nil {
		return in.GiveImage(me, image)
	}
	return nil
}

package lab

import (
	"fmt"

	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/world"
)

// A match is a title that bots play in this process, seeing everything.
type match struct {
	world *world.World
	in    *world.Inputs
	bots  []game.Bot
	early bool // bots give a command with the tick in which they join, and not only from the next on
}

// newMatch makes one of so many bots, who join at the first tick.
func newMatch(s *Subject, players int, seed uint64) (*match, error) {
	settings, err := s.Settings(s.On(seed))
	if err != nil {
		return nil, err
	}
	w, err := s.Game.New(settings)
	if err != nil {
		return nil, err
	}
	m := &match{world: w, in: s.Game.NewInputs()}
	for i := range players {
		m.bots = append(m.bots, s.NewBot(seed+uint64(i)))
	}
	return m, nil
}

// step takes the match to its next tick.
func (m *match) step() error {
	m.in.Reset()
	first := m.world.Tick() == 0
	for i, b := range m.bots {
		p := world.Player(i + 1)
		if first {
			m.in.Join(p)
		}
		if first && !m.early {
			continue
		}
		if err := b(m.world, p, m.world.Tick()+1, m.in); err != nil {
			return fmt.Errorf("bot %d: %w", i+1, err)
		}
	}
	return m.world.Host().Step(m.in)
}

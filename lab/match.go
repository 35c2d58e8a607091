package lab

import (
	"fmt"

	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/world"
)

// A Match is a title that bots play in this process, seeing everything.
type Match struct {
	World *world.World
	In    *world.Inputs
	// Early is for bots to give a command with the tick in which they join, and not only from the
	// next on.
	Early bool
	bots  []game.Bot
}

// NewMatch makes one of so many bots, who join at the first tick.
func NewMatch(s *Subject, players int, seed uint64) (*Match, error) {
	settings, err := s.Settings(s.On(seed))
	if err != nil {
		return nil, err
	}
	w, err := s.Game.New(settings)
	if err != nil {
		return nil, err
	}
	m := &Match{World: w, In: s.Game.NewInputs()}
	for i := range players {
		m.bots = append(m.bots, s.NewBot(seed+uint64(i)))
	}
	return m, nil
}

// Step takes the match to its next tick.
func (m *Match) Step() error {
	if err := m.Prepare(); err != nil {
		return err
	}
	return m.World.Host().Step(m.In)
}

// Prepare lets the bots say what goes into the next tick.
func (m *Match) Prepare() error {
	m.In.Reset()
	first := m.World.Tick() == 0
	for i, b := range m.bots {
		p := world.Player(i + 1)
		if first {
			m.In.Join(p)
		}
		if first && !m.Early {
			continue
		}
		if err := b(m.World, p, m.World.Tick()+1, m.In); err != nil {
			return fmt.Errorf("bot %d: %w", i+1, err)
		}
	}
	return nil
}

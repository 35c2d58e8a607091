package lab

import (
	"errors"
	"fmt"

	"github.com/coeval-dev/coeval/replica"
	"github.com/coeval-dev/coeval/topology/clientserver"
	"github.com/coeval-dev/coeval/world"
)

// Gameplay is a game with all that experiments need to know of it. Lab knows no games; whoever uses it brings one.
type Gameplay struct {
	Game *world.Game
	// Settings makes a world for so many players.
	Settings func(players int, seed uint64) world.Settings
	// Replica says how it is sent, and Interest who is shown what.
	Replica  replica.Options
	Interest clientserver.Interest
	// Bot makes a player that needs no one; different seeds play differently.
	Bot func(seed uint64) Bot
}

// A Bot gives a player's next command, by what it sees in a world, whole or partial. The world is nil if it sees nothing.
type Bot func(w *world.World, p world.Player, in *world.Inputs) error

func (g *Gameplay) check() error {
	if g == nil || g.Game == nil || g.Bot == nil {
		return errors.New("no game to play, or no bots to play it")
	}
	return g.Game.Err()
}

func (g *Gameplay) settings(players int, seed uint64) world.Settings {
	if g.Settings == nil {
		return world.Settings{Seed: seed, Secret: seed + 1}
	}
	return g.Settings(players, seed)
}

// A match is a game that bots play in this process, seeing everything.
type match struct {
	world *world.World
	in    *world.Inputs
	bots  []Bot
}

func newMatch(g *Gameplay, players int, seed uint64) (*match, error) {
	if err := g.check(); err != nil {
		return nil, err
	}
	w, err := g.Game.New(g.settings(players, seed))
	if err != nil {
		return nil, err
	}
	m := &match{world: w, in: g.Game.NewInputs()}
	for i := range players {
		m.bots = append(m.bots, g.Bot(seed+uint64(i)))
		m.in.Join(world.Player(i + 1))
	}
	return m, nil
}

// step takes the match to its next tick.
func (m *match) step() error {
	if m.world.Tick() > 0 {
		m.in.Reset()
		for i, b := range m.bots {
			if err := b(m.world, world.Player(i+1), m.in); err != nil {
				return fmt.Errorf("bot %d: %w", i+1, err)
			}
		}
	}
	return m.world.Step(m.in)
}

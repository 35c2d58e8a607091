package bandwidthlab

import (
	"errors"
	"fmt"
	"slices"

	"github.com/coeval-dev/coeval/lab"
	"github.com/coeval-dev/coeval/world"
)

// Game is a game with what the experiment must know of it. As everywhere in the lab, the caller brings it.
type Game struct {
	lab.Gameplay
	// Everyone names the classes by which every client is told of every player, near or not, such as a score board: the paper's d.
	Everyone []string
	// Near names the classes by which a client is told of players in its view, such as bodies and shots: the paper's e. Events, and commands that are relayed for
	// prediction, count among them. All else is the paper's c.
	Near []string
	// Body is the class of which each player has one, by which it is counted who is in a state update.
	Body string
}

// share is which variable a class's bytes belong to.
type share uint8

const (
	shareC share = iota
	shareD
	shareE
)

// shares gives it for all classes by number; the last is that of relayed commands.
func (g *Game) shares() ([]share, error) {
	if g == nil || g.Game == nil || g.Bot == nil {
		return nil, errors.New("no game to play, or no bots to play it")
	}
	if err := g.Game.Err(); err != nil {
		return nil, err
	}
	if g.Game.Commands() == nil {
		return nil, fmt.Errorf("the game %s has no commands, so there is nothing for clients to send", g.Game.Name())
	}
	var names []string
	var out []share
	for _, c := range g.Game.Classes() {
		s := shareC
		switch {
		case slices.Contains(g.Everyone, c.Name()):
			s = shareD
		case slices.Contains(g.Near, c.Name()):
			s = shareE
		}
		names, out = append(names, c.Name()), append(out, s)
	}
	for _, name := range append(append([]string{g.Body}, g.Everyone...), g.Near...) {
		if !slices.Contains(names, name) {
			return nil, fmt.Errorf("the game %s has no class %q, there are %v", g.Game.Name(), name, names)
		}
	}
	return append(out, shareE), nil
}

func (g *Game) body() int {
	for i, c := range g.Game.Classes() {
		if c.Name() == g.Body {
			return i
		}
	}
	return -1
}

func (g *Game) settings(players int, seed uint64) world.Settings {
	if g.Settings == nil {
		return world.Settings{Seed: seed, Secret: seed + 1}
	}
	return g.Settings(players, seed)
}

//go:build !js

package upgrade

import (
	"context"
	"crypto/sha256"
	"fmt"
	"strings"

	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/convert"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/keep"
	"github.com/coeval-dev/coeval/kept"
	"github.com/coeval-dev/coeval/world"
)

// This file is how a program finds out whether it can go on with another's game, and does.

// trialTicks is for how many ticks a world is tried.
const trialTicks = 8

// Try loads the game as it was at a moment and plays it for some ticks. It gives what the other
// program's version of the game declares, and what was converted, if anything was.
func (m *Moment) Try(t *game.Title) (old *world.Declared, r *convert.Report, err error) {
	if old, err = world.ParseDeclared(m.Declared); err != nil {
		return nil, nil, err
	}
	if old.Game != t.Name() {
		return nil, nil, fmt.Errorf("its world is one of %q, and this program is to go on with %q",
			old.Game, t.Name())
	}
	w, r, err := m.Load(t, old)
	if err != nil {
		return nil, nil, fmt.Errorf("its world cannot be loaded: %w", err)
	}
	in := t.Game.NewInputs()
	for range trialTicks {
		if err := w.Host().TryStep(in); err != nil {
			return nil, nil, fmt.Errorf("its world, as this program has it, fails at tick %d: %w",
				w.Tick()+1, err)
		}
	}
	return old, r, nil
}

// Load loads a moment of the game, of whichever version it is.
func (m *Moment) Load(t *game.Title, old *world.Declared) (w *world.World, r *convert.Report,
	err error) {
	g := t.Game
	settings, err := t.Settings(m.Level)
	if err != nil {
		return nil, nil, err
	}
	if old.Hash == g.Hash() {
		w, err = g.Load(m.World)
	} else {
		var fresh *world.World
		if fresh, err = g.New(settings); err != nil {
			return nil, nil, fmt.Errorf("level %q: %w", m.Level.Name, err)
		}
		w, r, err = convert.World(g, old, m.World, convert.Options{Fresh: fresh})
	}
	if err == nil && uint64(w.Tick()) != m.Tick {
		err = fmt.Errorf("it is of tick %d, not of %d", w.Tick(), m.Tick)
	}
	return w, r, err
}

// Snapshot is a moment that was loaded, as it is kept.
func (m *Moment) Snapshot(w *world.World) keep.Snapshot {
	s := keep.Snapshot{World: w, Level: m.Level}
	for _, x := range m.Seats {
		s.Seats = append(s.Seats, keep.Seat{Client: x.Client, Player: x.Player, Name: x.Name,
			UserData: x.UserData, Inside: x.Inside})
	}
	return s
}

// CheckStore says what of a store would not load. It may be nil.
func CheckStore(ctx context.Context, g *world.Game, s kept.Store) error {
	if s == nil {
		return nil
	}
	schemas, err := s.Schemas(ctx)
	if err != nil {
		return fmt.Errorf("the store cannot be used: %w", err)
	}
	found, err := kept.Check(g, schemas)
	if err != nil {
		return fmt.Errorf("the store: %w", err)
	}
	var list []string
	for _, f := range found {
		if f.Fatal {
			list = append(list, f.String())
		}
	}
	if len(list) == 0 {
		return nil
	}
	return fmt.Errorf("what is in the store would not load (see docs/kept.md):\n%s",
		strings.Join(list, "\n"))
}

// KeySum is by what two programs know that they have the same key.
func KeySum(k token.Key) []byte {
	sum := sha256.Sum256(append([]byte("coeval upgrade: "), k[:]...))
	return sum[:]
}

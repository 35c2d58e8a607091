//go:build !js

package storing

import (
	"context"

	"github.com/coeval-dev/coeval/kept"
	"github.com/coeval-dev/coeval/world"
)

// Alone is the store of a game that is played alone: memory, which answers within the tick. Nil is
// that of a game of which nothing is kept.
type Alone struct {
	desk  *kept.Desk
	store kept.Memory
	err   error
}

// NewAlone makes it.
func NewAlone(g *world.Game) (*Alone, error) {
	desk, err := kept.NewDesk(g, kept.Options{Owner: "a game alone"})
	if desk == nil || err != nil {
		return nil, err
	}
	a := &Alone{desk: desk}
	return a, desk.Open(context.Background(), &a.store)
}

// Tell puts what the store has answered among the inputs of a tick.
func (a *Alone) Tell(in *world.Inputs) {
	if a != nil && a.err == nil {
		a.err = a.desk.Tell(in)
	}
}

// Tick is told each tick. Players have accounts by their numbers.
func (a *Alone) Tick(w *world.World) {
	if a == nil || a.err != nil {
		return
	}
	a.desk.Tick(w)
	a.desk.Meet(w, func(yield func(world.Player, string) bool) {
		for p := range w.Players {
			if !yield(p, Account(uint64(p), nil)) {
				return
			}
		}
	})
	a.err = a.desk.Work(context.Background(), &a.store)
}

// Err is what went wrong.
func (a *Alone) Err() error {
	if a == nil {
		return nil
	}
	return a.err
}

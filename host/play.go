//go:build !js

package host

import (
	"context"
	"os"

	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/host/internal/play"
)

// PlayOptions say how a title is played alone.
type PlayOptions struct {
	// Level is what the world starts from. Default: the title's first, with seed 1.
	Level game.Level
	// Players is how many play; all but the first are bots. Default: as many as the title says.
	Players int
	// Ticks is where to stop. Default: never.
	Ticks int
	// Speed is how fast time goes, from 0.01 to 100. Default: 1.
	Speed float64
	// Record is a file that the run is recorded into, for trace and desync.
	Record string
	// In and Out are the terminal. Defaults: os.Stdin and os.Stdout.
	In, Out *os.File
}

// Play plays a title alone, in a terminal, until the player has had enough or the context ends.
func Play(ctx context.Context, t *game.Title, o PlayOptions) error {
	if err := t.Check(); err != nil {
		return err
	}
	return play.Play(ctx, t, play.Options{
		Level: o.Level, Players: o.Players, Ticks: o.Ticks, Speed: o.Speed,
		Record: o.Record, In: o.In, Out: o.Out,
	})
}

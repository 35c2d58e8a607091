package play

import (
	"errors"
	"fmt"
	"log/slog"

	"github.com/spf13/cobra"

	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/host/internal/recording"
	"github.com/coeval-dev/coeval/host/internal/storing"
	"github.com/coeval-dev/coeval/topology/solo"
	"github.com/coeval-dev/coeval/world"
)

// played is the result of a run that no one saw. The JSON names are for scripts and stay.
type played struct {
	Game     string `json:"game"`
	Seed     uint64 `json:"seed"`
	Players  int    `json:"players"`
	Ticks    int    `json:"ticks"`
	Entities int    `json:"entities"`
	Hash     string `json:"hash"`
}

// String is what people are told.
func (r *played) String() string {
	return fmt.Sprintf("%s, seed %d, %d players, tick %d: %d entities, hash %s\n",
		r.Game, r.Seed, r.Players, r.Ticks, r.Entities, r.Hash)
}

// count plays as fast as possible with players who press everything.
func (o *flags) count(cmd *cobra.Command, t *game.Title) error {
	settings, err := o.settings(t)
	if err != nil {
		return err
	}
	record := recording.New(o.Record, slog.New(slog.DiscardHandler))
	keeps, err := storing.NewAlone(t.Game)
	if err != nil {
		return err
	}
	random := world.RandomInputs(t.Game, o.Level.Seed, o.Players)
	run, err := solo.New(t.Game, solo.Options{
		Settings: settings, Players: -1, Ticks: o.Ticks,
		Inputs: func(tick world.Tick, in *world.Inputs) {
			random(tick, in)
			keeps.Tell(in)
		},
		After: func(w *world.World, in *world.Inputs) {
			record.Tick(w, in)
			keeps.Tick(w)
		},
	})
	if err != nil {
		return err
	}
	if err := begin(record, run); err != nil {
		return err
	}
	if err := errors.Join(run.Fast(cmd.Context()), record.Close(), keeps.Err()); err != nil {
		return err
	}
	r := played{Game: t.Name(), Seed: o.Level.Seed, Players: o.Players, Ticks: o.Ticks}
	run.View(func(w *world.World) {
		r.Hash = fmt.Sprintf("%016x", w.Hash())
		for range w.Entities() {
			r.Entities++
		}
	})
	return cli.Print(cmd.OutOrStdout(), &r, o.json)
}

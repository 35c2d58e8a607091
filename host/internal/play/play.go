// Package play plays a title alone: in a terminal, unseen, or to try it for determinism.
package play

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"os"

	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/host/internal/recording"
	"github.com/coeval-dev/coeval/host/internal/storing"
	"github.com/coeval-dev/coeval/host/internal/terminal"
	"github.com/coeval-dev/coeval/topology/solo"
	"github.com/coeval-dev/coeval/world"
)

// Options say how a title is played. Those that are zero have the defaults of host.PlayOptions.
type Options struct {
	Level          game.Level
	Players, Ticks int
	Speed          float64
	Record         string
	In, Out        *os.File
}

// settings are what the world starts from. Its secret is known, so that runs repeat.
func (o *Options) settings(t *game.Title) (world.Settings, error) {
	if o.Level.Name == "" && len(o.Level.Data) == 0 {
		o.Level.Name = t.Levels.First()
	}
	return t.Settings(o.Level)
}

// Play plays in a terminal, until the player has had enough or the context ends. Whatever happens,
// also a panic of the game, the terminal is as it was afterwards.
func Play(ctx context.Context, t *game.Title, o Options) error {
	o.In, o.Out = cmp.Or(o.In, os.Stdin), cmp.Or(o.Out, os.Stdout)
	err := terminal.Check(t, o.In, o.Out, "--headless to let players press everything",
		"--headless --ticks 600 for the result of a run")
	if err != nil {
		return err
	}
	o.Players = cmp.Or(o.Players, max(t.Players, 1))
	o.Level.Seed = cmp.Or(o.Level.Seed, 1)
	settings, err := o.settings(t)
	if err != nil {
		return err
	}
	x, err := terminal.Open(t, o.In, o.Out)
	if err != nil {
		return err
	}
	defer x.Close()
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	fail := func(err error) {
		if err != nil {
			stop(err)
		}
	}
	record := recording.New(o.Record, slog.New(slog.DiscardHandler))
	others := newCompany(t, o.Players, settings.Seed)
	keeps, err := storing.NewAlone(t.Game)
	if err != nil {
		return err
	}
	clock := &clock{title: t, speed: cmp.Or(o.Speed, 1)}
	run, err := solo.New(t.Game, solo.Options{
		Settings: settings, Players: o.Players, Ticks: o.Ticks, Speed: cmp.Or(o.Speed, 1),
		Inputs: func(_ world.Tick, in *world.Inputs) {
			keeps.Tell(in)
			fail(errors.Join(x.Command(1, in), others.give(in), keeps.Err()))
		},
		After: func(w *world.World, in *world.Inputs) {
			others.seen = w
			record.Tick(w, in)
			keeps.Tick(w)
			fail(x.Show(&game.Frame{World: w, Me: 1, Fresh: true},
				func() terminal.Status { return clock.status(w.Tick()) }))
		},
	})
	if err != nil {
		return err
	}
	if err := begin(record, run); err != nil {
		return err
	}
	go x.Listen(func(k terminal.Key) {
		clock.press(run, k)
		fail(x.Say(clock.again()))
	}, stop)
	err = run.Real(ctx)
	if recorded := record.Close(); recorded != nil {
		return recorded
	}
	if errors.Is(err, terminal.ErrQuit) {
		return nil
	}
	return err
}

// begin starts to record a run that has not begun.
func begin(r *recording.Recording, run *solo.Run) error {
	run.View(func(w *world.World) { r.Begin(w, "") })
	return r.Err()
}

// A company is the bots that play along.
type company struct {
	bots []game.Bot
	seen *world.World // after the last tick; nil before the first, at which no one can do anything
}

// newCompany makes the players beyond the first, if the title has bots.
func newCompany(t *game.Title, players int, seed uint64) *company {
	var c company
	for i := 1; i < players && t.Bot != nil; i++ {
		c.bots = append(c.bots, t.NewBot(seed+uint64(i)))
	}
	return &c
}

// give lets each bot look and decide.
func (c *company) give(in *world.Inputs) error {
	if c.seen == nil {
		return nil
	}
	for i, bot := range c.bots {
		if err := bot(c.seen, world.Player(i+2), c.seen.Tick()+1, in); err != nil {
			return err
		}
	}
	return nil
}

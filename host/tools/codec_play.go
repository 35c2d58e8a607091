//go:build !js

package tools

import (
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/coeval-dev/coeval/codec"
	"github.com/coeval-dev/coeval/host"
	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/lab"
)

const codecPlayLong = `Make tables for a game that comes with the program, by letting bots play it.

The images of the game are recorded as its clients would be sent them, with the
round trips that clients have, and tables are trained from that. The same game,
players, seconds and seed make the same tables.`

func codecPlayCommand(p *host.Program) *cobra.Command {
	var o lab.GameTablesOptions
	var out string
	cmd := &cobra.Command{
		Use:     "play GAME --out FILE.tables",
		Short:   "Make tables by letting bots play a game",
		Long:    codecPlayLong,
		Example: "  {program} codec play {game} --out game.tables",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			name := ""
			if len(args) > 0 {
				name = args[0]
			}
			t, err := p.Title(name)
			if err != nil {
				return cli.UsageError{Err: err}
			}
			o.Title = t
			return playTables(cmd, o, out)
		},
	}
	f := cmd.Flags()
	f.StringVar(&out, "out", "", "`FILE` to write the tables to")
	f.IntVar(&o.Players, "players", 48, "how many bots play")
	f.IntVar(&o.Seconds, "seconds", 40, "how long they play, in the game's time")
	f.Uint64Var(&o.Seed, "seed", 1, "random seed")
	if err := cmd.MarkFlagRequired("out"); err != nil {
		panic(err) // only if the flag did not exist
	}
	return cmd
}

func playTables(cmd *cobra.Command, o lab.GameTablesOptions, out string) error {
	bar := cli.NewProgress(cmd.ErrOrStderr())
	defer bar.Clear()
	file, err := cli.CreateWhole(out) // before the long work, in case it cannot be written
	if err != nil {
		return err
	}
	defer file.Abandon()
	type result struct {
		model *codec.Model
		err   error
	}
	// The work knows nothing of Ctrl-C; the bar is drawn here, so that nothing is printed once this has returned.
	type news struct {
		done float64
		what string
	}
	ctx, told, finished := cmd.Context(), make(chan news), make(chan result, 1)
	o.Progress = func(done float64, what string) {
		select {
		case told <- news{done, what}:
		case <-ctx.Done():
		}
	}
	go func() {
		m, err := lab.GameTables(o)
		finished <- result{m, err}
	}()
	for {
		select {
		case n := <-told:
			bar.Show(n.done, n.what)
		case <-ctx.Done():
			return ctx.Err()
		case r := <-finished:
			if r.err != nil {
				return r.err
			}
			tables := r.model.AppendTables(nil)
			if err := file.Commit(tables); err != nil {
				return err
			}
			bar.Clear()
			hash := r.model.Hash()
			var names []string
			for _, c := range r.model.Schema().Classes {
				names = append(names, c.Name)
			}
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "%s: %d bytes for %s, hash %s\n", out, len(tables), strings.Join(names, ", "), hex.EncodeToString(hash[:8]))
			return err
		}
	}
}

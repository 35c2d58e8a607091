package play

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/host/internal/cli"
)

const long = `Play a game alone, in the terminal. The same game, unchanged, is what a server
and its clients run.

%s

Arrow keys or w, a, s, d play. p pauses, . goes on by one tick, + and - change
the speed, q or Ctrl-C ends.

With --headless nothing is shown: players who press everything play --ticks
ticks as fast as possible, and the hash of the world is printed. The same game,
seed and players give the same hash on every machine.

With --check the game is tried for determinism instead: each tick is computed
again from some ticks before, from a copy and from a saved world, and parts of
the world are predicted with entities hidden, as clients will do. What differs
is named by tick, entity and field, and the exit code is 1.`

const example = `  {program} play {game}
  {program} play {game} --seed 7 --speed 0.5
  {program} play {game} --players 8
  {program} play {game} --headless --ticks 600 --json
  {program} play {game} --headless --record run.trace
  {program} play {game} --check`

// flags are what the command line says.
type flags struct {
	Options
	level                 cli.LevelFlags
	headless, check, json bool
}

// Command is the command play.
func Command(p *cli.Program) *cobra.Command {
	var o flags
	cmd := &cobra.Command{
		Use:     "play",
		Short:   "Play a game in the terminal, or try it for determinism",
		Long:    fmt.Sprintf(long, p.Lines()),
		Example: example,
	}
	p.OneGame(cmd, o.run)
	o.level.Flags(cmd, "", 1)
	f := cmd.Flags()
	f.IntVar(&o.Ticks, "ticks", 0, "where to stop (default: never, or 600 if nothing is shown)")
	f.IntVar(&o.Players, "players", 1,
		"how many play; the keys are those of the first, the others are bots if the game has any "+
			"(default in the terminal: as the game says)")
	f.Float64Var(&o.Speed, "speed", 1, "how fast time goes, from 0.01 to 100")
	f.BoolVar(&o.headless, "headless", false,
		"show nothing, go as fast as possible, print the world's hash")
	f.BoolVar(&o.check, "check", false, "try the game for determinism")
	f.StringVar(&o.Record, "record", "", "record the run into this file, for {program} trace")
	f.BoolVar(&o.json, "json", false, "with --headless or --check, print one JSON object")
	cmd.MarkFlagsMutuallyExclusive("headless", "check")
	cmd.MarkFlagsMutuallyExclusive("record", "check")
	return cmd
}

func (o *flags) run(cmd *cobra.Command, t *game.Title) (err error) {
	switch {
	case o.Ticks < 0 || o.Players < 0 || o.Players > 1000:
		return cli.Usagef(
			"--ticks is %d and --players %d: there must be at least 0 ticks and 0 to 1000 players",
			o.Ticks, o.Players)
	case !(o.Speed >= 0.01 && o.Speed <= 100):
		return cli.Usagef("--speed is %v: it must be from 0.01 to 100", o.Speed)
	case o.json && !o.headless && !o.check:
		return cli.Usagef("--json goes with --headless or --check")
	}
	if o.Level, err = o.level.Read(t); err != nil {
		return err
	}
	if (o.headless || o.check) && o.Ticks == 0 {
		o.Ticks = 600
	}
	switch {
	case o.check:
		return o.try(cmd.OutOrStdout(), t)
	case o.headless:
		return o.count(cmd, t)
	}
	var okIn, okOut bool
	o.In, okIn = cmd.InOrStdin().(*os.File)
	if o.Out, okOut = cmd.OutOrStdout().(*os.File); !okIn || !okOut {
		o.In, o.Out = nil, nil
	}
	if !cmd.Flags().Changed("players") {
		o.Players = 0 // as the title says
	}
	return Play(cmd.Context(), t, o.Options)
}

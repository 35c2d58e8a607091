//go:build !js

package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/topology/solo"
	"github.com/coeval-dev/coeval/world"
)

const playLong = `Play a game alone, in the terminal. The same game, unchanged, is what a server
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

const playExample = `  {program} play {game}
  {program} play {game} --seed 7 --speed 0.5
  {program} play {game} --players 8
  {program} play {game} --headless --ticks 600 --json
  {program} play {game} --headless --record run.trace
  {program} play {game} --check`

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
	if !t.Screen.Drawn() {
		return noScreen(t, "--headless to let players press everything")
	}
	if o.In == nil {
		o.In = os.Stdin
	}
	if o.Out == nil {
		o.Out = os.Stdout
	}
	if o.Speed == 0 {
		o.Speed = 1
	}
	if o.Players == 0 {
		o.Players = max(t.Players, 1)
	}
	if o.Level.Seed == 0 {
		o.Level.Seed = 1
	}
	if !term.IsTerminal(int(o.In.Fd())) || !term.IsTerminal(int(o.Out.Fd())) {
		return cli.Usagef(
			"this is not a terminal to play in; use --headless --ticks %d for the result of a run",
			600)
	}
	settings, err := playSettings(t, o.Level)
	if err != nil {
		return err
	}
	return o.show(ctx, t, settings)
}

// noScreen says what to do about a title that cannot be drawn.
func noScreen(t *game.Title, instead string) error {
	return cli.Usagef("%s cannot be drawn, as its title has no Screen; use %s", t.Name(), instead)
}

// playSettings are what a world starts from that is played alone. Its secret is known, so that runs
// repeat.
func playSettings(t *game.Title, l game.Level) (world.Settings, error) {
	if l.Name == "" && len(l.Data) == 0 {
		l.Name = t.Levels.First()
	}
	return t.Settings(l)
}

// play is what the command line says.
type play struct {
	level, data     string
	seed            uint64
	ticks, players  int
	speed           float64
	headless, check bool
	json            bool
	record          string // a trace, or nothing
}

func (p *Program) playCommand() *cobra.Command {
	var o play
	cmd := &cobra.Command{
		Use:       p.verb("play"),
		Short:     "Play a game in the terminal, or try it for determinism",
		Long:      fmt.Sprintf(playLong, p.list()),
		Example:   playExample,
		ValidArgs: p.names(),
		Args:      p.gameArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			t, err := p.gameOf(args)
			if err != nil {
				return err
			}
			return o.run(cmd, t)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.level, "level", "", "where to play (default: the game's own)")
	f.StringVar(&o.data, "map", "", "file with the level's data")
	f.Uint64Var(&o.seed, "seed", 1, "random seed")
	f.IntVar(&o.ticks, "ticks", 0, "where to stop (default: never, or 600 if nothing is shown)")
	f.IntVar(&o.players, "players", 1,
		"how many play; the keys are those of the first, the others are bots if the game has any "+
			"(default in the terminal: as the game says)")
	f.Float64Var(&o.speed, "speed", 1, "how fast time goes, from 0.01 to 100")
	f.BoolVar(&o.headless, "headless", false,
		"show nothing, go as fast as possible, print the world's hash")
	f.BoolVar(&o.check, "check", false, "try the game for determinism")
	f.StringVar(&o.record, "record", "", "record the run into this file, for {program} trace")
	f.BoolVar(&o.json, "json", false, "with --headless or --check, print one JSON object")
	cmd.MarkFlagsMutuallyExclusive("headless", "check")
	cmd.MarkFlagsMutuallyExclusive("record", "check")
	return cmd
}

func (p *play) run(cmd *cobra.Command, t *game.Title) error {
	switch {
	case p.ticks < 0 || p.players < 0 || p.players > 1000:
		return cli.Usagef(
			"--ticks is %d and --players %d: there must be at least 0 ticks and 0 to 1000 players",
			p.ticks, p.players)
	case !(p.speed >= 0.01 && p.speed <= 100):
		return cli.Usagef("--speed is %v: it must be from 0.01 to 100", p.speed)
	case p.json && !p.headless && !p.check:
		return cli.Usagef("--json goes with --headless or --check")
	}
	level, err := readLevel(t, p.level, p.data)
	if err != nil {
		return err
	}
	level.Seed = p.seed
	settings, err := playSettings(t, level)
	if err != nil {
		return err
	}
	if p.headless || p.check {
		if p.ticks == 0 {
			p.ticks = 600
		}
		if p.check {
			return p.try(cmd.OutOrStdout(), t, settings)
		}
		return p.count(cmd, t, settings)
	}
	in, okIn := cmd.InOrStdin().(*os.File)
	out, okOut := cmd.OutOrStdout().(*os.File)
	if !okIn || !okOut {
		in, out = os.Stdin, os.Stdout
	}
	o := PlayOptions{
		Level: level, Ticks: p.ticks, Speed: p.speed, Record: p.record, In: in, Out: out,
	}
	if cmd.Flags().Changed("players") {
		o.Players = p.players
	}
	return Play(cmd.Context(), t, o)
}

// played is the result of a run that no one saw. The JSON names are for scripts and stay.
type played struct {
	Game     string `json:"game"`
	Seed     uint64 `json:"seed"`
	Players  int    `json:"players"`
	Ticks    int    `json:"ticks"`
	Entities int    `json:"entities"`
	Hash     string `json:"hash"`
}

func (p *play) count(cmd *cobra.Command, t *game.Title, settings world.Settings) error {
	var rec *recorder
	run, err := solo.New(t.Game, solo.Options{
		Settings: settings, Players: -1, Ticks: p.ticks, Inputs: world.RandomInputs(t.Game, p.seed, p.players),
		After: func(w *world.World, in *world.Inputs) { rec.tick(w, in) },
	})
	if err != nil {
		return err
	}
	if rec, err = newRecorder(p.record, run); err != nil {
		return err
	}
	if err := errors.Join(run.Fast(cmd.Context()), rec.close()); err != nil {
		return err
	}
	r := played{Game: t.Name(), Seed: p.seed, Players: p.players, Ticks: p.ticks}
	run.View(func(w *world.World) {
		r.Hash = fmt.Sprintf("%016x", w.Hash())
		for range w.Entities() {
			r.Entities++
		}
	})
	if p.json {
		return json.NewEncoder(cmd.OutOrStdout()).Encode(r)
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(),
		"%s, seed %d, %d players, tick %d: %d entities, hash %s\n",
		r.Game, r.Seed, r.Players, r.Ticks, r.Entities, r.Hash)
	return err
}

// tried is what came of trying a game for determinism. The JSON names are for scripts and stay.
type tried struct {
	Game      string   `json:"game"`
	Ticks     int      `json:"ticks"`
	Rollback  string   `json:"rollback,omitempty"` // what differed
	Compared  int      `json:"predicted"`
	Exact     int      `json:"predicted_exactly"`
	Explained int      `json:"explained"`
	Wrong     int      `json:"wrong"`
	Hidden    string   `json:"hidden,omitempty"` // what differed
	Warnings  []string `json:"warnings,omitempty"`
}

func (p *play) try(out io.Writer, t *game.Title, settings world.Settings) error {
	settings.Secret, settings.Develop = p.seed+1, true
	o := world.CheckOptions{Settings: settings, Seed: p.seed, Ticks: p.ticks, Players: p.players}
	r := tried{Game: t.Name(), Ticks: p.ticks}
	d, err := world.CheckRollback(t.Game, o)
	if err != nil {
		return err
	}
	if d != nil {
		r.Rollback = d.String()
	}
	rep, err := world.CheckHidden(t.Game, o)
	if err != nil {
		return err
	}
	r.Compared, r.Exact, r.Explained, r.Wrong = rep.Compared, rep.Exact, rep.Explained, rep.Wrong
	if rep.First != nil {
		r.Hidden = rep.First.String()
	}
	if r.Warnings, err = p.warnings(t, o.Settings); err != nil {
		return err
	}
	if p.json {
		err = json.NewEncoder(out).Encode(r)
	} else {
		err = r.print(out)
	}
	if err == nil && (r.Rollback != "" || r.Wrong > 0) {
		err = fmt.Errorf("%s is not deterministic", r.Game)
	}
	return err
}

func (p *play) warnings(t *game.Title, s world.Settings) (list []string, err error) {
	w, err := t.Game.New(s)
	if err != nil {
		return nil, err
	}
	in, inputs := t.Game.NewInputs(), world.RandomInputs(t.Game, p.seed, p.players)
	for i := range p.ticks {
		inputs(world.Tick(i+1), in)
		if err := w.Host().Step(in); err != nil {
			return nil, err
		}
	}
	for _, x := range w.Host().Warnings() {
		list = append(list, x.String())
	}
	return list, nil
}

func (r *tried) print(out io.Writer) error {
	var b strings.Builder
	if r.Rollback == "" {
		fmt.Fprintf(&b,
			"rollback: %d ticks computed again from copies and saves, all the same\n", r.Ticks)
	} else {
		fmt.Fprintf(&b, "rollback: %s\n", r.Rollback)
	}
	fmt.Fprintf(&b,
		"hidden:   %d of %d predicted exactly, %d others met what was hidden, new or secret, %d "+
			"were wrong\n", r.Exact, r.Compared, r.Explained, r.Wrong)
	if r.Hidden != "" {
		fmt.Fprintf(&b, "          %s\n", r.Hidden)
	}
	for _, w := range r.Warnings {
		fmt.Fprintf(&b, "warning:  %s\n", w)
	}
	_, err := io.WriteString(out, b.String())
	return err
}

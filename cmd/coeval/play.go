package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/coeval-dev/coeval/games/arena"
	"github.com/coeval-dev/coeval/games/pong"
	"github.com/coeval-dev/coeval/games/stack"
	"github.com/coeval-dev/coeval/predict"
	"github.com/coeval-dev/coeval/topology/solo"
	"github.com/coeval-dev/coeval/world"
)

// A playable is a game that the terminal can show.
type playable struct {
	game          *world.Game
	about         string
	width, height float64
	draw          func(w *world.World, put func(x, y float64, c rune))
	drawFor       func(w *world.World, p world.Player, put func(x, y float64, c rune)) // nil: everyone is shown the same
	give          func(in *world.Inputs, p world.Player, k keys) error

	players int                             // how many play in the terminal if nobody says; 0 for one
	bot     func(seed uint64) botFunc       // plays all but the first; nil: they do nothing
	predict func() map[string]predict.Class // how clients predict it; nil: as the style says
}

// playables lists the games, the simplest first.
func playables() []playable {
	var pad arena.Pad
	var star world.Player
	return []playable{
		{game: pong.Game, about: "two paddles and a ball; up and down", width: pong.Width, height: pong.Height, draw: pong.Draw,
			give: func(in *world.Inputs, p world.Player, k keys) error {
				return world.Give(in, p, pong.Keys(k.up, k.down))
			},
			predict: func() map[string]predict.Class { return map[string]predict.Class{"Paddle": {Place: "Y"}} }},
		{game: stack.Game, about: "a pile of boxes to drive into; left, right, up or space to jump", width: stack.Width, height: stack.Height, draw: stack.Draw,
			give: func(in *world.Inputs, p world.Player, k keys) error {
				return world.Give(in, p, stack.Keys(k.left, k.right, k.up || k.fire))
			}},
		{game: arena.Game, about: "a shooter seen from above, against bots; arrows walk and aim, space fires", width: arena.ViewWidth, height: arena.ViewHeight, draw: arena.Draw,
			give: func(in *world.Inputs, p world.Player, k keys) error {
				return world.Give(in, p, pad.Keys(k.left, k.right, k.up, k.down, k.fire))
			},
			drawFor: func(w *world.World, p world.Player, put func(x, y float64, c rune)) {
				if p == world.Nobody {
					star = arenaStar(w, star)
					p = star
				}
				arena.DrawFor(w, p, put)
			},
			players: 4, bot: arenaBot},
	}
}

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

const playExample = `  coeval play pong
  coeval play stack --seed 7 --speed 0.5
  coeval play arena --players 8
  coeval play stack --headless --ticks 600 --json
  coeval play stack --headless --record run.trace
  coeval play pong --check`

type play struct {
	seed            uint64
	ticks, players  int
	speed           float64
	headless, check bool
	json            bool
	record          string // a trace, or nothing
}

func playCommand() *cobra.Command {
	var p play
	var names, about []string
	for _, g := range playables() {
		names = append(names, g.game.Name())
		about = append(about, fmt.Sprintf("  %-8s %s", g.game.Name(), g.about))
	}
	cmd := &cobra.Command{
		Use:       "play GAME",
		Short:     "Play a game in the terminal, or try it for determinism",
		Long:      fmt.Sprintf(playLong, strings.Join(about, "\n")),
		Example:   playExample,
		ValidArgs: names,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fmt.Errorf("which game? There are %s", strings.Join(names, ", "))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			for _, g := range playables() {
				if g.game.Name() == args[0] {
					return p.run(cmd, g)
				}
			}
			return usageErrorf("there is no game %q; there are %s", args[0], strings.Join(names, ", "))
		},
	}
	f := cmd.Flags()
	f.Uint64Var(&p.seed, "seed", 1, "what chance hangs on")
	f.IntVar(&p.ticks, "ticks", 0, "where to stop (default: never, or 600 if nothing is shown)")
	f.IntVar(&p.players, "players", 1, "how many play; the keys are those of the first, the others are bots if the game has any (arena in the terminal: 4 unless you say)")
	f.Float64Var(&p.speed, "speed", 1, "how fast time goes, from 0.01 to 100")
	f.BoolVar(&p.headless, "headless", false, "show nothing, go as fast as possible, print the world's hash")
	f.BoolVar(&p.check, "check", false, "try the game for determinism")
	f.StringVar(&p.record, "record", "", "record the run into this file, for coeval trace")
	f.BoolVar(&p.json, "json", false, "with --headless or --check, print one JSON object")
	cmd.MarkFlagsMutuallyExclusive("headless", "check")
	cmd.MarkFlagsMutuallyExclusive("record", "check")
	return cmd
}

func (p *play) run(cmd *cobra.Command, g playable) error {
	switch {
	case p.ticks < 0 || p.players < 0 || p.players > 1000:
		return usageErrorf("--ticks is %d and --players %d: there must be at least 0 ticks and 0 to 1000 players", p.ticks, p.players)
	case !(p.speed >= 0.01 && p.speed <= 100):
		return usageErrorf("--speed is %v: it must be from 0.01 to 100", p.speed)
	case p.json && !p.headless && !p.check:
		return usageErrorf("--json goes with --headless or --check")
	}
	if p.headless || p.check {
		if p.ticks == 0 {
			p.ticks = 600
		}
		if p.check {
			return p.try(cmd.OutOrStdout(), g)
		}
		return p.count(cmd, g)
	}
	in, okIn := cmd.InOrStdin().(*os.File)
	out, okOut := cmd.OutOrStdout().(*os.File)
	if !okIn || !okOut || !term.IsTerminal(int(in.Fd())) || !term.IsTerminal(int(out.Fd())) {
		return usageErrorf("this is not a terminal to play in; use --headless --ticks %d for the result of a run", 600)
	}
	if g.players > 0 && !cmd.Flags().Changed("players") {
		p.players = g.players
	}
	return p.show(cmd.Context(), g, in, out)
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

func (p *play) count(cmd *cobra.Command, g playable) error {
	var rec *recorder
	run, err := solo.New(g.game, solo.Options{
		Settings: world.Settings{Seed: p.seed}, Players: -1, Ticks: p.ticks, Inputs: world.RandomInputs(g.game, p.seed, p.players),
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
	r := played{Game: g.game.Name(), Seed: p.seed, Players: p.players, Ticks: p.ticks}
	run.View(func(w *world.World) {
		r.Hash = fmt.Sprintf("%016x", w.Hash())
		for range w.Entities() {
			r.Entities++
		}
	})
	if p.json {
		return json.NewEncoder(cmd.OutOrStdout()).Encode(r)
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s, seed %d, %d players, tick %d: %d entities, hash %s\n", r.Game, r.Seed, r.Players, r.Ticks, r.Entities, r.Hash)
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

func (p *play) try(out io.Writer, g playable) error {
	o := world.CheckOptions{Settings: world.Settings{Seed: p.seed, Secret: p.seed + 1, Develop: true}, Seed: p.seed, Ticks: p.ticks, Players: p.players}
	r := tried{Game: g.game.Name(), Ticks: p.ticks}
	d, err := world.CheckRollback(g.game, o)
	if err != nil {
		return err
	}
	if d != nil {
		r.Rollback = d.String()
	}
	rep, err := world.CheckHidden(g.game, o)
	if err != nil {
		return err
	}
	r.Compared, r.Exact, r.Explained, r.Wrong = rep.Compared, rep.Exact, rep.Explained, rep.Wrong
	if rep.First != nil {
		r.Hidden = rep.First.String()
	}
	if r.Warnings, err = p.warnings(g, o.Settings); err != nil {
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

func (p *play) warnings(g playable, s world.Settings) (list []string, err error) {
	w, err := g.game.New(s)
	if err != nil {
		return nil, err
	}
	in, inputs := g.game.NewInputs(), world.RandomInputs(g.game, p.seed, p.players)
	for t := range p.ticks {
		inputs(world.Tick(t+1), in)
		if err := w.Step(in); err != nil {
			return nil, err
		}
	}
	for _, x := range w.Warnings() {
		list = append(list, x.String())
	}
	return list, nil
}

func (r *tried) print(out io.Writer) error {
	var b strings.Builder
	if r.Rollback == "" {
		fmt.Fprintf(&b, "rollback: %d ticks computed again from copies and saves, all the same\n", r.Ticks)
	} else {
		fmt.Fprintf(&b, "rollback: %s\n", r.Rollback)
	}
	fmt.Fprintf(&b, "hidden:   %d of %d predicted exactly, %d others met what was hidden, new or secret, %d were wrong\n", r.Exact, r.Compared, r.Explained, r.Wrong)
	if r.Hidden != "" {
		fmt.Fprintf(&b, "          %s\n", r.Hidden)
	}
	for _, w := range r.Warnings {
		fmt.Fprintf(&b, "warning:  %s\n", w)
	}
	_, err := io.WriteString(out, b.String())
	return err
}

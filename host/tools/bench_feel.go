//go:build !js

package tools

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/coeval-dev/coeval/host"
	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/lab"
	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/predict"
)

const benchFeelLong = `Measure what players see: how far what is shown is from what is true, how often
their own view is corrected, whether the hits they see are hits.

Bots play the game over a simulated network, in virtual time, each through a
client of its own. They act on what that client shows them, so errors and delays
have the consequences that they would have for people. An oracle plays the same
commands without a network; it is what is true. Every second it starts again
from the server's world, since a shot that hits in one world only makes two
games of one.

Styles, tried one after the other with the same seed:
  doom3     everything in view is predicted
  quake3    the player is predicted, all else is shown as it was
  halflife  the same, and the server goes back in time to judge shots

Corrections are those of a player's own body by more than 5 % of its width: while
touching another player, while being hit, killed or coming back, and the rest. A
hit is seen when the beam would hit if what is shown were true; it is denied when
the server does not give it. Cover is what stands between the shooter and where
the victim sees itself at the tick of the hit.

Time is virtual: the same seed gives the same figures on any machine.`

func benchFeelCommand(p *host.Program) *cobra.Command {
	o := lab.FeelOptions{}
	var preset, styles, name string
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "feel",
		Short:   "What players see over a bad network, in three styles",
		Long:    benchFeelLong,
		Example: "  {program} bench feel\n  {program} bench feel --preset lte --players 16 --style doom3 --json\n  {program} bench feel --preset \"wifi loss=5%\" --seconds 300",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var err error
			if o.Conditions, err = netsim.ParseConditions(preset); err != nil {
				return cli.Usagef("--preset: %v", err)
			}
			if o.Conditions.Name != preset {
				o.Conditions.Name = preset
			}
			for s := range strings.SplitSeq(styles, ",") {
				if styles == "" {
					break // all that the title can be tried in
				}
				style, err := predict.ParseStyle(strings.TrimSpace(s))
				if err != nil {
					return cli.Usagef("--style: %v", err)
				}
				o.Styles = append(o.Styles, style)
			}
			if o.Players < 2 || o.Players > 1000 || o.Time < time.Second {
				return cli.Usagef("--players is %d and --time %v: choose 2 to 1000 players and at least a second", o.Players, o.Time)
			}
			t, err := titleOf(p, name, embodied)
			if err != nil {
				return err
			}
			o.Title = t
			if _, err := lab.NewSubject(t, o.Level, o.Players); err != nil {
				return cli.Usagef("--map: %v", err)
			}
			bar := cli.NewProgress(cmd.ErrOrStderr())
			defer bar.Clear()
			o.Progress = func(done float64) { bar.Show(done, "playing") }
			results, err := lab.Feel(cmd.Context(), o)
			if err != nil {
				return err
			}
			bar.Clear()
			if asJSON {
				enc := json.NewEncoder(cmd.OutOrStdout())
				for _, r := range results {
					if err := enc.Encode(r); err != nil {
						return err
					}
				}
				return nil
			}
			return printFeel(cmd.OutOrStdout(), results)
		},
	}
	f := cmd.Flags()
	f.StringVar(&preset, "preset", "wifi", "the network of all players: a preset, or settings as {program} netsim takes them")
	f.IntVar(&o.Players, "players", 16, "how many bots play")
	f.StringVar(&styles, "style", "", "the styles to try, such as doom3,quake3 (default: all that the game can be tried in)")
	f.DurationVar(&o.Time, "time", time.Minute, "how long each is measured, in virtual time")
	f.DurationVar(&o.Warm, "warm", 10*time.Second, "how long it plays before it is measured")
	f.Uint64Var(&o.Seed, "seed", 1, "random seed of the network and the bots")
	f.StringVar(&name, "game", "", "what is played (default: the first game that says what a player moves about in)")
	f.StringVar(&o.Level, "map", "", "where they play (default: the game's for so many)")
	f.BoolVar(&o.Through, "through", false, "halflife: leave out the check that the line of fire is clear in the present")
	f.BoolVar(&asJSON, "json", false, "print one JSON object a style")
	return cmd
}

func printFeel(out io.Writer, results []*lab.FeelResult) error {
	r := results[0]
	fmt.Fprintf(out, "%d players over %s, %.0f s each, seed %d\n\n", r.Players, r.Network, r.Seconds, r.Seed)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	row := func(what string, value func(r *lab.FeelResult) string) {
		fmt.Fprint(w, what, "\t")
		for _, r := range results {
			fmt.Fprint(w, value(r), "\t")
		}
		fmt.Fprintln(w)
	}
	distance := func(e lab.FeelError) string { return fmt.Sprintf("%.3f / %.3f / %.3f", e.Mean, e.P95, e.P99) }
	part := func(n, of int) string { return fmt.Sprintf("%d of %d", n, of) }
	row("", func(r *lab.FeelResult) string { return r.Style })
	row("others shown off by, mean / p95 / p99", func(r *lab.FeelResult) string { return distance(r.Others) })
	row("oneself shown off by", func(r *lab.FeelResult) string { return distance(r.Own) })
	row("server off by, as commands are late", func(r *lab.FeelResult) string { return distance(r.Server) })
	row("own corrections a minute", func(r *lab.FeelResult) string { return fmt.Sprintf("%.2f", r.Corrections) })
	row("touching another", func(r *lab.FeelResult) string { return fmt.Sprintf("%.2f", r.CorrectionsContact) })
	row("hit or killed", func(r *lab.FeelResult) string { return fmt.Sprintf("%.2f", r.CorrectionsStruck) })
	row("the rest", func(r *lab.FeelResult) string { return fmt.Sprintf("%.2f", r.CorrectionsRest) })
	row("input to own view, ticks", func(r *lab.FeelResult) string { return fmt.Sprintf("%.2f", r.InputTicks) })
	row("hits seen and denied", func(r *lab.FeelResult) string { return part(r.HitsDenied, r.HitsSeen) })
	row("hits given and not seen", func(r *lab.FeelResult) string { return fmt.Sprint(r.HitsUnseen) })
	row("hits behind cover", func(r *lab.FeelResult) string { return part(r.HitsCovered, r.Hits) })
	row("deaths behind cover", func(r *lab.FeelResult) string { return part(r.DeathsCovers, r.DeathsByHit) })
	row("ahead of the newest snapshot, ticks", func(r *lab.FeelResult) string { return fmt.Sprintf("%.1f", r.Ahead) })
	row("commands late", func(r *lab.FeelResult) string { return fmt.Sprintf("%.2f %%", 100*r.Late) })
	row("images predicted exactly", func(r *lab.FeelResult) string { return fmt.Sprintf("%.1f %%", 100*r.Exact) })
	row("events foreseen and denied", func(r *lab.FeelResult) string { return fmt.Sprintf("%.1f %%", 100*r.EventsDenied) })
	row("ticks computed again, a tick", func(r *lab.FeelResult) string { return fmt.Sprintf("%.2f", r.Steps) })
	row("bytes a second, down / up", func(r *lab.FeelResult) string { return fmt.Sprintf("%.0f / %.0f", r.BytesDown, r.BytesUp) })
	return w.Flush()
}

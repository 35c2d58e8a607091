//go:build !js

package bench

import (
	"github.com/spf13/cobra"

	"github.com/coeval-dev/coeval/host"
	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/host/tools/internal/verb"
	"github.com/coeval-dev/coeval/lab"
	"github.com/coeval-dev/coeval/lab/feellab"
	"github.com/coeval-dev/coeval/netsim"
)

const feelLong = `Measure what players see: how far what is shown is from what is true, how often
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

With --architecture it is also how snapshots are made, when the server executes commands and how
many a packet repeats, as each of the classic games did: see docs/clientserver.md.

Corrections are those of a player's own body by more than 5 % of its width: while
touching another player, while being hit, killed or coming back, and the rest. A
hit is seen when the beam would hit if what is shown were true; it is denied when
the server does not give it. Cover is what stands between the shooter and where
the victim sees itself at the tick of the hit.

Time is virtual: the same seed gives the same figures on any machine.`

func feelVerb(p *host.Program) *cobra.Command {
	var o feellab.Options
	var preset, kinds string
	var j judged
	return verb.Verb{
		Name: "feel", Short: "What players see over a bad network, in three styles", Long: feelLong,
		Example: "  {program} bench feel\n  {program} bench feel --preset lte --players 16 " +
			"--style doom3 --json\n" +
			"  {program} bench feel --architecture all --preset wifi\n" +
			"  {program} bench feel --preset \"wifi loss=5%\" --time 300s",
		Options: append(append(o.List(), j.list()...),
			lab.Text(&kinds, "architecture", "",
				"try architectures in place of styles, such as quake,quakeworld; or all"),
			lab.Text(&preset, "preset", "wifi",
				"the network of all players: a preset, or settings as {program} netsim takes them")),
		Title: &o.Title, Fits: verb.Embodied,
		Plots: "hits that were seen and denied against deaths behind cover",
		Prepare: func(*cobra.Command) (err error) {
			if o.Conditions, err = netsim.ParseConditions(preset); err != nil {
				return cli.Usagef("--preset: %v", err)
			}
			o.Conditions.Name = preset
			if err := j.parse(&o.Styles, &o.Favour); err != nil {
				return err
			}
			if o.Architectures, err = feellab.ParseArchitectures(kinds); err != nil {
				return cli.Usagef("--architecture: %v", err)
			}
			if len(o.Styles) > 0 && kinds != "" {
				return cli.Usagef("--style goes without --architecture, which has its own")
			}
			if _, err := lab.NewSubject(o.Title, o.Level, o.Players); err != nil {
				return cli.Usagef("--map: %v", err)
			}
			return nil
		},
		Run: verb.Run(&o, &o.Progress, feellab.Run),
	}.For(p)
}

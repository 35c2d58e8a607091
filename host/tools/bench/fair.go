//go:build !js

package bench

import (
	"github.com/spf13/cobra"

	"github.com/coeval-dev/coeval/host"
	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/host/tools/internal/verb"
	"github.com/coeval-dev/coeval/lab"
	"github.com/coeval-dev/coeval/lab/feellab"
)

const fairLong = `Set two groups of equal bots against each other in one match, who differ in
nothing but how far away they are, and count who kills more.

The interval is the one in which the ratio of kills lies at 95 %, if kills come
at random: 3,000 of each group make it about a tenth wide.

Time is virtual: the same seed gives the same figures on any machine.`

func fairVerb(p *host.Program) *cobra.Command {
	var o feellab.FairOptions
	var j judged
	return verb.Verb{
		Name: "fair", Short: "Whether those who are far away kill as many", Long: fairLong,
		Example: "  {program} bench fair --time 30m\n  {program} bench fair --far 300ms " +
			"--style halflife --favour victim",
		Options: append(o.List(), j.list()...),
		Title:   &o.Title, Fits: verb.Embodied,
		Prepare: func(*cobra.Command) error {
			if err := j.parse(&o.Styles, &o.Favour); err != nil {
				return err
			}
			if _, err := lab.NewSubject(o.Title, o.Level, o.Players); err != nil {
				return cli.Usagef("--map: %v", err)
			}
			return nil
		},
		Run: verb.Run(&o, &o.Progress, feellab.Fair),
	}.For(p)
}

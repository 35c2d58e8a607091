//go:build !js

package lab

import (
	"context"
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/coeval-dev/coeval/host"
	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/host/tools/internal/verb"
	"github.com/coeval-dev/coeval/lab"
	"github.com/coeval-dev/coeval/lab/tunnel"
	"github.com/coeval-dev/coeval/lab/tunnel/film"
)

const incidentLong = `Play a run, find the moments in which something went worst, and show each as
a film: what who decides held and what each player saw, side by side, at the same
instant.

  off          somebody was shown farthest from where they truly were
  correction   a player's own body jumped
  denied       a hit was seen, and was none
  unseen       a hit was given, and the shooter had not seen it
  covered      somebody died behind cover
  taken        an event was shown that did not happen
  still        a picture stood still

The worst of each kind is shown, or the worst --count; moments that belong together
are one. Without --out there is a strip of pictures in characters; --out writes a
page that needs nothing else, with pictures by the game itself, in which one goes
through a moment frame by frame and looks through the eyes of any player.

The run is played twice with the same seed: once to find the moments, and once more
to film what is around them. {program} lab report names the commands that show the
worst moments of its runs.`

// incidentRun is {program} lab incident.
type incidentRun struct {
	film.Options
	out string
}

func incidentVerb(p *host.Program) *cobra.Command {
	r := new(incidentRun)
	cmd := verb.Verb{
		Name: "incident", Short: "The worst moments of a run, as films side by side",
		Long: incidentLong,
		Example: "  {program} lab incident --architecture quake3 --network lte\n" +
			"  {program} lab incident --architecture rollback --network world --out worst.html\n" +
			"  {program} lab incident --kind denied,covered --count 3 --seed 7 --json",
		Options: append(r.List(), lab.Text(&r.out, "out", "", "write a page to `FILE`.html")),
		Title:   &r.Title, Fits: commanded, Prepare: r.prepare, Run: r.run,
	}.For(p)
	cmd.Flags().SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		if name == "arch" { // as lab run has it
			name = "architecture"
		}
		return pflag.NormalizedName(name)
	})
	return cmd
}

func (r *incidentRun) prepare(cmd *cobra.Command) error {
	if r.out != "" && filepath.Ext(r.out) != ".html" {
		return cli.Usagef("--out %s: the page's name ends in .html", r.out)
	}
	if cmd.Flags().Changed("recorded") && !r.Open {
		return cli.Usagef("--recorded is for players who do what was recorded: give --open, too")
	}
	asJSON, err := cmd.Flags().GetBool("json")
	r.Letters = err == nil && !asJSON && r.out == ""
	return cli.Usage(r.Check())
}

func (r *incidentRun) run(ctx context.Context, p lab.Progress) (lab.Result, error) {
	r.Progress = p
	result, err := film.Shoot(ctx, r.Options)
	if err != nil {
		return nil, err
	}
	if r.out != "" {
		page, err := result.HTML()
		if err != nil {
			return nil, err
		}
		if err := tunnel.WriteFile(r.out, page); err != nil {
			return nil, err
		}
		result.Page = r.out
	}
	return result, nil
}

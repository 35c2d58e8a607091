//go:build !js

package lab

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/coeval-dev/coeval/host"
	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/host/tools/internal/verb"
	"github.com/coeval-dev/coeval/lab"
	"github.com/coeval-dev/coeval/lab/tunnel"
)

const sweepLong = `Vary one parameter, and watch one axis of the wind tunnel: how does the delay until
others see what one does grow with latency, the bytes with the players, the hits
denied with loss?

A parameter is players, any setting of the network as {program} netsim takes them, or a
knob of the architectures, as {program} lab tune lists them; --network is what it is a
change of. The axes are those of {program} lab run.`

// sweepRun is {program} lab sweep.
type sweepRun struct{ tunnel.SweepOptions }

func sweepVerb(p *host.Program) *cobra.Command {
	r := new(sweepRun)
	return verb.Verb{
		Name: "sweep", Short: "One parameter against one axis, for every architecture",
		Long: sweepLong,
		Example: "  {program} lab sweep --vary latency=0ms,20ms,40ms,80ms --axis others_ms\n" +
			"  {program} lab sweep --vary players=2,4,8 --axis client_up --plot up.svg\n" +
			"  {program} lab sweep --arch coeval,halflife --vary loss=0%,5%,10% --axis hits_denied\n" +
			"  {program} lab sweep --arch quake3 --vary interpolate=20ms,60ms,120ms --axis " +
			"off_others_mean",
		Options: append(r.SweepOptions.List(), r.Options.List()...),
		Title:   &r.Title, Fits: commanded, Plots: "a curve for each architecture",
		Prepare: r.prepare, Run: r.run,
	}.For(p)
}

func (r *sweepRun) prepare(cmd *cobra.Command) error {
	if !cmd.Flags().Changed("network") {
		r.Networks = []string{"cable"}
	}
	if !cmd.Flags().Changed("runs") {
		r.Runs = 2
	}
	return cli.Usage(r.Check())
}

func (r *sweepRun) run(ctx context.Context, p lab.Progress) (lab.Result, error) {
	r.Progress, r.Clock = p, lab.ThreadTime
	return tunnel.Sweep(ctx, r.SweepOptions)
}

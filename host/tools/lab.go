//go:build !js

package tools

import (
	"github.com/coeval-dev/coeval/host"
	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/spf13/cobra"
)

// experiments lists what stands below coeval lab, one line each.
func experiments(p *host.Program) []*cobra.Command {
	return []*cobra.Command{
		labBandwidthCommand(p),
		labCrimpCommand(),
		labMirrorsCommand(p),
		labTrailingCommand(p),
	}
}

const labLong = `Repeat published experiments, and go further: the same conditions, over a
simulated network, with the published figures beside ours.

The same seed gives the same run. Each prints tables, or with --json objects for
other programs.

Without a name it lists the experiments.`

func labCommand(p *host.Program) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "lab",
		Short:   "Repeat published experiments over simulated networks",
		Long:    labLong,
		Example: "  {program} lab            list the experiments\n  {program} lab crimp      reliable multicast, Table 4.1 of the mirrored-server paper",
		Args:    cli.NoUnknownCommand,
		RunE:    cli.List,
	}
	cmd.AddCommand(experiments(p)...)
	return cmd
}

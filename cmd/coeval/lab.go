package main

import "github.com/spf13/cobra"

// experiments lists what stands below coeval lab, one line each.
func experiments() []*cobra.Command {
	return []*cobra.Command{
		labBandwidthCommand(),
		labCrimpCommand(),
		labMirrorsCommand(),
		labTrailingCommand(),
	}
}

const labLong = `Repeat published experiments, and go further: the same conditions, over a
simulated network, with the published figures beside ours.

The same seed gives the same run. Each prints tables, or with --json objects for
other programs.

Without a name it lists the experiments.`

func labCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "lab",
		Short:   "Repeat published experiments over simulated networks",
		Long:    labLong,
		Example: "  coeval lab            list the experiments\n  coeval lab crimp      reliable multicast, Table 4.1 of the mirrored-server paper",
		Args:    noUnknownCommand,
		RunE:    listMeasurements,
	}
	cmd.AddCommand(experiments()...)
	return cmd
}

package main

import (
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"
)

// measurements lists what stands below coeval bench, one line each.
func measurements() []*cobra.Command {
	return []*cobra.Command{
		benchCodecCommand(),
		benchWorldCommand(),
		benchTransportCommand(),
		benchPredictCommand(),
		benchFeelCommand(),
		benchServerCommand(),
	}
}

const benchLong = `Measure what the toolkit costs on this machine: bytes, time and allocations.

Each measurement runs the alternatives side by side in one run, checks what it
measured (what was encoded is decoded again and compared), and prints a table,
or with --json one object a line. Every figure in the documentation comes from
one of these commands.

Without a name it lists what can be measured.`

func benchCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "bench",
		Short:   "Measure bytes, time and allocations",
		Long:    benchLong,
		Example: "  coeval bench            list what can be measured\n  coeval bench codec      what a snapshot costs",
		Args:    noUnknownCommand,
		RunE:    listMeasurements,
	}
	cmd.AddCommand(measurements()...)
	return cmd
}

func listMeasurements(cmd *cobra.Command, _ []string) error {
	w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 3, ' ', 0)
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() {
			fmt.Fprintf(w, "%s\t%s\n", sub.CommandPath(), sub.Short)
		}
	}
	return w.Flush()
}

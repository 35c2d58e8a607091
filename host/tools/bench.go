//go:build !js

package tools

import (
	"github.com/coeval-dev/coeval/host"
	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/spf13/cobra"
)

// measurements lists what stands below coeval bench, one line each.
func measurements(p *host.Program) []*cobra.Command {
	return []*cobra.Command{
		benchCodecCommand(),
		benchWorldCommand(),
		benchTransportCommand(),
		benchPredictCommand(),
		benchFeelCommand(p),
		benchServerCommand(p),
	}
}

const benchLong = `Measure what the toolkit costs on this machine: bytes, time and allocations.

Each measurement runs the alternatives side by side in one run, checks what it
measured (what was encoded is decoded again and compared), and prints a table,
or with --json one object a line. Every figure in the documentation comes from
one of these commands.

Without a name it lists what can be measured.`

func benchCommand(p *host.Program) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "bench",
		Short:   "Measure bytes, time and allocations",
		Long:    benchLong,
		Example: "  {program} bench            list what can be measured\n  {program} bench codec      what a snapshot costs",
		Args:    cli.NoUnknownCommand,
		RunE:    cli.List,
	}
	cmd.AddCommand(measurements(p)...)
	return cmd
}

//go:build !js

// Package bench are the commands that measure what the toolkit costs on this machine.
package bench

import (
	"github.com/spf13/cobra"

	"github.com/coeval-dev/coeval/host"
	"github.com/coeval-dev/coeval/host/tools/internal/verb"
	"github.com/coeval-dev/coeval/lab/seamlesslab"
	"github.com/coeval-dev/coeval/service/directory"
	"github.com/coeval-dev/coeval/service/store/database"
)

const long = `Measure what the toolkit costs on this machine: bytes, time and allocations.

Each measurement runs the alternatives side by side in one run, checks what it
measured (what was encoded is decoded again and compared), and prints a table,
or with --json one object a line. Every figure in the documentation comes from
one of these commands.

Without a name it lists what can be measured.`

// Command is {program} bench.
func Command(p *host.Program) *cobra.Command {
	cmd := verb.List("bench", "Measure bytes, time and allocations", long,
		"  {program} bench            list what can be measured\n  {program} bench codec      "+
			"what a snapshot costs",
		codecVerb(p), worldVerb(p), transportVerb(p), predictVerb(p), feelVerb(p), fairVerb(p),
		serverVerb(p), reconnectVerb(p), relayVerb(p))
	if database.In() != nil {
		cmd.AddCommand(storeVerb(p))
	}
	if directory.In() != nil {
		cmd.AddCommand(directoryVerb(p))
	}
	if seamlesslab.In() != nil {
		cmd.AddCommand(seamlessVerb(p))
	}
	return cmd
}

//go:build !js

// Package lab are the commands that repeat published experiments over simulated networks.
package lab

import (
	"github.com/spf13/cobra"

	"github.com/coeval-dev/coeval/host"
	"github.com/coeval-dev/coeval/host/tools/internal/verb"
)

const long = `Repeat published experiments, and go further: the same conditions, over a
simulated network, with the published figures beside ours.

The same seed gives the same run. Each prints tables, or with --json objects for
other programs.

Without a name it lists the experiments.`

// Command is {program} lab.
func Command(p *host.Program) *cobra.Command {
	return verb.List("lab", "Repeat published experiments over simulated networks", long,
		"  {program} lab            list the experiments\n  {program} lab crimp      reliable "+
			"multicast, Table 4.1 of the mirrored-server paper",
		bandwidthVerb(p), blindVerb(p), crimpVerb(p), incidentVerb(p), listenVerb(p),
		mirrorsVerb(p), paperVerb(p), peersVerb(p), reportVerb(p), runVerb(p), sweepVerb(p),
		trailingVerb(p), tuneVerb(p))
}

//go:build !js

package bench

import (
	"github.com/spf13/cobra"

	"github.com/coeval-dev/coeval/host"
	"github.com/coeval-dev/coeval/host/tools/internal/verb"
	"github.com/coeval-dev/coeval/lab/storelab"
)

const storeLong = `Measure what it costs a running game to keep what outlives it in a database.

A world of 10,000 bodies that all move, each with a pack whose contents change, is
played at 60 ticks a second. All that is kept of them is written once a second, and
bodies trade: requests that are durable before they are answered, two bodies in one
transaction. That is what package kept does for any title. Another world is given the
same inputs and computes the same, without a database. They take turns, a few seconds
each, and the database rests while the other one is played.

It prints how many rows were written in a second, each of another key or second;
what a tick takes without and with all that, by the time of its thread and by the
clock, as medians over rounds with the lowest and highest; and how many ticks trades
waited for their answers. At the end a third world
loads everything from the database, and is compared; that is what "verified" says.

Without --url it is SQLite in a temporary folder. The databases that --url names must
be empty, and are left with what was written.`

func storeVerb(p *host.Program) *cobra.Command {
	var o storelab.Options
	return verb.Verb{
		Name: "store", Short: "Rows a second into a database, ticks beside it, and answers to trades",
		Long: storeLong,
		Example: "  {program} bench store\n  {program} bench store --url postgres://game@localhost/bench " +
			"--json",
		Options: o.List(),
		Run:     verb.Run(&o, &o.Progress, storelab.Run),
	}.For(p)
}

//go:build !js

package bench

import (
	"github.com/spf13/cobra"

	"github.com/coeval-dev/coeval/host"
	"github.com/coeval-dev/coeval/host/tools/internal/verb"
	"github.com/coeval-dev/coeval/lab/worldlab"
)

const worldLong = `Measure what a world costs: a tick, quantising, copying, hashing, saving and
loading, for each entity.

The entities have 20 fields, as many and as wide as those of a player of a
first-person shooter. In one world all of them move at every tick, in another
none does. Copying is set against copying the same bytes of plain memory. What
was copied, and what was saved and loaded, is compared with the original, also
some ticks later; that is what "verified" says.

Times are those of the thread, and the quickest of several rounds, as a machine
is never alone.`

func worldVerb(p *host.Program) *cobra.Command {
	var o worldlab.Options
	return verb.Verb{
		Name: "world", Short: "Time of a tick, a copy, a hash and a save, for each entity",
		Long:    worldLong,
		Example: "  {program} bench world\n  {program} bench world --entities 10000 --json",
		Options: o.List(),
		Run:     verb.Run(&o, &o.Progress, worldlab.Run),
	}.For(p)
}

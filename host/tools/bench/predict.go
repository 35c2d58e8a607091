//go:build !js

package bench

import (
	"github.com/spf13/cobra"

	"github.com/coeval-dev/coeval/host"
	"github.com/coeval-dev/coeval/host/tools/internal/verb"
	"github.com/coeval-dev/coeval/lab/predictlab"
)

const predictLong = `Measure what a snapshot costs a client that predicts everything in view.

The entities have 20 fields, as many and as wide as those of a player of a
first-person shooter, and all of them move at every tick. Snapshots tell of all
of them and are some ticks old. Where everything is as it was predicted, nothing
is computed again. Where one entity in a hundred is not, all of them are; or, if
their class says that they do not look at each other, only those. At the end the
client's present is compared with what the server comes to; that is what
"verified" says.

Times are those of the thread, and the quickest of several rounds, as a machine
is never alone.`

func predictVerb(p *host.Program) *cobra.Command {
	var o predictlab.Options
	return verb.Verb{
		Name: "predict", Short: "Time to predict a world again after a snapshot", Long: predictLong,
		Example: "  {program} bench predict\n  {program} bench predict --entities 1000 --ticks 8 " +
			"--json",
		Options: o.List(),
		Run:     verb.Run(&o, &o.Progress, predictlab.Run),
	}.For(p)
}

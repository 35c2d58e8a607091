//go:build !js

package tools

import (
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/lab"
)

const benchPredictLong = `Measure what a snapshot costs a client that predicts everything in view.

The entities have 20 fields, as many and as wide as those of a player of a
first-person shooter, and all of them move at every tick. Snapshots tell of all
of them and are some ticks old. Where everything is as it was predicted, nothing
is computed again. Where one entity in a hundred is not, all of them are; or, if
their class says that they do not look at each other, only those. At the end the
client's present is compared with what the server comes to; that is what
"verified" says.

Times are those of the thread, and the quickest of several rounds, as a machine
is never alone.`

func benchPredictCommand() *cobra.Command {
	var o lab.PredictOptions
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "predict",
		Short:   "Time to predict a world again after a snapshot",
		Long:    benchPredictLong,
		Example: "  {program} bench predict\n  {program} bench predict --entities 1000 --ticks 8 --json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.Entities < 1 || o.Entities > 60000 || o.Ticks < 1 || o.Ticks > 50 || o.Rounds < 1 {
				return cli.Usagef("--entities is %d, --ticks %d and --rounds %d: choose 1 to 60000, 1 to 50, and at least 1", o.Entities, o.Ticks, o.Rounds)
			}
			bar := cli.NewProgress(cmd.ErrOrStderr())
			defer bar.Clear()
			o.Progress = func(done float64) { bar.Show(done, "measuring") }
			r, err := lab.Predict(cmd.Context(), o)
			if err != nil {
				return err
			}
			bar.Clear()
			if asJSON {
				err = json.NewEncoder(cmd.OutOrStdout()).Encode(r)
			} else {
				err = printPredict(cmd.OutOrStdout(), r)
			}
			if err != nil {
				return err
			}
			return r.Check()
		},
	}
	f := cmd.Flags()
	f.IntVar(&o.Entities, "entities", 1000, "how many are in view")
	f.IntVar(&o.Ticks, "ticks", 8, "how many ticks are predicted again")
	f.IntVar(&o.Rounds, "rounds", 40, "how often everything is timed")
	f.BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

func printPredict(out io.Writer, r *lab.PredictResult) error {
	fmt.Fprintf(out, "%d entities of %d fields, snapshots %d ticks old, %s; verified: %v\n\n", r.Entities, r.Fields, r.Ticks, r.Platform, r.Verified)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	row := func(what string, ms float64, more string, args ...any) {
		fmt.Fprintf(w, "%s\t%.3f ms\t\t  %s\n", what, ms, fmt.Sprintf(more, args...))
	}
	row("a tick", r.Tick, "")
	row("taking a snapshot", r.Take, "")
	row("predicting again, all as predicted", r.Same, "nothing is computed")
	row("one in a hundred not", r.All, "%.0f ns an entity and tick", r.PerEntity)
	row("the same, entities alone", r.Alone, "only those that were wrong")
	row("the world to draw", r.Show, "%.3g allocations with all of the above", r.Allocs)
	return w.Flush()
}

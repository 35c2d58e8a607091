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

const benchWorldLong = `Measure what a world costs: a tick, quantising, copying, hashing, saving and
loading, for each entity.

The entities have 20 fields, as many and as wide as those of a player of a
first-person shooter. In one world all of them move at every tick, in another
none does. Copying is set against copying the same bytes of plain memory. What
was copied, and what was saved and loaded, is compared with the original, also
some ticks later; that is what "verified" says.

Times are those of the thread, and the quickest of several rounds, as a machine
is never alone.`

func benchWorldCommand() *cobra.Command {
	var o lab.WorldOptions
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "world",
		Short:   "Time of a tick, a copy, a hash and a save, for each entity",
		Long:    benchWorldLong,
		Example: "  {program} bench world\n  {program} bench world --entities 10000 --json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.Entities < 1 || o.Rounds < 1 {
				return cli.Usagef("--entities is %d and --rounds %d: both must be at least 1", o.Entities, o.Rounds)
			}
			bar := cli.NewProgress(cmd.ErrOrStderr())
			defer bar.Clear()
			o.Progress = func(done float64) { bar.Show(done, "measuring") }
			r, err := lab.World(cmd.Context(), o)
			if err != nil {
				return err
			}
			bar.Clear()
			if asJSON {
				err = json.NewEncoder(cmd.OutOrStdout()).Encode(r)
			} else {
				err = printWorld(cmd.OutOrStdout(), r)
			}
			if err != nil {
				return err
			}
			return r.Check()
		},
	}
	f := cmd.Flags()
	f.IntVar(&o.Entities, "entities", 10000, "how many there are")
	f.IntVar(&o.Rounds, "rounds", 30, "how often everything is timed")
	f.BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

func printWorld(out io.Writer, r *lab.WorldResult) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(out, "%d entities of %d fields, %d bytes each; verified: %v\n\n", r.Entities, r.Fields, r.Bytes, r.Verified)
	row := func(what string, ns float64, more string, args ...any) {
		fmt.Fprintf(w, "%s\t%.1f ns\t\t  %s\n", what, ns, fmt.Sprintf(more, args...))
	}
	row("tick, all move", r.Step, "%.3g allocations a tick", r.AllocsPerTick)
	row("of that quantising", r.QuantiseChanged, "")
	row("tick, none moves", r.QuantiseUnchanged, "")
	row("copy", r.Copy, "%.2f of the speed of plain memory (%.1f ns)", r.CopySpeed, r.MemoryCopy)
	row("hash", r.Hash, "%.2f ms for the world", r.HashMillis)
	row("save", r.Save, "%.1f bytes", r.SavedBytes)
	row("load", r.Load, "")
	return w.Flush()
}

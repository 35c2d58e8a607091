//go:build !js

package codec

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/coeval-dev/coeval/codec"
	"github.com/coeval-dev/coeval/lab"
	"github.com/coeval-dev/coeval/lab/codeclab"
)

const trainLong = `Make tables from recordings of your game.

The schema names entities, fields and classes as lab/workloads/arena.json does.
Recordings hold 32-bit little-endian integers by frame, entity and field, plain
or compressed by zstd. A few minutes of play with everything in it that the game
has are enough; measure on a recording that you did not train on, by
{program} bench codec --schema --frames --tables.

The file appears only when it is complete; one of the same name stays as it is
until then.`

func trainCommand() *cobra.Command {
	var schema, out string
	cmd := &cobra.Command{
		Use:   "train --schema FILE.json --out FILE.tables RECORDING...",
		Short: "Make tables from recordings", Long: trainLong,
		Example: "  {program} codec train --schema game.json --out game.tables monday.zst " +
			"tuesday.zst",
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, names []string) error {
			layout, err := codeclab.OpenSchema(schema)
			if err != nil {
				return err
			}
			frames := 0
			return makeTables(cmd, out, func(p lab.Progress) (*codec.Model, error) {
				var recordings []*codec.Recording
				for i, name := range names {
					p(0, fmt.Sprintf("reading %s", name))
					r, err := layout.OpenFrames(name)
					if err != nil {
						return nil, fmt.Errorf("%w (recording %d of %d)", err, i+1, len(names))
					}
					recordings = append(recordings, r)
					frames += len(r.Frames)
				}
				return codec.Train(layout.Schema, recordings,
					codec.TrainOptions{Progress: func(done float64) { p(done, "training") }})
			}, func(*codec.Model) string { return fmt.Sprintf("from %d frames", frames) })
		},
	}
	cmd.Flags().StringVar(&schema, "schema", "", "schema `FILE` of the recordings")
	cmd.Flags().StringVar(&out, "out", "", "`FILE` to write the tables to")
	require(cmd, "schema", "out")
	return cmd
}

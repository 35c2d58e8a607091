package traces

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/host/internal/recording"
)

const joinLong = `Join the pieces of a recording that keeps only its last part.

With --record-last a match is recorded in pieces, of which the oldest are removed. A
program that ends joins them by itself. Join those of one that was killed, or copies
of those of one that runs, in their order. Each must begin with the world that the
one before it ends with; the last may be cut off.`

func joinCommand() *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:     "join PIECE...",
		Short:   "Join the pieces of a recording that keeps only its last part",
		Long:    joinLong,
		Example: "  {program} trace join match-piece-7.trace match-piece-8.trace --out match.trace",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if out == "" {
				return cli.Usagef("name the file to write by --out")
			}
			if err := recording.JoinFiles(out, args); err != nil {
				return fmt.Errorf("nothing was written: %w", err)
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&out, "out", "", "the `FILE` to write, which must not be there")
	return cmd
}

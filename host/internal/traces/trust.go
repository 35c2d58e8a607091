package traces

import (
	"errors"
	"fmt"
	"math"

	"github.com/spf13/cobra"

	"github.com/coeval-dev/coeval/trace"
	"github.com/coeval-dev/coeval/world"
)

// trust says that a file may take whatever it asks for. Others take memory in proportion to their
// size.
type trust bool

func (t *trust) flag(cmd *cobra.Command) {
	cmd.Flags().BoolVar((*bool)(t), "trust", false,
		"let the file take more memory than its size accounts for: it comes from someone you know")
}

func (t trust) limits() (l trace.Limits) {
	if t {
		l.States, l.World.Memory = math.MaxInt64, math.MaxInt64
	}
	return l
}

// explain says what to do about a file that takes too much.
func (t trust) explain(err error) error {
	if errors.Is(err, trace.ErrLimit) || errors.Is(err, world.ErrMemory) {
		return fmt.Errorf("%w; if you know where the file comes from, add --trust", err)
	}
	return err
}

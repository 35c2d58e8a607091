package trace

import (
	"errors"
	"io"

	"github.com/coeval-dev/coeval/world"
)

// WriteRun records a run that is over: the ticks that follow from a world, which it steps, and from
// what went into each. If the game panics, that tick is the last of the trace, and the panic is
// returned: so a server that kept the last seconds in memory can show how its game came to fail.
func WriteRun(out io.Writer, w *world.World, inputs []*world.Inputs, o Options) (*world.Panic,
	error) {
	t, err := NewWriter(out, w, o)
	if err != nil {
		return nil, err
	}
	var panicked *world.Panic
	for _, in := range inputs {
		if errors.As(w.Host().TryStep(in), &panicked) {
			err = t.Fatal(in)
		} else { // what else the game did wrong, a replay finds again
			err = t.Tick(in, w)
		}
		if err != nil || panicked != nil {
			break
		}
	}
	return panicked, errors.Join(err, t.Close())
}

//go:build !js

package host

import (
	"errors"
	"fmt"
	"os"

	"github.com/coeval-dev/coeval/topology/solo"
	"github.com/coeval-dev/coeval/trace"
	"github.com/coeval-dev/coeval/world"
)

// A recorder writes a run into a trace as it is played, so that what was played until a crash is there. A nil recorder records nothing.
type recorder struct {
	file  *os.File
	trace *trace.Writer
	err   error // the first; the game goes on without it
}

// newRecorder starts to record a run that has not begun. Without a name there is nothing to record to.
func newRecorder(name string, run *solo.Run) (*recorder, error) {
	if name == "" {
		return nil, nil
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	switch {
	case errors.Is(err, os.ErrExist):
		return nil, fmt.Errorf("%s is already there; name another file to record to, or remove it", name)
	case err != nil:
		return nil, fmt.Errorf("cannot record to %s: %w", name, err)
	}
	r := &recorder{file: f}
	run.View(func(w *world.World) { r.trace, err = trace.NewWriter(f, w, trace.Options{Build: thisBuild()}) })
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return r, nil
}

func (r *recorder) tick(w *world.World, in *world.Inputs) {
	if r != nil && r.err == nil {
		r.err = r.trace.Tick(in, w)
	}
}

// close ends the trace, and says whether all of the run is in it.
func (r *recorder) close() error {
	if r == nil {
		return nil
	}
	err := r.err
	if err == nil {
		err = r.trace.Close()
	}
	if err = errors.Join(err, r.file.Close()); err != nil {
		return fmt.Errorf("%s holds only a part of the run: %w", r.file.Name(), err)
	}
	return nil
}

// Package recording writes what is played into traces while it is played, so that what was played
// until a crash is there.
package recording

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"

	"github.com/coeval-dev/coeval/trace"
	"github.com/coeval-dev/coeval/world"
)

// Build says what this program was made from, for the traces that it writes.
func Build() trace.Build {
	info, _ := debug.ReadBuildInfo()
	return trace.BuildOf(info)
}

// A Recording writes one trace for each level, since each begins a new world. A nil Recording
// records nothing.
type Recording struct {
	name   string
	log    *slog.Logger
	file   *os.File
	trace  *trace.Writer
	levels int
	ring   *ring // nil where all is kept
	err    error // the first; the game goes on without it
}

// New makes a recording. Without a name there is nothing to record to.
func New(name string, log *slog.Logger) *Recording {
	if name == "" {
		return nil
	}
	return &Recording{name: name, log: log}
}

// Begin starts the trace of a level: the first has the name that was given, and the second that
// name with a 2. A trace holds the world's secret, so only its owner can read it.
func (r *Recording) Begin(w *world.World, note string) {
	if r == nil || r.err != nil {
		return
	}
	r.end()
	r.levels++
	if r.ring != nil {
		r.beginRing(w, note)
		return
	}
	name := r.name
	if r.levels > 1 {
		ext := filepath.Ext(name)
		name = fmt.Sprintf("%s-%d%s", strings.TrimSuffix(name, ext), r.levels, ext)
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	switch {
	case errors.Is(err, os.ErrExist):
		err = fmt.Errorf("%s is already there; name another file to record to, or remove it", name)
	case err != nil:
		err = fmt.Errorf("cannot record to %s: %w", name, err)
	default:
		r.file = f
		r.trace, err = trace.NewWriter(f, w, trace.Options{Build: Build(), Note: note})
	}
	r.fail(err)
}

// Begun says whether a trace is being written, as far as that works.
func (r *Recording) Begun() bool { return r != nil && r.err == nil && r.trace != nil }

// Tick records what went into a tick, and came of it.
func (r *Recording) Tick(w *world.World, in *world.Inputs) {
	if r.Begun() {
		r.fail(r.trace.Tick(in, w))
		r.turned(w)
	}
}

// State records that the run goes on from another world.
func (r *Recording) State(w *world.World) {
	if r.Begun() {
		r.fail(r.trace.State(w))
	}
}

// Fatal records what went into a tick in which the game panicked, and with which the trace ends.
func (r *Recording) Fatal(in *world.Inputs) {
	if r.Begun() && in != nil {
		r.fail(r.trace.Fatal(in))
		r.end()
	}
}

// fail notes the first error, and says so at once: a match may last for hours.
func (r *Recording) fail(err error) {
	if err != nil && r.err == nil {
		r.err = fmt.Errorf("the match is not recorded: %w", err)
		r.log.Error("not recording any more", "file", r.name, "error", err)
	}
}

func (r *Recording) end() {
	if r.ring != nil {
		r.endRing()
		return
	}
	if r.Begun() {
		r.fail(r.trace.Close())
	}
	if r.file != nil {
		r.fail(r.file.Close())
	}
	r.file, r.trace = nil, nil
}

// Err says why nothing is recorded any more.
func (r *Recording) Err() error {
	if r == nil {
		return nil
	}
	return r.err
}

// Close ends the trace, and says whether all of the match is in it.
func (r *Recording) Close() error {
	if r != nil {
		r.end()
	}
	return r.Err()
}

//go:build !js

package host

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"github.com/coeval-dev/coeval/topology/server"
	"github.com/coeval-dev/coeval/trace"
	"github.com/coeval-dev/coeval/world"
)

// A recording writes what a server plays into traces: one for each level, since each begins a new world. A nil recording records nothing.
type recording struct {
	name   string
	log    *slog.Logger
	file   *os.File
	trace  *trace.Writer
	levels int
	err    error // the first; the game goes on without it
}

func newRecording(name string, log *slog.Logger) *recording { return &recording{name: name, log: log} }

// begin starts the trace of a level: the first has the name that was given, and the second that name with a 2.
func (r *recording) begin(w *world.World, l server.Level) {
	if r == nil || r.err != nil {
		return
	}
	r.end()
	r.levels++
	name := r.name
	if r.levels > 1 {
		ext := filepath.Ext(name)
		name = fmt.Sprintf("%s-%d%s", strings.TrimSuffix(name, ext), r.levels, ext)
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if errors.Is(err, os.ErrExist) {
		err = fmt.Errorf("%s is already there; name another file to record to, or remove it", name)
	}
	if r.fail(err) {
		return
	}
	r.file = f
	r.trace, err = trace.NewWriter(f, w, trace.Options{Build: thisBuild(), Note: "level " + l.Name})
	r.fail(err)
}

func (r *recording) tick(w *world.World, in *world.Inputs) {
	if r != nil && r.err == nil && r.trace != nil {
		r.fail(r.trace.Tick(in, w))
	}
}

// fatal records what went into a tick in which the game panicked, and with which the trace ends.
func (r *recording) fatal(in *world.Inputs) {
	if r != nil && r.err == nil && r.trace != nil && in != nil {
		r.fail(r.trace.Fatal(in))
		r.end()
	}
}

// fail notes the first error, and says so at once: a match may last for hours.
func (r *recording) fail(err error) bool {
	if err != nil && r.err == nil {
		r.err = fmt.Errorf("the match is not recorded: %w", err)
		r.log.Error("not recording any more", "file", r.name, "error", err)
	}
	return err != nil
}

func (r *recording) end() {
	if r.trace != nil && r.err == nil {
		r.fail(r.trace.Close())
	}
	if r.file != nil {
		r.fail(r.file.Close())
	}
	r.file, r.trace = nil, nil
}

// close ends the trace, and says whether all of the match is in it.
func (r *recording) close() error {
	if r == nil {
		return nil
	}
	r.end()
	return r.err
}

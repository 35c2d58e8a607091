//go:build !js

package host

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/coeval-dev/coeval/topology/server"
	"github.com/coeval-dev/coeval/trace"
)

// panicked keeps how the game came to panic: as a trace of its own that begins some seconds before,
// and in the recording if there is one.
func (s *Server) panicked(n server.News) {
	s.track.fatal(n.Inputs)
	if s.panics == "" || n.Flight == nil {
		return
	}
	name, err := writeFlight(s.panics, s.title.Name(), n)
	if err != nil {
		s.log.Error("the trace of the panic could not be written", "error", err)
		return
	}
	s.log.Error("how the game came to panic was written", "trace", name, "exact", n.Flight.Exact)
}

// writeFlight writes the trace of a panic into a folder, beside those that are there.
func writeFlight(dir, game string, n server.News) (name string, err error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return "", err
	}
	base := filepath.Join(dir, fmt.Sprintf("%s-panic-%d", game, n.Tick))
	name = base + ".trace"
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	for i := 2; errors.Is(err, os.ErrExist); i++ {
		name = fmt.Sprintf("%s-%d.trace", base, i)
		f, err = os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	}
	if err != nil {
		return "", err
	}
	note, _, _ := strings.Cut(n.Err.Error(), "\n") // a replay says where
	if !n.Flight.Exact {
		note += "; shots were judged by what players saw, so another run may come to something else"
	}
	o := trace.Options{Build: thisBuild(), Note: note}
	_, err = trace.WriteRun(f, n.Flight.World, n.Flight.Inputs, o)
	return name, errors.Join(err, f.Close())
}

//go:build !js

package serve

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"github.com/coeval-dev/coeval/host/internal/recording"
	"github.com/coeval-dev/coeval/topology/server"
	"github.com/coeval-dev/coeval/topology/wire"
	"github.com/coeval-dev/coeval/trace"
)

// news logs what happens at the server, and keeps how the game came to panic.
func (s *Server) news(n server.News) {
	News(s.log, n)
	if n.Kind == server.GamePanicked {
		s.panicked(n)
	}
}

// News logs what happens at a server.
func News(log *slog.Logger, n server.News) {
	level := slog.LevelInfo
	args := []any{"tick", uint64(n.Tick)}
	if n.Seat != nil {
		args = append(args,
			"client", n.Seat.Client, "player", uint16(n.Seat.Player), "name", n.Seat.Name)
		if a := n.Seat.Addr(); a.IsValid() {
			args = append(args, "address", a.String())
		}
	} else if n.Client != 0 {
		args = append(args, "client", n.Client)
	}
	if n.Reason != 0 {
		args = append(args, "reason", wire.ReasonText(n.Reason))
	}
	if n.Text != "" {
		args = append(args, "text", n.Text)
	}
	switch n.Kind {
	case server.GameError, server.LinkDown, server.GamePanicked:
		level = slog.LevelError
		args = append(args, "error", n.Err)
	case server.TablesUnfit:
		level = slog.LevelWarn
		args = append(args, "error", n.Err)
	case server.Dropped, server.Refused:
		level = slog.LevelWarn
	case server.Chatted:
		level = slog.LevelDebug
	}
	log.Log(context.Background(), level, n.Kind.String(), args...)
}

// panicked keeps how the game came to panic: as a trace of its own that begins some seconds before,
// and in the recording if there is one.
func (s *Server) panicked(n server.News) {
	s.record.Fatal(n.Inputs)
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

// writeFlight writes the trace of a panic into a folder, beside those that are there. Only its
// owner can read it.
func writeFlight(dir, game string, n server.News) (name string, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	base := filepath.Join(dir, fmt.Sprintf("%s-panic-%d", game, n.Tick))
	name = base + ".trace"
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	for i := 2; errors.Is(err, os.ErrExist); i++ {
		name = fmt.Sprintf("%s-%d.trace", base, i)
		f, err = os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	}
	if err != nil {
		return "", err
	}
	note, _, _ := strings.Cut(n.Err.Error(), "\n") // a replay says where
	if !n.Flight.Exact {
		note += "; shots were judged by what players saw, so another run may come to something else"
	}
	o := trace.Options{Build: recording.Build(), Note: note}
	_, err = trace.WriteRun(f, n.Flight.World, n.Flight.Inputs, o)
	return name, errors.Join(err, f.Close())
}

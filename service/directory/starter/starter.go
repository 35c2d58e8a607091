package starter

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/coeval-dev/coeval/service/directory"
)

// Options say how servers are started. Command has no default.
type Options struct {
	// Command is a line for the shell.
	Command string
	// URL is that of the directory, for servers on the same machine.
	URL string
	// Most is how many commands may run at once. Default: 8.
	Most int
	// Log is told what commands print. Default: nobody is.
	Log *slog.Logger
}

// A Starter runs commands. It is to be closed.
type Starter struct {
	opt Options

	mu     sync.Mutex
	n      int
	ctx    context.Context
	cancel context.CancelFunc
	all    sync.WaitGroup
}

var _ directory.Starter = (*Starter)(nil)

// New makes a starter.
func New(o Options) *Starter {
	if o.Most == 0 {
		o.Most = 8
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	s := &Starter{opt: o}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	return s
}

// endTime is how long a command has to end after it was asked to.
const endTime = 5 * time.Second

// Start runs the command.
func (s *Starter) Start(r directory.StartRequest) (<-chan error, func(), error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.n >= s.opt.Most || s.ctx.Err() != nil {
		return nil, nil, directory.ErrBusy
	}
	ctx, stop := context.WithCancel(s.ctx)
	cmd := shell(ctx, s.opt.Command)
	cmd.WaitDelay = endTime
	cmd.Env = append(environ(os.Environ()), "LOBBY_GAME="+r.Game, "LOBBY_VERSION="+r.Version,
		"LOBBY_LEVEL="+r.Level, "LOBBY_ROOM="+r.Room, "LOBBY_TAG="+r.Tag,
		fmt.Sprintf("LOBBY_PLAYERS=%d", r.Players), fmt.Sprintf("LOBBY_PAGE=%t", r.Page),
		"COEVAL_TAG="+r.Tag)
	if r.Page {
		cmd.Env = append(cmd.Env, "COEVAL_PAGE=true")
	}
	if s.opt.URL != "" {
		cmd.Env = append(cmd.Env, "COEVAL_DIRECTORY="+s.opt.URL)
	}
	reader, writer := io.Pipe()
	cmd.Stdout, cmd.Stderr = writer, writer
	if err := cmd.Start(); err != nil {
		stop()
		return nil, nil, err
	}
	log := s.opt.Log.With("game", r.Game, "room", r.Room, "tag", r.Tag, "pid", cmd.Process.Pid)
	log.Info("a server is being started for a match", "players", r.Players)
	s.n++
	over := make(chan error, 1)
	s.all.Go(func() { said(reader, log) })
	s.all.Go(func() {
		err := cmd.Wait()
		stop()
		_ = writer.Close() // it never fails
		s.mu.Lock()
		s.n--
		s.mu.Unlock()
		log.Info("the command for a match has ended", "error", err)
		if err != nil {
			over <- err
		}
		close(over)
	})
	return over, stop, nil
}

// environ is an environment without what is the directory's own.
func environ(all []string) (out []string) {
	for _, x := range all {
		if !strings.HasPrefix(x, "COEVAL_") || strings.HasPrefix(x, "COEVAL_TEST_") {
			out = append(out, x)
		}
	}
	return out
}

// mostLine is how much of a line of output is logged.
const mostLine = 1000

// said logs what a command prints.
func said(from io.Reader, log *slog.Logger) {
	r := bufio.NewReaderSize(from, mostLine)
	for {
		line, more, err := r.ReadLine()
		if err != nil {
			return
		}
		log.Info("a server that was started says", "line", string(line))
		for more && err == nil { // the rest of a line that is too long
			_, more, err = r.ReadLine()
		}
	}
}

// Close ends all commands that run, and waits for them.
func (s *Starter) Close() error {
	if s == nil {
		return nil
	}
	s.cancel()
	s.all.Wait()
	return nil
}

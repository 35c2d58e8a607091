package server

import (
	"context"
	"time"

	"github.com/coeval-dev/coeval/topology/drive"
)

// Run drives the server as time goes by until the context ends; then it tells everyone so, waits up
// to two seconds until all have heard, and returns nil. Time that cannot be caught up with, as
// after the machine slept, is given up. Close the server afterwards.
func (s *Server) Run(ctx context.Context) error {
	s.due = time.Since(s.born)
	s.receiving.running = true
	return drive.Loop{
		Step: s.game.TickLength(), Tick: s.Tick,
		Poll: s.Receive, Polls: s.opt.Polls, Hurry: s.hurry,
		Next: func(due time.Duration) { s.due = due },
		Lost: func(d time.Duration) { s.stats.Lost += d },
		Stop: func(cause error) { s.Shutdown(drive.Reason(cause)) },
		Done: s.Done, Grace: closeTime,
		Calls: &s.calls, Clock: drive.Since(s.born),
	}.Run(ctx)
}

// stall is a silence of the driver after which clients cannot know what the time is.
const stall = drive.Stall

// closeTime is how long people have to hear that the server stops: package conn tells them for two
// seconds.
const closeTime = 2 * time.Second

// ErrStopped says that Run has ended, so that nothing more is done.
var ErrStopped = drive.ErrStopped

// Do has f called by the goroutine that drives the server, between ticks, and waits for it: the way
// to use a server's methods while Run runs. If the context ends first f may be called all the same.
func (s *Server) Do(ctx context.Context, f func()) error { return s.calls.Do(ctx, f) }

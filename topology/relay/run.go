package relay

import (
	"context"
	"time"

	"github.com/coeval-dev/coeval/topology/drive"
)

// Run drives the relay as time goes by until the context ends; then it tells everyone so, waits up
// to two seconds until all have heard, and returns nil. Close the relay afterwards.
func (s *Server) Run(ctx context.Context) error {
	return drive.Loop{
		Step: s.opt.Step, Tick: s.timed,
		Stop: func(cause error) { s.Shutdown(drive.Reason(cause)) },
		Done: s.Done, Grace: 2 * time.Second,
		Calls: &s.calls, Clock: drive.Since(s.born),
	}.Run(ctx)
}

// Do has f called by the goroutine that drives the relay, and waits for it: the way to use a
// relay's methods while Run runs. If the context ends first f may be called all the same.
func (s *Server) Do(ctx context.Context, f func()) error { return s.calls.Do(ctx, f) }

// timed is a tick, of which is told how long it took.
func (s *Server) timed(now time.Duration) error {
	if s.opt.Ticked == nil {
		return s.Tick(now)
	}
	began := time.Now()
	err := s.Tick(now)
	s.opt.Ticked(time.Since(began))
	return err
}

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
		Step: s.opt.Step, Tick: s.Tick,
		Stop: func(cause error) { s.Shutdown(drive.Reason(cause)) },
		Done: s.Done, Grace: 2 * time.Second,
		Calls: &s.calls, Clock: drive.Since(s.born),
	}.Run(ctx)
}

// Do has f called by the goroutine that drives the relay, and waits for it: the way to use a
// relay's methods while Run runs. If the context ends first f may be called all the same.
func (s *Server) Do(ctx context.Context, f func()) error { return s.calls.Do(ctx, f) }

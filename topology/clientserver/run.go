package clientserver

import (
	"context"
	"errors"
	"sync"
	"time"
)

// Run drives the server as time goes by until the context ends; then it tells everyone so, waits up to two seconds until all have heard, and returns nil. Time
// that cannot be caught up with, as after the machine slept, is given up. Close the server afterwards.
func (s *Server) Run(ctx context.Context) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	defer s.calls.stop()
	step := s.game.TickLength()
	poll := step / time.Duration(s.opt.Polls)
	next := time.Since(s.born) // when the next tick is due
	s.due = next
	var deadline time.Duration
	done := ctx.Done()
	for {
		select {
		case <-done:
			s.calls.run()
			s.Shutdown(shutdownNote(ctx))
			deadline, done = time.Since(s.born)+closeTime, nil
		case <-s.calls.wake:
		case <-timer.C:
		}
		s.calls.run()
		now := time.Since(s.born)
		if now < next {
			if err := s.Receive(now); err != nil {
				return err
			}
		} else {
			if err := s.Tick(now); err != nil {
				return err
			}
			next += step
			if late := time.Since(s.born) - next; late > stall {
				next += late
				s.stats.Lost += late
			}
			s.due = next
		}
		if deadline > 0 && (s.Done() || now > deadline) {
			return nil
		}
		timer.Reset(untilPoll(next-time.Since(s.born), poll))
	}
}

// untilPoll is how long to sleep if the next tick is so far away: polls are spread evenly before it.
func untilPoll(rest, poll time.Duration) time.Duration {
	if rest <= 0 {
		return 0
	}
	d := rest % poll
	if d < poll/4 { // it would be over before it began
		d += poll
	}
	return min(d, rest)
}

// closeTime is how long people have to hear that the server stops: package conn tells them for two seconds.
const closeTime = 2 * time.Second

// shutdownNote is what players are told: the cause of the context's end, if there was one.
func shutdownNote(ctx context.Context) string {
	if err := context.Cause(ctx); !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) {
		return err.Error()
	}
	return ""
}

// ErrStopped says that Run has ended, so that nothing more is done.
var ErrStopped = errors.New("clientserver: nothing drives it any more")

// Do has f called by the goroutine that drives the server, between ticks, and waits for it: the way to use a server's methods while Run runs. If the context
// ends first f may be called all the same.
func (s *Server) Do(ctx context.Context, f func()) error { return s.calls.do(ctx, f) }

// calls are functions that others want called.
type calls struct {
	wake  chan struct{}
	ended chan struct{}
	once  sync.Once

	mu   sync.Mutex
	list []call
}

type call struct {
	f    func()
	done chan struct{}
}

func (c *calls) init() {
	c.wake, c.ended = make(chan struct{}, 1), make(chan struct{})
}

func (c *calls) do(ctx context.Context, f func()) error {
	done := make(chan struct{})
	c.mu.Lock()
	select {
	case <-c.ended:
		c.mu.Unlock()
		return ErrStopped
	default:
	}
	c.list = append(c.list, call{f, done})
	c.mu.Unlock()
	select {
	case c.wake <- struct{}{}:
	default:
	}
	select {
	case <-done:
		return nil
	case <-c.ended:
		return ErrStopped
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// run calls what waits.
func (c *calls) run() {
	c.mu.Lock()
	list := c.list
	c.list = nil
	c.mu.Unlock()
	for _, x := range list {
		x.f()
		close(x.done)
	}
}

// stop refuses whatever still waits.
func (c *calls) stop() { c.once.Do(func() { close(c.ended) }) }

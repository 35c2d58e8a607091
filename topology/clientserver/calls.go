package clientserver

import (
	"context"
	"sync"
)

// calls are functions that others want called. Only the client still uses it; servers use
// drive.Calls.
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

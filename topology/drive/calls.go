package drive

import (
	"context"
	"errors"
	"sync"
)

// ErrStopped says that nothing is driven any more, so what was asked is not done.
var ErrStopped = errors.New("drive: nothing drives it any more")

// Calls are functions that other goroutines want called by the one that drives. The zero value is
// empty; its methods may be called from any goroutine, except for Run.
type Calls struct {
	mu     sync.Mutex
	bell   chan struct{} // something waits
	ended  chan struct{} // closed by Close
	closed bool
	list   []call
}

type call struct {
	f    func()
	done chan struct{}
}

// open makes the channels. The lock is held.
func (c *Calls) open() {
	if c.bell == nil {
		c.bell, c.ended = make(chan struct{}, 1), make(chan struct{})
	}
}

// Do has f called between ticks and waits for it. If the context ends first, f may be called all
// the same. The error is the context's, or ErrStopped.
func (c *Calls) Do(ctx context.Context, f func()) error {
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return ErrStopped
	}
	c.open()
	done, ended := make(chan struct{}), c.ended
	c.list = append(c.list, call{f, done})
	c.mu.Unlock()
	c.Wake()
	select {
	case <-done:
		return nil
	case <-ended:
		return ErrStopped
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Wake has the loop look around: it asks Pace or Due again, and polls.
func (c *Calls) Wake() {
	select {
	case c.wake() <- struct{}{}:
	default: // it has not been heard yet, and will be
	}
}

func (c *Calls) wake() chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.open()
	return c.bell
}

// Run calls what waits. A Loop does so; it is for those who drive by hand.
func (c *Calls) Run() {
	c.mu.Lock()
	list := c.list
	c.list = nil
	c.mu.Unlock()
	for _, x := range list {
		x.f()
		close(x.done)
	}
}

// Close refuses what waits and all that is asked from now on.
func (c *Calls) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.open()
	if !c.closed {
		c.closed = true
		close(c.ended)
	}
}

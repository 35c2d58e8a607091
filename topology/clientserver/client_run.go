package clientserver

import (
	"context"
	"errors"
	"time"
)

// Run drives the client as time goes by, until it ends or the context does; then it leaves in good order. It returns nil if the client left by itself, and
// otherwise what Err says. Close the client afterwards.
func (c *Client) Run(ctx context.Context) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	defer c.calls.stop()
	step := c.game.TickLength()
	next := time.Since(c.born)
	done := ctx.Done()
	for {
		select {
		case <-done:
			c.Leave()
			done = nil
		case <-c.calls.wake:
		case <-timer.C:
		}
		c.calls.run()
		now := time.Since(c.born)
		if now >= next {
			if err := c.Tick(now); err != nil {
				if errors.Is(err, ErrLeft) {
					return nil
				}
				return err
			}
			if next += step; time.Since(c.born)-next > stall {
				next = time.Since(c.born)
			}
		}
		timer.Reset(max(next-time.Since(c.born), 0))
	}
}

// Do has f called by the goroutine that drives the client, between ticks, and waits for it: the way to use a client's methods while Run runs. If the context
// ends first f may be called all the same.
func (c *Client) Do(ctx context.Context, f func()) error { return c.calls.do(ctx, f) }

//go:build !js

package host

import (
	"context"
	"errors"
	"time"

	"github.com/coeval-dev/coeval/topology/clientserver"
)

// drive lets a client play as time goes by, until it ends or the context does; then it leaves in good order. It returns nil if the client left by itself. After is
// called after each tick, to draw, and what is asked is done between ticks: so all of it belongs to one goroutine.
func drive(ctx context.Context, c *clientserver.Client, step time.Duration, ask <-chan func(), after func(now time.Duration)) error {
	begin := time.Now()
	timer := time.NewTimer(0)
	defer timer.Stop()
	next, done := time.Duration(0), ctx.Done()
	for {
		select {
		case <-done:
			c.Leave()
			done = nil
			continue
		case f := <-ask:
			f()
			continue
		case <-timer.C:
		}
		now := time.Since(begin)
		if err := c.Tick(now); err != nil {
			if errors.Is(err, clientserver.ErrLeft) {
				return nil
			}
			return err
		}
		after(now)
		const stall = time.Second / 4 // a machine that slept, or cannot keep up, does not hurry after what it missed
		if next += step; time.Since(begin)-next > stall {
			next = time.Since(begin)
		}
		timer.Reset(max(next-time.Since(begin), 0))
	}
}

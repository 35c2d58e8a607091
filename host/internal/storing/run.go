//go:build !js

package storing

import (
	"context"
	"time"

	"github.com/coeval-dev/coeval/kept"
	"github.com/coeval-dev/coeval/world"
)

// While a store is away it is asked again, less and less often.
const (
	firstPause = 20 * time.Millisecond
	lastPause  = time.Second
)

// run does jobs until the context ends.
func (c *Clerk) run(ctx context.Context) {
	pause := firstPause
	for {
		j := c.take()
		if j == nil {
			select {
			case <-ctx.Done():
				return
			case <-c.wake:
			}
			continue
		}
		began := time.Now()
		err := j.Run(ctx, c.opt.Store)
		if ctx.Err() != nil {
			return
		}
		c.done(j, err, time.Since(began))
		if err == nil {
			pause = firstPause
			continue
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
		pause = min(2*pause, lastPause)
	}
}

// take gives the next job that may be done.
func (c *Clerk) take() *kept.Job {
	durable := ^world.Tick(0)
	if c.opt.Durable != nil {
		durable = c.opt.Durable()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.desk.Take(durable)
}

// done gives a job back, and says once that the store is away, and that it is back.
func (c *Clerk) done(j *kept.Job, err error, took time.Duration) {
	c.mu.Lock()
	c.desk.Done(j, err)
	before := c.state.away
	c.state.away = err != nil
	if err == nil && j.Kind() == "request" {
		c.state.last, c.state.longest = took, max(c.state.longest, took)
	}
	answers := c.desk.Answers()
	c.mu.Unlock()
	if answers && c.opt.Answered != nil {
		c.opt.Answered()
	}
	switch {
	case err != nil && !before:
		c.opt.Log.Error("the store cannot be used: what players have is not written meanwhile, and "+
			"requests wait", "doing", j.Kind(), "error", err)
	case err == nil && before:
		c.opt.Log.Info("the store answers again")
	}
}

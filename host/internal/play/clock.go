package play

import (
	"fmt"
	"sync"

	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/host/internal/terminal"
	"github.com/coeval-dev/coeval/topology/solo"
	"github.com/coeval-dev/coeval/world"
)

// A clock is how the player has time go, and what they are told of it. Ticks and keys come from two
// goroutines.
type clock struct {
	title *game.Title

	mu     sync.Mutex
	paused bool
	speed  float64
	tick   world.Tick // that was shown last
}

// press does what a key says about time.
func (c *clock) press(run *solo.Run, k terminal.Key) {
	speed := run.Speed()
	switch k {
	case terminal.Pause:
		run.SetPaused(!run.Paused())
	case terminal.Tick:
		run.SetPaused(true)
		run.Advance()
	case terminal.Faster:
		speed *= 2
	case terminal.Slower:
		speed /= 2
	}
	_ = run.SetSpeed(speed) // beyond the ends it stays as it is
	c.mu.Lock()
	defer c.mu.Unlock()
	c.paused, c.speed = run.Paused(), run.Speed()
}

// status is what is said beside the game at a tick.
func (c *clock) status(t world.Tick) terminal.Status {
	c.mu.Lock()
	c.tick = t
	c.mu.Unlock()
	return c.again()
}

// again is what is said at the tick that is shown.
func (c *clock) again() (s terminal.Status) {
	c.mu.Lock()
	defer c.mu.Unlock()
	pace := ""
	if c.speed != 1 {
		pace = fmt.Sprintf("  speed %g", c.speed)
	}
	if c.paused {
		s.Note = "paused"
		s.Line = fmt.Sprintf("%s  tick %d%s  paused: p goes on, . steps, q ends",
			c.title.Name(), c.tick, pace)
		return s
	}
	s.Line = fmt.Sprintf("%s  tick %d%s  arrows play, p pauses, . steps, + - speed, q ends",
		c.title.Name(), c.tick, pace)
	return s
}

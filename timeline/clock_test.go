package timeline

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/coeval-dev/coeval/world"
)

// A tick is due at its time and not a nanosecond before, at any rate and however long a game has
// been running.
func TestClock(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := Clock{time.Duration(rapid.IntRange(1, 1000).Draw(t, "rate"))}
		n := world.Tick(rapid.Uint64Range(1, 1<<31).Draw(t, "tick"))
		at := c.Time(n)
		if c.Due(at) != n || c.Due(at-1) != n-1 {
			t.Fatalf("tick %d is at %v; due then is %d, and before that %d", n, at, c.Due(at),
				c.Due(at-1))
		}
		if c.Upcoming(at) != n || c.Upcoming(at-1) != n || c.Upcoming(at+1) != n+1 {
			t.Fatalf("tick %d is at %v; next then is %d, before that %d, after that %d", n, at,
				c.Upcoming(at), c.Upcoming(at-1), c.Upcoming(at+1))
		}
		if c.Due(-1) != 0 || c.Upcoming(0) != 0 || c.Ticks(-1) != 0 || c.Ticks(1) != 1 {
			t.Fatal("before the beginning there are no ticks")
		}
	})
}

package timeline

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/coeval-dev/coeval/world"
)

// A tick is due at its time and not a nanosecond before, at any rate and however long a game has been running.
func TestClock(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := clock{time.Duration(rapid.IntRange(1, 1000).Draw(t, "rate"))}
		n := world.Tick(rapid.Uint64Range(1, 1<<31).Draw(t, "tick"))
		at := c.time(n)
		if c.due(at) != n || c.due(at-1) != n-1 {
			t.Fatalf("tick %d is at %v; due then is %d, and before that %d", n, at, c.due(at), c.due(at-1))
		}
		if c.next(at) != n || c.next(at-1) != n || c.next(at+1) != n+1 {
			t.Fatalf("tick %d is at %v; next then is %d, before that %d, after that %d", n, at, c.next(at), c.next(at-1), c.next(at+1))
		}
		if c.due(-1) != 0 || c.next(0) != 0 || c.ticks(-1) != 0 || c.ticks(1) != 1 {
			t.Fatal("before the beginning there are no ticks")
		}
	})
}

package host

import (
	"syscall"
	"testing"
	"time"
)

// TestMirrorsThatAllStandStill: all machines stand still at once, as when the one they run on is
// suspended, and the game goes on afterwards.
func TestMirrorsThatAllStandStill(t *testing.T) {
	t.Parallel() // it mostly waits
	if testing.Short() {
		t.Skip("it takes its time")
	}
	c := &crew{t: t, key: groupKeyFor(t)}
	for range 3 {
		c.mirror("", "127.0.0.1")
	}
	c.join("", c.mirrors[1], 1)
	c.wait("three mirrors, one bot", 1)
	for _, s := range []syscall.Signal{syscall.SIGSTOP, syscall.SIGCONT} {
		for _, m := range c.mirrors {
			if err := m.cmd.Process.Signal(s); err != nil {
				t.Fatal(err)
			}
		}
		if s == syscall.SIGSTOP {
			time.Sleep(800 * time.Millisecond) // what is tested is that time passes meanwhile
		}
	}
	c.acquainted()
	c.wait("the game goes on", 1)
	c.finish(1)
}

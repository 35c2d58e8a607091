package crowd

import (
	"time"

	"golang.org/x/sys/unix"
)

// busy is how long the present thread has been running, which others on the machine cannot add to.
// The caller keeps to one thread.
func busy() time.Duration {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t) != nil {
		return 0
	}
	return time.Duration(t.Nano())
}

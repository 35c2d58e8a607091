package inspect

import (
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// measure has something done, and says for how long it had a processor: what other programs take
// meanwhile is not its cost.
func measure(f func()) time.Duration {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	began := threadTime()
	f()
	return threadTime() - began
}

func threadTime() time.Duration {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t) != nil {
		return 0
	}
	return time.Duration(t.Nano())
}

//go:build !linux

package crowd

import "time"

var started = time.Now()

// busy is the time, where a thread's own is not to be had.
func busy() time.Duration { return time.Since(started) }

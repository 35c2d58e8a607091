//go:build !linux

package lab

import "time"

var began = time.Now()

// ThreadTime is the time that has passed, where a thread's own cannot be had. The quickest of
// several rounds comes near to it.
func ThreadTime() time.Duration { return time.Since(began) }

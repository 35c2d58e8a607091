//go:build !linux

package lab

import "time"

var began = time.Now()

// threadTime is the time that has passed, where a thread's own cannot be had. The quickest of several rounds comes near to it.
func threadTime() time.Duration { return time.Since(began) }

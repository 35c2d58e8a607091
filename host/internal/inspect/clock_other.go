//go:build !linux && !js

package inspect

import "time"

// measure has something done, and says for how long.
func measure(f func()) time.Duration {
	began := time.Now()
	f()
	return time.Since(began)
}

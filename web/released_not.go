//go:build !release

package web

// Released is the bundle that a release brings. Without the build tag release there is none, and it
// gives nil.
func Released() (*Bundle, error) { return nil, nil }

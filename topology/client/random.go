//go:build !js

package client

import "crypto/rand"

// random fills b with bytes that nobody can guess.
func random(b []byte) error {
	_, err := rand.Read(b)
	return err
}

package client

import (
	"errors"
	"syscall/js"
)

// random fills b with bytes that nobody can guess. It asks the browser as crypto/rand does, which
// would bring big numbers into every page that plays.
func random(b []byte) error {
	source := js.Global().Get("crypto")
	if !source.Truthy() {
		return errors.New("the browser has no source of random numbers")
	}
	drawn := js.Global().Get("Uint8Array").New(len(b))
	source.Call("getRandomValues", drawn)
	if js.CopyBytesToGo(b, drawn) != len(b) {
		return errors.New("the browser gave too few random numbers")
	}
	return nil
}

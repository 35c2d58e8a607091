//go:build !desktop

// Command loop plays pong in a loop of its own, that of Ebitengine.
package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr, "this example needs a window: go run -tags desktop ./examples/loop "+
		"localhost:4000 (on Linux with a C compiler and the headers of X11, OpenGL and ALSA)")
	os.Exit(2)
}

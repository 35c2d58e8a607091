//go:build !js && !desktop

// Command play is the arena in the browser, or in a window of its own.
package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprint(os.Stderr, `The arena is played in the browser:

  coeval demo

or in a window, which on Linux needs a C compiler and the headers of X11, OpenGL and ALSA:

  go run -tags desktop ./games/arena/client/play --server localhost:8080
`)
	os.Exit(2)
}

// Command tanks is the game as its author runs it.
package main

import (
	"example.com/tanks"
	"github.com/coeval-dev/coeval/host"
)

func main() { host.Main(tanks.Title) }

// Command measured is the game with the commands that measure it.
package main

import (
	"example.com/tanks"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/host"
	"github.com/coeval-dev/coeval/host/tools"
)

func main() {
	host.Program{Titles: []*game.Title{tanks.Title}, Tools: tools.All}.Main()
}

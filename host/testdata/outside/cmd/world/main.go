// Command world is the game with worlds on several servers: one import more.
package main

import (
	"example.com/tanks"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/host"
	_ "github.com/coeval-dev/coeval/service/cluster/use"
)

func main() {
	host.Program{Titles: []*game.Title{tanks.Title}}.Main()
}

// Command play is the client of the titles that tests play in browsers.
package main

import (
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/games/crowd"
	"github.com/coeval-dev/coeval/games/pong"
	"github.com/coeval-dev/coeval/games/stack"
	"github.com/coeval-dev/coeval/host"
	"github.com/coeval-dev/coeval/host/internal/hosttest/toy"
)

func main() {
	host.Program{
		Name: "toy", Titles: []*game.Title{toy.Title, crowd.Title, pong.Title, stack.Title},
	}.Main()
}

// Command coeval measures, runs and inspects real-time multiplayer games built with the coeval
// toolkit. Run it without arguments to see what it can do.
package main

import (
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/games/arena"
	"github.com/coeval-dev/coeval/games/crowd"
	"github.com/coeval-dev/coeval/games/pong"
	"github.com/coeval-dev/coeval/games/stack"
	"github.com/coeval-dev/coeval/host"
	"github.com/coeval-dev/coeval/host/tools"
	"github.com/coeval-dev/coeval/host/tools/newgame"
)

const about = `coeval is a toolkit for real-time multiplayer games: write a game once, as if
one person played it on one machine, and choose afterwards how it is networked.

This program plays and serves the games that come with it, measures what that
costs, and looks inside what is sent.`

var program = host.Program{
	Name: "coeval", About: about, Tools: append(tools.All, newgame.Command),
	Titles: []*game.Title{arena.Title, crowd.Title, pong.Title, stack.Title},
}

func main() { program.Main() }

// Command coevald is coeval with databases: what operators run, and authors of games that keep what
// outlives a match. It compiles SQLite and a client of PostgreSQL, which coeval does not.
package main

import (
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/games/arena"
	"github.com/coeval-dev/coeval/games/crowd"
	"github.com/coeval-dev/coeval/games/pong"
	"github.com/coeval-dev/coeval/games/stack"
	"github.com/coeval-dev/coeval/host"
	"github.com/coeval-dev/coeval/host/tools"
	"github.com/coeval-dev/coeval/host/tools/dis"
	"github.com/coeval-dev/coeval/host/tools/federation"
	_ "github.com/coeval-dev/coeval/service/cluster/use"
	_ "github.com/coeval-dev/coeval/service/directory/use"
	_ "github.com/coeval-dev/coeval/service/store/use"
)

const about = `coevald is coeval with databases, in which games keep what outlives their
matches: SQLite in a file, or PostgreSQL. Beside what coeval does it checks,
migrates, backs up and restores those, and measures them (bench store). It also
runs a directory, where servers are found, and worlds that are divided among
servers (cluster), takes part in exercises of simulators that speak DIS, and
runs federations of simulations.`

var program = host.Program{
	Name: "coevald", About: about, Tools: append(tools.All, dis.Command, federation.Command),
	Titles: []*game.Title{arena.Title, crowd.Title, pong.Title, stack.Title},
}

func main() { program.Main() }

// Command play is the client of the title that tests of screens play in browsers.
package main

import (
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/host"
	"github.com/coeval-dev/coeval/host/internal/hosttest/toy"
)

func main() { host.Program{Name: "toy", Titles: []*game.Title{toy.Title}}.Main() }

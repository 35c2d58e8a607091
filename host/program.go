package host

import (
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/host/internal/titles"
)

// A Program is a program made of titles. Main is enough for most; a Program says more of it, such
// as which tools it brings:
//
//	host.Program{Titles: []*game.Title{tanks.Title}, Tools: tools.All}.Main()
type Program struct {
	// Titles are the games of the program. With one, no command asks which is meant.
	Titles []*game.Title
	// Tools are further commands, such as those of package host/tools.
	Tools []Command
	// Name is what the program calls itself. Default: the name of its file.
	Name string
	// About is what --help begins with. Default: what the titles say of themselves.
	About string
}

// Main is a whole program: it does what the command line says, and ends the process. Built for the
// browser it is the client alone, and plays what its page joins.
func Main(titles ...*game.Title) { Program{Titles: titles}.Main() }

// Title finds a title by the name of its game. Without a name it is the only one.
func (p *Program) Title(name string) (*game.Title, error) {
	return titles.List(p.Titles).Title(name)
}

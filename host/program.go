package host

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/coeval-dev/coeval/game"
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

// check lists all that is wrong with the program before anything is done.
func (p *Program) check() error {
	if len(p.Titles) == 0 {
		return errors.New("the program has no game: pass its title, as in host.Main(tanks.Title)")
	}
	var wrong []error
	seen := map[string]bool{}
	for i, t := range p.Titles {
		if t == nil {
			wrong = append(wrong, fmt.Errorf(
				"title %d of %d is nil: is its package's variable set?", i+1, len(p.Titles)))
			continue
		}
		if err := t.Check(); err != nil {
			wrong = append(wrong, err)
			continue
		}
		if seen[t.Name()] {
			wrong = append(wrong, fmt.Errorf(
				"two titles are called %q: give one of the games another name in world.Define",
				t.Name()))
		}
		seen[t.Name()] = true
	}
	return errors.Join(wrong...)
}

// Title finds a title by the name of its game. Without a name it is the only one.
func (p *Program) Title(name string) (*game.Title, error) {
	if name == "" {
		if len(p.Titles) != 1 {
			return nil, fmt.Errorf("which game? There are %s", strings.Join(p.names(), ", "))
		}
		return p.Titles[0], nil
	}
	i := slices.IndexFunc(p.Titles, func(t *game.Title) bool { return t.Name() == name })
	if i < 0 {
		return nil, fmt.Errorf("there is no game %q; %s", name, p.are())
	}
	return p.Titles[i], nil
}

// are says which games there are.
func (p *Program) are() string {
	if len(p.Titles) == 1 {
		return "the only one is " + p.Titles[0].Name()
	}
	return "there are " + strings.Join(p.names(), ", ")
}

func (p *Program) names() (list []string) {
	for _, t := range p.Titles {
		list = append(list, t.Name())
	}
	return list
}

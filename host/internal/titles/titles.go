// Package titles is the games that a program has.
package titles

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/coeval-dev/coeval/game"
)

// A List is the titles of a program. With one, nobody is asked which is meant.
type List []*game.Title

// Check lists all that is wrong with the titles.
func (l List) Check() error {
	if len(l) == 0 {
		return errors.New("the program has no game: pass its title, as in host.Main(tanks.Title)")
	}
	var wrong []error
	seen := map[string]bool{}
	for i, t := range l {
		if t == nil {
			wrong = append(wrong, fmt.Errorf(
				"title %d of %d is nil: is its package's variable set?", i+1, len(l)))
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
func (l List) Title(name string) (*game.Title, error) {
	if name == "" {
		if len(l) != 1 {
			return nil, l.Which()
		}
		return l[0], nil
	}
	i := slices.IndexFunc(l, func(t *game.Title) bool { return t.Name() == name })
	if i < 0 {
		return nil, fmt.Errorf("there is no game %q; %s", name, l.Are())
	}
	return l[i], nil
}

// Which asks for the name of a game.
func (l List) Which() error { return fmt.Errorf("which game? There are %s", l.Names()) }

// Are says which games there are.
func (l List) Are() string {
	if len(l) == 1 {
		return "the only one is " + l[0].Name()
	}
	return "there are " + l.Names()
}

// Names are those of the games, separated by commas.
func (l List) Names() string { return strings.Join(l.Each(), ", ") }

// Each is the name of each game.
func (l List) Each() (list []string) {
	for _, t := range l {
		list = append(list, t.Name())
	}
	return list
}

// Lines say of each title what it is.
func (l List) Lines() string {
	var lines []string
	for _, t := range l {
		lines = append(lines, fmt.Sprintf("  %-8s %s", t.Name(), t.About))
	}
	return strings.Join(lines, "\n")
}

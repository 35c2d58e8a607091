package tunnel

import (
	"fmt"
	"slices"
	"strings"

	"github.com/coeval-dev/coeval/knob"
	"github.com/coeval-dev/coeval/lab"
)

// An Architecture is a way to play a title between machines.
type Architecture struct {
	// Name is that of command lines and tables, and About says in a line what it is.
	Name, About string
	// Family is what it belongs to.
	Family Family
	// Packages are the import paths of what it is made of, beside what all share: when their source
	// changes, what was measured of it is measured again.
	Packages []string
	// Fits, if it is set, is an error where a title cannot be played so.
	Fits func(s *lab.Subject) error
	// MostPlayers is how many can play so, or 0 for no limit.
	MostPlayers int
	// Start makes the machines of a trial. They run by the timers of its network.
	Start func(t *Trial) (Match, error)
	// Knobs, if it is set, are what can be set of it where it is played on a course, for lab tune:
	// Start finds the chosen values in Trial.Values.
	Knobs func(c Course) []knob.Knob
	// Command is what begins such a game, after the program's name, where there is such a command:
	// " {game}" and " {--game}" stand for the game. It takes --knob and --settings.
	Command string
}

// A Course is what a title is played on: for defaults that depend on it.
type Course struct {
	Subject *lab.Subject
	Fields  []*Field
	Players int
}

// KnobsOn are the knobs of the architecture, and then those of the title where there are servers,
// which show players less than everything.
func (a *Architecture) KnobsOn(c Course) []knob.Knob {
	var list []knob.Knob
	if a.Knobs != nil {
		list = a.Knobs(c)
	}
	if a.Family == ClientServer || a.Family == Mirrored {
		list = append(list, c.Subject.Settable()...)
	}
	return list
}

// A Family is a kind of architecture.
type Family string

// The families.
const (
	Alone        Family = "alone"
	ClientServer Family = "client-server"
	BetweenPeers Family = "peers"
	Mirrored     Family = "mirrors"
)

// A Match is one in progress.
type Match interface {
	// Playing says whether everybody is in the game.
	Playing() bool
	// Close ends it.
	Close()
}

var registered []*Architecture

// Register makes an architecture part of the program. Packages do so when they are imported.
func Register(list ...Architecture) {
	for i := range list {
		a := &list[i]
		if _, err := Lookup(a.Name); err == nil {
			panic("tunnel: two architectures are called " + a.Name)
		}
		registered = append(registered, a)
	}
	slices.SortStableFunc(registered, func(a, b *Architecture) int {
		return a.Family.order() - b.Family.order()
	})
}

func (f Family) order() int {
	return slices.Index([]Family{Alone, ClientServer, BetweenPeers, Mirrored}, f)
}

// Architectures lists those that the program has, families together.
func Architectures() []*Architecture { return registered }

// Lookup finds one by its name.
func Lookup(name string) (*Architecture, error) {
	var names []string
	for _, a := range registered {
		if a.Name == name {
			return a, nil
		}
		names = append(names, a.Name)
	}
	return nil, fmt.Errorf("there is no architecture %q; choose of %s", name,
		strings.Join(names, ", "))
}

// Check is an error where a title cannot be played so by so many.
func (a *Architecture) Check(s *lab.Subject, players int) error {
	if a.MostPlayers > 0 && players > a.MostPlayers {
		return fmt.Errorf("%s is for at most %d players, and here are %d", a.Name, a.MostPlayers,
			players)
	}
	if a.Fits == nil {
		return nil
	}
	return a.Fits(s)
}

package world

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/coeval-dev/coeval/bits"
)

// A Game is what Define makes of a game's declarations: its classes, states, commands and events.
// It never changes, and makes worlds.
type Game struct {
	name         string
	declarations []Declaration

	once     sync.Once
	err      error
	rate     int
	classes  []*ClassInfo
	locals   []*localClass
	events   []*EventInfo
	commands *commandClass
	start    func(*World)
	join     func(*World, Player)
	leave    func(*World, Player)
	hooks    []string // which of the three are given
	rewinds  Tick     // how many ticks are remembered; 0 if nothing can be rewound
	inputs   []*InputInfo
	actions  []*ActionInfo
	left     []func(*World, Player) // after leave
	attached map[any]any
	hash     uint64
}

// A Declaration is one line of Define: made by Class, State, Local, Commands, Event, Action, Rate,
// OnStart, OnJoin and OnLeave.
type Declaration func(*Game) error

// Define puts a game together. Classes step in the order in which they are given. Mistakes in the
// declarations are reported by Err, all at once, and by New.
func Define(name string, declarations ...Declaration) *Game {
	return &Game{name: name, declarations: declarations}
}

// prepare looks at the declarations when they are first needed, so that a program with many games
// starts at once.
func (g *Game) prepare() {
	g.once.Do(func() {
		var wrong []error
		if g.name == "" {
			wrong = append(wrong, errors.New("a game needs a name"))
		}
		for _, declare := range g.declarations {
			if declare == nil {
				continue
			}
			if err := declare(g); err != nil {
				wrong = append(wrong, err)
			}
		}
		if g.rate == 0 {
			g.rate = 60
		}
		g.rewindable()
		h := newHasher(1)
		h.text(g.describe())
		g.hash = h.sum()
		if err := errors.Join(wrong...); err != nil {
			g.err = fmt.Errorf("game %q: %w", g.name, err)
		}
	})
}

// Err lists what is wrong with the declarations, or is nil. A game's own tests should look at it.
func (g *Game) Err() error { g.prepare(); return g.err }

// Name is what the game is called.
func (g *Game) Name() string { return g.name }

// Hash tells whether two programs mean the same by their worlds: it covers the tick rate and every
// class, field, range, command and event, and is the same as long as Describe is. It does not cover
// what Step does.
func (g *Game) Hash() uint64 { g.prepare(); return g.hash }

// Classes lists the classes and states, for tools. A class's number is its index.
func (g *Game) Classes() []*ClassInfo { g.prepare(); return g.classes }

// Events lists the kinds of events, for tools. A kind's number is its index.
func (g *Game) Events() []*EventInfo { g.prepare(); return g.events }

// Commands describes the images of the game's commands; nil if it has none.
func (g *Game) Commands() *bits.Schema {
	g.prepare()
	if g.commands == nil {
		return nil
	}
	return g.commands.layout.Schema()
}

// Rate is how many ticks there are in a second.
func (g *Game) Rate() int { g.prepare(); return g.rate }

// TickLength is how long a tick lasts.
func (g *Game) TickLength() time.Duration { return time.Second / time.Duration(g.Rate()) }

// Rate is for games that want another tick rate than 60 a second, from 1 to 1000.
func Rate(ticks int) Declaration {
	return func(g *Game) error {
		if ticks < 1 || ticks > 1000 {
			return fmt.Errorf("a rate of %d ticks a second; choose 1 to 1000", ticks)
		}
		g.rate = ticks
		return nil
	}
}

// OnStart gives the function that fills a new world, before its first tick: the map, the ball.
func OnStart(f func(w *World)) Declaration {
	return hook("OnStart", func(g *Game) { g.start = f })
}

// OnJoin gives the function that lets a player in, such as by spawning a tank that the player owns.
// It runs at the beginning of a tick, and never on clients, which are told what came of it.
func OnJoin(f func(w *World, p Player)) Declaration {
	return hook("OnJoin", func(g *Game) { g.join = f })
}

// OnLeave gives the function that tidies up after a player who left. It runs at the beginning of a
// tick, and never on clients. Without it, what the player owned is removed.
func OnLeave(f func(w *World, p Player)) Declaration {
	return hook("OnLeave", func(g *Game) { g.leave = f })
}

// AfterLeave gives a function that runs after OnLeave, or what stands for it, once the player is
// gone: for packages that add entities of their own to a game. There may be several.
func AfterLeave(f func(w *World, p Player)) Declaration {
	return func(g *Game) error {
		g.left = append(g.left, f)
		return nil
	}
}

// Attach has a game carry a value of another package, under a key of a type of that package, as
// values of a context are. It is no part of Describe and Hash.
func Attach(key, value any) Declaration {
	return func(g *Game) error {
		if _, taken := g.attached[key]; taken {
			return fmt.Errorf("%T is declared twice; declare it once", key)
		}
		if g.attached == nil {
			g.attached = map[any]any{}
		}
		g.attached[key] = value
		return nil
	}
}

// Attached is what Attach has the game carry under a key, or nil.
func (g *Game) Attached(key any) any { g.prepare(); return g.attached[key] }

// hook declares a function that a game has at most one of.
func hook(name string, set func(*Game)) Declaration {
	return func(g *Game) error {
		if slices.Contains(g.hooks, name) {
			return fmt.Errorf("%s is given twice; call both from one function", name)
		}
		g.hooks = append(g.hooks, name)
		set(g)
		return nil
	}
}

// option gives the options of a declaration, which may be left out.
func option[O any](options []O) (o O) {
	if len(options) > 0 {
		o = options[0]
	}
	return o
}

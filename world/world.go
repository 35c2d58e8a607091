package world

import (
	"errors"
	"fmt"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/det"
)

// A World is the whole state of a game at one tick: its entities and states, its players and their
// last commands, and what its allocator and random numbers continue from. Two worlds with the same
// state that are given the same inputs stay the same, on any machine.
//
// It belongs to one goroutine at a time. Game code changes it only from Step methods and the hooks
// given to Define.
type World struct {
	game     *Game
	settings Settings
	tick     Tick
	tables   []*table // by number of class

	present  []bool // by player
	repeated []bool
	commands commandTable
	sights   []Sight // by player, in a game that rewinds: what was shown with the command
	memory   memory  // where things were

	events []eventTable // by number of kind
	order  []eventRef   // of this tick, in the order in which they were emitted

	// Whether a tick is under way, who is stepping, and what it has caused so far.
	busy           bool
	me             ID
	turns          // what it spawned and emitted, and what is beside the tick's own commands
	rand, secret   det.Rand
	drawn, guarded bool

	locals *Locals // what only this client has, if it has any; not part of the state

	// On a client: to whom it shows things, and where, and what a shot of that player struck.
	shownTo Player
	shown   func(ID) (det.Vec3, bool)
	claims  []Claim
	judging *Judging // what experiments judge shots by, or nil
	doubted int      // claims of this tick that named a place where the target cannot have been

	sync    bits.Sync
	scratch []int32
	cluster cluster // for actions, and where the world is one of several
	err     error   // the first of this tick
	watch   *watch
	lint    *lint
}

// Settings are what a world starts from.
type Settings struct {
	// Seed is what chance hangs on. Clients know it.
	Seed uint64
	// Secret is the key of the numbers that players must not foresee; see World.Secret. Clients do
	// not know it. Draw it from a source for cryptography.
	Secret uint64
	// Allocator is the number by which a server's identifiers differ from those of others in its
	// cluster, from 0 to 4094.
	Allocator int
	// States are values for the game's states to begin with, as pointers: the settings of a match.
	// OnStart may look at them.
	States []bits.Syncer
	// Partial makes a world that holds what a client is shown, and no more: it starts empty, does
	// not run the game's hooks, and spawns only predicted entities. What is in it comes by Put.
	Partial bool
	// Divided makes a world that is one of several into which a larger one is divided: what is not
	// here may be in another. Host.Divide makes such worlds.
	Divided bool
	// Develop looks for mistakes while the game runs: values outside of their range, and a Sync
	// method that reads otherwise than it writes, become errors of Step; motion that is too small
	// for its field's resolution is listed by Warnings. It costs time and memory, and changes no
	// result.
	Develop bool
}

// New makes a world at tick 0, filled by the game's OnStart.
func (g *Game) New(s Settings) (*World, error) {
	w, err := g.empty(s)
	if err != nil {
		return nil, err
	}
	for i, c := range g.classes {
		if c.state {
			w.tables[i].take(0)
		}
	}
	for _, v := range s.States {
		if err := w.setState(v); err != nil {
			return nil, err
		}
	}
	w.enter(None)
	w.busy = true
	if g.start != nil && !s.Partial {
		g.start(w)
	}
	w.finish()
	if err := w.takeError(); err != nil {
		return nil, err
	}
	return w, nil
}

// empty makes a world without states.
func (g *Game) empty(s Settings) (*World, error) {
	if err := g.Err(); err != nil {
		return nil, err
	}
	if s.Partial && s.Divided {
		return nil, errors.New("world: a partial world cannot be divided")
	}
	if s.Partial {
		s.Secret = 0
		s.Allocator = Predicted
	} else if s.Allocator < 0 || s.Allocator >= Predicted {
		return nil, fmt.Errorf("world: allocator %d; choose 0 to %d", s.Allocator, Predicted-1)
	}
	w := &World{
		game: g, settings: s, tables: make([]*table, len(g.classes)),
		events: make([]eventTable, len(g.events))}
	longest := 0
	for i, c := range g.classes {
		w.tables[i] = newTable(c)
		longest = max(longest, c.layout.Len())
	}
	for i, e := range g.events {
		w.events[i] = e.newTable()
	}
	if g.commands != nil {
		w.commands = g.commands.newTable()
	}
	w.scratch = make([]int32, longest)
	w.cluster.actions = g.newActions()
	w.Host().SetDevelop(s.Develop)
	w.settings.States = nil
	return w, nil
}

func (w *World) setState(v bits.Syncer) error {
	for i, c := range w.game.classes {
		if c.state && c.kind.assign(w.tables[i].at(w.tables[i].banks[0].pages[0], 0), v) {
			return nil
		}
	}
	return fmt.Errorf("world: %T is not a pointer to a state of game %q", v, w.game.name)
}

// SetDevelop turns Settings.Develop on or off, for a world that was loaded.
func (w Host) SetDevelop(on bool) {
	w.settings.Develop = on
	w.sync.SetStrict(on)
	switch {
	case !on:
		w.lint = nil
	case w.lint == nil:
		w.lint = newLint()
	}
}

// Game is what the world is one of.
func (w *World) Game() *Game { return w.game }

// Settings are what the world was made with, without the States.
func (w Host) Settings() Settings { return w.settings }

// Tick is the tick that the world is at; during Step, the one that is being computed.
func (w *World) Tick() Tick { return w.tick }

// SetTick moves a partial world to the tick of what it is about to be given by Put and Deliver.
// What happened in the tick before, even if it is the same, is over: Events and Happened list
// nothing until something is delivered.
func (w Host) SetTick(t Tick) {
	w.tick = t
	w.silence()
}

// Turn is SetTick, after which nothing has changed: Changed then says what Put has since.
func (w Host) Turn(t Tick) {
	w.SetTick(t)
	for _, table := range w.tables {
		for _, b := range table.banks {
			for _, pg := range b.pages {
				if pg != nil {
					pg.changed = 0
				}
			}
		}
	}
}

// Seconds is how long a tick lasts: what velocities are multiplied by.
func (w *World) Seconds() float64 { return 1 / float64(w.game.rate) }

// Decides says whether this world decides what happens, because it holds everything, or predicts
// it, because it is partial: that of a client, which sees a part and runs ahead. Leave to the
// machine that decides what a client cannot know: who dies, where they appear again, when a round
// ends. What depends on nothing hidden must not ask, or clients predict it wrongly.
func (w *World) Decides() bool {
	if w.watch != nil {
		w.watch.decided(w.me)
	}
	return !w.settings.Partial
}

// Rand gives the numbers that chance holds for the entity that is stepping. They depend on the
// seed, that entity, the tick and how many it drew before, and on nothing that another entity does,
// so that a client that sees half of the world draws the same for that half.
func (w *World) Rand() *det.Rand {
	if !w.drawn {
		w.drawn = true
		who, when := w.stream()
		w.rand = det.At(w.settings.Seed, who, when)
	}
	return &w.rand
}

// Secret is Rand for what players must not foresee, or compete for: cards, loot, a serve, where
// someone appears. Its numbers are a stream of a cipher whose key is Settings.Secret (det.Keyed),
// so that nobody who has seen some of them knows others. They are the same in every copy of the
// world that holds the secret: mirrors, replays, a world that was saved or taken back. On a client
// they are other numbers than on the server, so what comes of them is not predicted; ask Decides
// before, and leave it to the server.
func (w *World) Secret() *det.Rand {
	if !w.guarded {
		w.guarded = true
		who, when := w.stream()
		w.secret = det.Keyed(w.settings.Secret, who, when)
		if w.watch != nil {
			w.watch.drewSecret(w.me)
		}
	}
	return &w.secret
}

// enter makes an entity the one that is stepping.
func (w *World) enter(id ID) {
	if w.careful {
		w.enterCarefully(id)
		return
	}
	w.me, w.counts, w.drawn, w.guarded = id, counts{}, false, false
}

// enterCarefully looks first at what the one before it did, and goes on with the names of this one.
func (w *World) enterCarefully(id ID) {
	w.inspect()
	w.me, w.drawn, w.guarded = id, false, false
	w.counts = w.done(id)
}

// ErrLimit says that a class or a kind of event has as many as its limit allows.
var ErrLimit = errors.New("limit reached")

// An Error is what went wrong in a tick, with where.
type Error struct {
	Tick   Tick
	Class  string // of the entity or event
	Entity ID     // None where no one entity is to blame
	Err    error
}

func (e *Error) Error() string {
	where := fmt.Sprintf("world: tick %d", e.Tick)
	if e.Class != "" {
		where += ": " + e.Class
	}
	if e.Entity != None {
		where += " " + e.Entity.String()
	}
	return where + ": " + e.Err.Error()
}

// Unwrap lets errors.Is find the cause.
func (e *Error) Unwrap() error { return e.Err }

// fail keeps the first error of a tick. The tick goes on: what happened is the same on every
// machine.
func (w *World) fail(class string, id ID, err error) {
	if w.err == nil {
		w.err = &Error{Tick: w.tick, Class: class, Entity: id, Err: err}
	}
}

// outside reports that the game asks for what only a tick can do.
func (w *World) outside(what, class string) bool {
	switch {
	case w.busy:
	case w.me.Local():
		local := w.game.locals[w.me.Allocator()].name
		w.fail(local, w.me,
			fmt.Errorf("a local entity cannot do %s of %s, as no other machine would; "+
				"let an ordinary entity do it", what, class))
	default:
		w.fail(class, None,
			fmt.Errorf("%s outside of a tick does nothing; do it in a Step method or one of the "+
				"hooks given to Define", what))
	}
	return !w.busy
}

func (w *World) takeError() error {
	err := w.err
	w.err = nil
	return err
}

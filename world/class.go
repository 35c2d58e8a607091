package world

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"

	"github.com/coeval-dev/coeval/bits"
)

// Synced is a struct with a Sync method on its pointer, which names every networked field once:
// what classes, states, commands and events are made of.
type Synced[T any] interface {
	*T
	bits.Syncer
}

// A Stepper has a Step method: what an entity does each tick. It is optional, as a wall does
// nothing. It runs on the server for every entity and on a client for those in view, with the same
// code.
type Stepper interface{ Step(w *World, me ID) }

// A Deriver has fields tagged `world:"derived"`. Derive sets them from the synced fields, and from
// nothing else; it runs after every tick and wherever an entity is read from outside.
type Deriver interface{ Derive() }

// A Gatherer is a state with memory to work with, such as an index of who stands where, in derived
// fields. Gather makes it from the rest of the world, at the beginning of each tick and before
// anything comes in; it changes nothing else. It runs in every world that a larger one was divided
// into, also where the state is a ghost and does not step.
type Gatherer interface{ Gather(w *World, me ID) }

// A Copier has slices, maps or pointers. CopyFrom makes the entity an independent copy of another
// of its type, reusing what memory it has.
type Copier[T any] interface{ CopyFrom(from *T) }

// ClassOptions change what Class, State and Local assume.
type ClassOptions struct {
	// Name is what the class is called. Default: the name of its type.
	Name string
	// Limit is how many entities of the class there may be at once, so that a mistake does not fill
	// the memory. Default: 65536; 4096 for local ones.
	Limit int
}

// Class declares a class: entities of type T.
func Class[T any, P Synced[T]](options ...ClassOptions) Declaration {
	return func(g *Game) error { return declareClass[T, P](g, false, option(options)) }
}

// State declares a state: there is exactly one T, from the beginning to the end, and every client
// is told of it whatever it sees. It is for the score, the clock, the weather. With a Step method
// it is stepped among the classes, where it stands in the definition.
func State[T any, P Synced[T]](options ...ClassOptions) Declaration {
	return func(g *Game) error { return declareClass[T, P](g, true, option(options)) }
}

// ClassInfo describes a class or state to tools and to whatever carries entities between machines.
type ClassInfo struct {
	number  int
	name    string
	limit   int
	state   bool
	typ     reflect.Type
	layout  *bits.Layout
	fields  []leaf   // every plain value of the struct
	server  []leaf   // of those, the server-only ones
	blanks  []blank  // what becomes zero when a branch leaves it out
	scaled  []scaled // the fields that have a resolution
	deep    bool     // has slices, maps or pointers
	derives bool
	gathers bool
	steps   bool
	rewind  *Rewinding // nil if it cannot be
	kind    kind
}

// Number is the class's place in the game, and in the order of stepping.
func (c *ClassInfo) Number() int { return c.number }

// Name is what the class is called.
func (c *ClassInfo) Name() string { return c.name }

// State says that it is a state rather than a class.
func (c *ClassInfo) State() bool { return c.state }

// Limit is how many entities it may have.
func (c *ClassInfo) Limit() int { return c.limit }

// Layout makes and reads the class's images.
func (c *ClassInfo) Layout() *bits.Layout { return c.layout }

// Schema describes the class's images.
func (c *ClassInfo) Schema() *bits.Schema { return c.layout.Schema() }

func declareClass[T any, P Synced[T]](g *Game, state bool, o ClassOptions) error {
	typ := reflect.TypeFor[T]()
	c := &ClassInfo{
		number: len(g.classes), name: cmp.Or(o.Name, typ.Name()), limit: cmp.Or(o.Limit, 1<<16),
		state: state, typ: typ}
	if state {
		c.limit = 1
	}
	fail := func(err error) error { return fmt.Errorf("class %s: %w", c.name, err) }
	if err := g.taken(c.name, c.typ); err != nil {
		return fail(err)
	}
	switch {
	case len(g.classes) >= maxClasses:
		return fail(fmt.Errorf("a game has at most %d classes", maxClasses))
	case c.limit < 1 || c.limit > MaxEntities:
		return fail(fmt.Errorf("a limit of %d entities; choose 1 to %d", c.limit, MaxEntities))
	case c.typ.Kind() != reflect.Struct:
		return fail(fmt.Errorf("it is a %s; make it a struct", c.typ.Kind()))
	}
	if err := methods(reflect.TypeFor[P](),
		method{"Step", reflect.TypeFor[Stepper]()},
		method{"Derive", reflect.TypeFor[Deriver]()},
		method{"Gather", reflect.TypeFor[Gatherer]()},
		method{"Rewind", rewinderType},
		method{"CopyFrom", reflect.TypeFor[Copier[T]]()}); err != nil {
		return fail(err)
	}
	var err error
	if c.layout, err = bits.NewLayout(P(nil)); err != nil {
		return fail(err)
	}
	shape, err := examine(c.typ, c.layout.Schema(), roleDerived, roleServer)
	if err != nil {
		return fail(err)
	}
	c.fields, c.server, c.blanks, c.deep = shape.fields, shape.server, shape.blanks, shape.deep
	c.scaled = scaledFields(shape.fields, c.layout.Schema())
	_, c.steps = any(P(nil)).(Stepper)
	_, c.derives = any(P(nil)).(Deriver)
	if _, c.gathers = any(P(nil)).(Gatherer); c.gathers && !state {
		return fail(errors.New("it has a method Gather, which only states have"))
	}
	if shape.derived != "" && !c.derives {
		return fail(fmt.Errorf("field %s is derived, but there is no method Derive() to set it",
			shape.derived))
	}
	if _, copies := any(P(nil)).(Copier[T]); c.deep && !copies {
		return fail(
			fmt.Errorf("field %s holds a %s, so copies would share it; use an array or a plain "+
				"value, or give the class a method CopyFrom(from *%s)",
				shape.deepPath, shape.deepKind, c.typ.Name()))
	}
	c.kind = &kindOf[T]{syncs: func(v *T) bits.Syncer { return P(v) }}
	if err := c.declareRewind(g); err != nil {
		return fail(err)
	}
	g.classes = append(g.classes, c)
	return nil
}

// A method is one that a type may have, but if so with the right signature.
type method struct {
	name string
	of   reflect.Type
}

// methods finds the mistake of a method that has the name but not the arguments, and would silently
// never be called.
func methods(t reflect.Type, wanted ...method) error {
	for _, m := range wanted {
		if got, ok := t.MethodByName(m.name); ok && !t.Implements(m.of) {
			want, _ := m.of.MethodByName(m.name)
			return fmt.Errorf("method %s is %s; it is called only if it is %s", m.name, got.Type,
				want.Type)
		}
	}
	return nil
}

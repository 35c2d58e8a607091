package world

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"

	"github.com/coeval-dev/coeval/bits"
)

// ActionOptions say how a kind of action is treated.
type ActionOptions struct {
	// Name is what the kind is called. Default: the name of its type.
	Name string
}

// Action declares what an entity can do to another, or to a state: a blow, a push, a point on the
// score board. Act does it, and the function says what comes of it: it may change the target and
// whatever else is there where the target is. By is who did it, None for a hook; that one may be
// somewhere else.
//
// In one whole world Act is a call of the function. In a world that is divided among servers the
// function runs where the target is, at the beginning of the next tick, if it is not here.
func Action[A any, P Synced[A]](act func(w *World, target, by ID, a *A),
	options ...ActionOptions) Declaration {
	return func(g *Game) error {
		o, typ := option(options), reflect.TypeFor[A]()
		i := &ActionInfo{number: len(g.actions), name: cmp.Or(o.Name, typ.Name()), typ: typ}
		fail := func(err error) error { return fmt.Errorf("action %s: %w", i.name, err) }
		for _, other := range g.actions {
			if other.name == i.name || other.typ == typ {
				return fail(fmt.Errorf("action %s has the same name or type; declare a type of "+
					"its own", other.name))
			}
		}
		if act == nil || len(g.actions) == 1<<16 {
			return fail(errors.New("say what is to be done, by a function"))
		}
		var err error
		if i.layout, err = bits.NewLayout(P(nil)); err != nil {
			return fail(err)
		}
		sh, err := examine(typ, i.layout.Schema())
		if err != nil {
			return fail(err)
		}
		if sh.deep {
			return fail(fmt.Errorf("field %s holds a %s; actions are plain values, so use an array",
				sh.deepPath, sh.deepKind))
		}
		i.newTable = func() actionTable {
			return &actionsOf[A]{info: i, act: act,
				syncs: func(v *A) bits.Syncer { return P(v) }}
		}
		g.actions = append(g.actions, i)
		return nil
	}
}

// ActionInfo describes a kind of action.
type ActionInfo struct {
	number   int
	name     string
	typ      reflect.Type
	layout   *bits.Layout
	newTable func() actionTable
}

// Number is the kind's place in the game.
func (i *ActionInfo) Number() int { return i.number }

// Name is what the kind is called.
func (i *ActionInfo) Name() string { return i.name }

// Layout makes and reads images of such actions.
func (i *ActionInfo) Layout() *bits.Layout { return i.layout }

// Actions lists the kinds of actions, for tools. A kind's number is its index.
func (g *Game) Actions() []*ActionInfo { g.prepare(); return g.actions }

// Acted is what is known of an action apart from its fields. No two have the same Name: By is who
// did it, and Ordinal counts what that one did to entities elsewhere in that tick. What a hook does
// is done by an ID that Hook tells.
type Acted struct {
	Name
	Target ID
	Kind   uint16 // its number in Game.Actions
	Hops   uint8  // how often it came to where the target was no more
}

// compare orders actions: earlier ones first, and those of a tick by who did them.
func (a Acted) compare(b Acted) int {
	return cmp.Or(cmp.Compare(a.Tick, b.Tick), cmp.Compare(a.By, b.By),
		cmp.Compare(a.Ordinal, b.Ordinal))
}

// Hook says that the ID stands for the hooks of one server, such as OnJoin, in names of what they
// did in a divided world. It is no entity's.
func (id ID) Hook() bool { return id.Generation() == 0 }

// An actionTable does the actions of one kind, whatever their type.
type actionTable interface {
	// open gives a value to be filled, until close. Those of actions that cause each other lie
	// upon each other.
	open() bits.Syncer
	close()
	run(w *World, target, by ID) // the one that was opened last
}

// actionsOf is an actionTable of type A.
type actionsOf[A any] struct {
	info   *ActionInfo
	act    func(*World, ID, ID, *A)
	syncs  func(*A) bits.Syncer
	values []*A
	depth  int
}

func (t *actionsOf[A]) next() *A {
	if t.depth == len(t.values) {
		t.values = append(t.values, new(A))
	}
	t.depth++
	return t.values[t.depth-1]
}

func (t *actionsOf[A]) open() bits.Syncer {
	v := t.next()
	*v = *new(A)
	return t.syncs(v)
}

func (t *actionsOf[A]) close() { t.depth-- }

func (t *actionsOf[A]) run(w *World, target, by ID) { t.act(w, target, by, t.values[t.depth-1]) }

// Act does something to an entity, or to a state by its StateID: what Action declares. If the
// target is here that happens at once. In a world that is divided, and where the target belongs to
// another server, it happens there at the beginning of the next tick. A client that predicts does
// it if the target is in view. What is not there any more nothing is done to.
//
// The action's fields are quantised before, in every world alike.
func Act[A any](w *World, target ID, a A) {
	for _, table := range w.cluster.actions {
		t, ok := table.(*actionsOf[A])
		if !ok {
			continue
		}
		if w.outside("Act", t.info.name) {
			return
		}
		v := t.next()
		*v = a
		if err := t.info.layout.Quantise(&w.sync, t.syncs(v)); err != nil {
			w.fail(t.info.name, w.me, err)
		}
		if pg, s := w.find(target); pg != nil && pg.away>>s&1 == 0 {
			t.act(w, target, w.me, v)
		} else if w.settings.Divided && w.elsewhere(target) {
			w.send(t.info, target, t.syncs(v))
		}
		t.depth--
		return
	}
	w.fail(fmt.Sprintf("%T", a), w.me,
		errors.New("it is not an action; declare it by world.Action"))
}

// StateID is the ID of the game's state of type T, for Act.
func StateID[T any](w *World) ID {
	if c := classOf[T](w.game); c != nil && c.state {
		return makeID(c.number, 0, 0, 1)
	}
	w.fail(fmt.Sprintf("%T", *new(T)), None,
		errors.New("it is not a state; declare it by world.State"))
	return None
}

// elsewhere says whether an entity that is not this world's may be another's. One of this world's
// own allocator that was not lent is no more.
func (w *World) elsewhere(id ID) bool {
	if id.Class() >= len(w.tables) || id.Generation() == 0 {
		return false
	}
	t := w.tables[id.Class()]
	if t.class.state || id.Allocator() != w.settings.Allocator {
		return true
	}
	pg, s := t.slotOf(id)
	return pg != nil && pg.away>>s&1 != 0 && pg.slots[s].generation == uint32(id.Generation())
}

// named is by whom things are in names: hooks of different servers must not be the same.
func (w *World) named() ID {
	if w.me == None && w.settings.Divided {
		return makeID(0, uint16(w.settings.Allocator), 0, 0)
	}
	return w.me
}

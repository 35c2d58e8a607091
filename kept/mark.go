package kept

import (
	"fmt"
	"reflect"

	"github.com/coeval-dev/coeval/world"
)

// A Mark is the field of an entity by which it is known in the store: whose it is, and whether what
// is kept of it has come. It has the tag `world:"server"`, so clients do without it. A game leaves
// it as it is: where one is overwritten that is noticed up to a second later, and what changed of
// the entity since it was last looked at is not written.
type Mark struct {
	of    string
	epoch uint64     // of the fence
	asked world.Tick // when it was asked for
	busy  world.ID   // the request that it is a party of
	state markState
}

type markState uint8

const (
	strange markState = iota // nobody has asked for it
	wanted
	loaded
	failed
	lost
)

// Loaded says that what was kept is there, or that nothing was: from now on it is written.
func (m *Mark) Loaded() bool { return m.state == loaded }

// Failed says that what is kept could not be loaded. The entity plays, and nothing of it is kept.
func (m *Mark) Failed() bool { return m.state == failed }

// Lost says that another session has taken the account or character since. Nothing of the entity is
// kept any more; a game shows that, or removes it.
func (m *Mark) Lost() bool { return m.state == lost }

// KeptOf is the account, character or thing that the entity is kept as, or nothing.
func (m *Mark) KeptOf() string { return m.of }

// markOf is the mark of an entity that is there.
func markOf(w *world.World, c *class, id world.ID) *Mark {
	return c.markOf(reflect.ValueOf(w.Host().Value(id)).UnsafePointer())
}

// find gives the class and mark of an entity, or nil.
func (p *plan) find(w *world.World, id world.ID) (*class, *Mark) {
	if p == nil || id == world.None || id.Local() || !w.Has(id) {
		return nil, nil
	}
	c := p.numbers[id.Class()]
	if c == nil {
		return nil, nil
	}
	return c, markOf(w, c, id)
}

// Load asks for what is kept of an entity, which belongs to its owner's account; call it where the
// entity is spawned, in OnJoin. When the answer comes in, after some ticks, its kept fields are set
// to what the store has, and Mark.Loaded says so; what the store does not have stays as it is. From
// then on what changes is written. On clients nothing happens.
func Load(w *world.World, id world.ID) error {
	p := w.Owner(id)
	if p == world.Nobody {
		return fmt.Errorf("kept: entity %v has no owner whose account it could be of; call "+
			"SetOwner before Load, or LoadAs", id)
	}
	account, _ := Of(w, p)
	return want(w, id, Account, account)
}

// LoadAs asks for what is kept of an entity as that of a character, or of a thing of the world, by
// its name. A character belongs to one session at a time: whoever has played it before, here or on
// another server, has lost it.
func LoadAs(w *world.World, id world.ID, of string) error {
	if of == "" || len(of) > maxName {
		return fmt.Errorf("kept: a name of %d bytes; give 1 to %d", len(of), maxName)
	}
	return want(w, id, 0, of)
}

// LoadState asks for what is kept of a state, as a thing of the world by the name of its class.
// Call it in OnStart.
func LoadState[T any](w *world.World) error {
	p := at(w)
	if p == nil || p.types[reflect.TypeFor[T]()] == nil {
		return fmt.Errorf("kept: %T has no method Kept", *new(T))
	}
	c := p.types[reflect.TypeFor[T]()]
	for id := range w.Host().Of(c.info.Number()) {
		if c.info.State() {
			return want(w, id, 0, c.Class)
		}
	}
	return fmt.Errorf("kept: %s is no state; use LoadAs", c.Class)
}

// want marks an entity as one that is to be loaded. A scope of 0 is any but Account.
func want(w *world.World, id world.ID, s Scope, of string) error {
	if !w.Decides() {
		return nil
	}
	c, m := at(w).find(w, id)
	switch {
	case c == nil:
		return fmt.Errorf("kept: entity %v is of no class that has a method Kept", id)
	case (c.Scope == Account) != (s == Account):
		return fmt.Errorf("kept: class %s is kept by %v; use Load for accounts and LoadAs for the "+
			"others", c.Class, c.Scope)
	case m.state == wanted || m.state == loaded && m.of == of:
		return nil
	}
	*m = Mark{of: of, asked: w.Tick(), state: wanted}
	w.Host().PointOut(id)
	return nil
}

// loaded takes what the store has of an entity.
func (p *plan) loaded(w *world.World, to world.Name, l *keptLoaded) {
	c, m := p.find(w, to.By)
	if c == nil || m.state != wanted || m.asked != to.Tick {
		return // somebody else by now, or it has come before
	}
	w.Host().PointOut(to.By)
	err := c.patch(reflect.ValueOf(w.Host().Value(to.By)).UnsafePointer(), l.Patch)
	if err != nil || l.Failed != "" {
		m.state = failed
		return
	}
	m.state, m.epoch = loaded, l.Epoch
}

// lost takes that another has claimed what an entity is.
func (p *plan) lost(w *world.World, to world.Name, l *keptLost) {
	if c, m := p.find(w, to.By); c != nil && m.state == loaded && m.epoch == l.Epoch {
		m.state = lost
		w.Host().PointOut(to.By)
	}
}

package world

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
)

// Local declares a class of entities that exist on clients alone: debris, sparks, shell cases. T is
// a struct with an optional Step method, and needs no Sync.
//
// Such entities are no part of the world. They are in no image, hash, copy or saved world, are
// never sent or rolled back, and a rule cannot see them: while an ordinary entity steps, or a hook
// runs, Get and All find none of them, and Spawn puts one into the client's Locals and gives None,
// as it does on a server, which has no Locals and where it does nothing. Spawning one takes no
// ordinal and no random number, so events and entities pair with the server's as if it had not
// happened.
//
// Their own Step methods, and whoever draws the game between ticks, see them by Get, All, Count and
// World.Has, and may spawn and remove more. A Step method of a local entity may look at everything.
// It may spawn, emit, remove or give to an owner nothing that is not local, which is an error; and
// it must not write to an ordinary entity through the pointer that Get gave, which nothing
// prevents.
//
// Where there are as many as ClassOptions.Limit, 4096 unless it says otherwise, the oldest one
// goes.
func Local[T any](options ...ClassOptions) Declaration {
	return func(g *Game) error {
		o, typ := option(options), reflect.TypeFor[T]()
		c := &localClass{
			number: len(g.locals), name: cmp.Or(o.Name, typ.Name()), limit: cmp.Or(o.Limit, 4096),
			typ: typ}
		fail := func(err error) error { return fmt.Errorf("local class %s: %w", c.name, err) }
		if err := g.taken(c.name, typ); err != nil {
			return fail(err)
		}
		switch {
		case len(g.locals) >= maxClasses:
			return fail(fmt.Errorf("a game has at most %d local classes", maxClasses))
		case c.limit < 1 || c.limit > maxLocals:
			return fail(fmt.Errorf("a limit of %d entities; choose 1 to %d", c.limit, maxLocals))
		case typ.Kind() != reflect.Struct:
			return fail(fmt.Errorf("it is a %s; make it a struct", typ.Kind()))
		}
		stepper := method{"Step", reflect.TypeFor[Stepper]()}
		if err := methods(reflect.TypeFor[*T](), stepper); err != nil {
			return fail(err)
		}
		c.kind = (*localsOf[T])(nil)
		c.newTable = func() localTable {
			return &localsOf[T]{class: c, here: noLocals, gone: noLocals, free: -1}
		}
		g.locals = append(g.locals, c)
		return nil
	}
}

// localNumber is the class in the ID of a local entity. No ordinary class has it, so whatever looks
// for an ordinary entity by such an ID finds none. The allocator is the number of the local class.
const localNumber = maxClasses

// maxLocals is the highest limit: twice as many slots are used.
const maxLocals = maxIndex / 2

// Local says that the ID is of a local entity, which only this client knows.
func (id ID) Local() bool { return id.Class() == localNumber }

// A localClass is what Local declares.
type localClass struct {
	number   int
	name     string
	limit    int
	typ      reflect.Type
	kind     localTable // a *localsOf[T], which tells in one comparison that T is its type
	newTable func() localTable
}

// localOf finds the local class with type T, or gives nil.
func localOf[T any](g *Game) *localClass {
	for _, c := range g.locals {
		if _, ok := c.kind.(*localsOf[T]); ok {
			return c
		}
	}
	return nil
}

// taken says that a name or a type is that of another class.
func (g *Game) taken(name string, typ reflect.Type) error {
	check := func(otherName string, other reflect.Type) error {
		switch {
		case otherName == name:
			return errors.New(
				"another class has the same name; give one of them a name by ClassOptions")
		case other == typ:
			return fmt.Errorf("its type is that of class %s; declare a type of its own", otherName)
		}
		return nil
	}
	for _, c := range g.classes {
		if err := check(c.name, c.typ); err != nil {
			return err
		}
	}
	for _, c := range g.locals {
		if err := check(c.name, c.typ); err != nil {
			return err
		}
	}
	return nil
}

// Locals hold the local entities of one client. They stand beside the worlds that the client
// predicts with: attached to one by Host.SetLocals while a tick is computed for the first time,
// and to the one that is drawn.
type Locals struct {
	game   *Game
	tables []localTable // by number of local class
	busy   bool         // while Step runs
}

// NewLocals makes a store of local entities, empty.
func (g *Game) NewLocals() *Locals {
	g.prepare()
	l := &Locals{game: g, tables: make([]localTable, len(g.locals))}
	for i, c := range g.locals {
		l.tables[i] = c.newTable()
	}
	return l
}

// Step lets the local entities step that were there before the world's present tick began, class by
// class in the order of Define and the oldest first. Call it once for each tick that is computed
// for the first time, after Host.Step. The world need not have the Locals attached.
//
// The error is the first thing that a local entity did wrong, such as emitting an event.
func (l *Locals) Step(w *World) error {
	if err := l.fits(w); err != nil {
		return err
	}
	if len(l.tables) == 0 {
		return nil
	}
	attached, pending := w.locals, w.err
	w.locals, w.err, l.busy = l, nil, true
	defer func() { // also where a Step method panics
		w.locals, w.err, l.busy = attached, pending, false
		w.enter(None)
	}()
	for _, t := range l.tables {
		t.sweep()
	}
	for _, t := range l.tables {
		t.step(w)
	}
	for _, t := range l.tables {
		t.sweep()
	}
	return w.takeError()
}

func (l *Locals) fits(w *World) error {
	if l.game != w.game {
		return fmt.Errorf("world: these are locals of game %q, not %q; "+
			"make them by NewLocals of the same Game", l.game.name, w.game.name)
	}
	return nil
}

// Len is how many local entities there are, of all classes.
func (l *Locals) Len() int {
	n := 0
	for _, t := range l.tables {
		n += t.len()
	}
	return n
}

// SetLocals attaches a store for the local entities that are spawned, and drawn, in this world; nil
// detaches it. A copy of the world has none. The error is that of a store of another game.
func (w Host) SetLocals(l *Locals) error {
	if l != nil {
		if err := l.fits(w.World); err != nil {
			return err
		}
	}
	w.locals = l
	return nil
}

// visible gives the local entities that may be seen now, or nil: none while an ordinary entity
// steps.
func (w *World) visible() *Locals {
	if w.busy {
		return nil
	}
	return w.locals
}

// findLocal gives the table of a local entity, if it is there to be seen.
func (w *World) findLocal(id ID) localTable {
	l := w.visible()
	if l == nil || !id.Local() || id.Allocator() >= len(l.tables) {
		return nil
	}
	if t := l.tables[id.Allocator()]; t.has(id) {
		return t
	}
	return nil
}

// spawnLocal puts a local entity into the store, if there is one. An ordinary entity does not learn
// its identifier, as what it did with that would differ from machine to machine.
func spawnLocal[T any](w *World, c *localClass, v T) ID {
	if w.locals == nil {
		return None
	}
	id := w.locals.tables[c.number].(*localsOf[T]).spawn(w, v)
	if w.busy {
		return None
	}
	return id
}

// It is kept out of Get, where almost all IDs are of ordinary entities.
//
//go:noinline
func getLocal[T any](w *World, id ID) *T {
	if t, ok := w.findLocal(id).(*localsOf[T]); ok {
		return t.at(int32(id.Index()))
	}
	return nil
}

// seenLocals gives the local entities of type T that may be seen now, or nil.
func seenLocals[T any](w *World) *localsOf[T] {
	if l := w.visible(); l != nil {
		if c := localOf[T](w.game); c != nil {
			return l.tables[c.number].(*localsOf[T])
		}
	}
	return nil
}

// A localTable is a localsOf of whatever type.
type localTable interface {
	has(id ID) bool
	remove(id ID)
	value(id ID) any
	len() int
	step(w *World)
	sweep()
}

// localsOf holds the local entities of one class, in pages that never move. Those that are there
// form a list from the oldest to the newest; those that are gone keep their memory until sweep, as
// someone may hold a pointer, and form another. There are never more slots than twice the limit.
type localsOf[T any] struct {
	class *localClass
	pages []*[pageSlots]T
	slots []localSlot
	here  localList
	gone  localList
	free  int32 // the first free slot, and by next the others; -1 for none
	count int
	born  uint64 // how many there have been
}

type localSlot struct {
	prev, next int32 // in its list; -1 for none
	generation uint32
	live       bool
	tick       Tick   // at which it was spawned
	number     uint64 // how many there were before it
}

type localList struct{ first, last int32 }

var noLocals = localList{-1, -1}

func (t *localsOf[T]) at(i int32) *T { return &t.pages[i/pageSlots][i%pageSlots] }

func (t *localsOf[T]) len() int { return t.count }

func (t *localsOf[T]) id(i int32) ID {
	return makeID(localNumber, uint16(t.class.number), int(i), t.slots[i].generation)
}

func (t *localsOf[T]) has(id ID) bool {
	i := id.Index()
	return i < len(t.slots) && t.slots[i].live && t.slots[i].generation == uint32(id.Generation())
}

func (t *localsOf[T]) value(id ID) any { return t.at(int32(id.Index())) }

func (t *localsOf[T]) remove(id ID) { t.bury(int32(id.Index())) }

func (t *localsOf[T]) spawn(w *World, v T) ID {
	if t.count == t.class.limit {
		t.bury(t.here.first)
	}
	i := t.take(w)
	if i < 0 {
		return None
	}
	s := &t.slots[i]
	// it begins anew after three days, at one each tick
	s.generation = s.generation%lastGeneration + 1
	s.live, s.tick, s.number = true, w.tick, t.born
	*t.at(i) = v
	t.append(&t.here, i)
	t.count++
	t.born++
	return t.id(i)
}

// take finds a free slot. Where all are used up by those that are gone, the memory of these is used
// again; but not while local entities step, as one of them may be stepping. What they spawn beyond
// the limit in a single tick is left out.
func (t *localsOf[T]) take(w *World) int32 {
	if t.free < 0 && len(t.slots) == 2*t.class.limit && !w.locals.busy {
		t.sweep()
	}
	if i := t.free; i >= 0 {
		t.free = t.slots[i].next
		return i
	}
	if len(t.slots) == 2*t.class.limit {
		return -1
	}
	if len(t.slots)%pageSlots == 0 {
		t.pages = append(t.pages, new([pageSlots]T))
	}
	t.slots = append(t.slots, localSlot{})
	return int32(len(t.slots) - 1)
}

// bury takes an entity away, and leaves its memory as it is.
func (t *localsOf[T]) bury(i int32) {
	t.unlink(&t.here, i)
	t.append(&t.gone, i)
	t.slots[i].live = false
	t.count--
}

// sweep frees the slots of those that are gone.
func (t *localsOf[T]) sweep() {
	for i := t.gone.first; i >= 0; {
		next := t.slots[i].next
		*t.at(i) = *new(T)
		t.slots[i].next, t.free = t.free, i
		i = next
	}
	t.gone = noLocals
}

func (t *localsOf[T]) append(l *localList, i int32) {
	t.slots[i].prev, t.slots[i].next = l.last, -1
	if l.last >= 0 {
		t.slots[l.last].next = i
	} else {
		l.first = i
	}
	l.last = i
}

func (t *localsOf[T]) unlink(l *localList, i int32) {
	s := &t.slots[i]
	if s.prev >= 0 {
		t.slots[s.prev].next = s.next
	} else {
		l.first = s.next
	}
	if s.next >= 0 {
		t.slots[s.next].prev = s.prev
	} else {
		l.last = s.prev
	}
}

// each goes through those that are there now, the oldest first. They may be removed meanwhile, and
// others may come, which are left out.
func (t *localsOf[T]) each(yield func(i int32) bool) {
	end := t.born
	for i := t.here.first; i >= 0 && t.slots[i].number < end; {
		number, next := t.slots[i].number, t.slots[i].next
		after := end
		if next >= 0 {
			after = t.slots[next].number
		}
		if !yield(i) {
			return
		}
		switch {
		case t.is(i, number):
			i = t.slots[i].next
		case t.is(next, after):
			i = next
		default: // both are gone
			for i = t.here.first; i >= 0 && t.slots[i].number <= number; {
				i = t.slots[i].next
			}
		}
	}
}

// is says whether the slot still holds the same entity.
func (t *localsOf[T]) is(i int32, number uint64) bool {
	return i >= 0 && t.slots[i].live && t.slots[i].number == number
}

func (t *localsOf[T]) step(w *World) {
	if _, steps := any((*T)(nil)).(Stepper); !steps {
		return
	}
	for i := range t.each {
		if t.slots[i].tick == w.tick { // it came in this tick
			continue
		}
		id := t.id(i)
		w.enter(id)
		any(t.at(i)).(Stepper).Step(w, id)
	}
}

func (t *localsOf[T]) all(yield func(ID, *T) bool) {
	for i := range t.each {
		if !yield(t.id(i), t.at(i)) {
			return
		}
	}
}

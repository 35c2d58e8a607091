package world

import (
	"errors"
	"fmt"
	"iter"
	mathbits "math/bits"
)

// Spawn puts a new entity into the world and gives its ID, or None when the class is at its limit.
// It can be looked up at once; from the next tick on it is found by All, and steps. What is
// declared by Local goes to the client's Locals; see there.
func Spawn[T any](w *World, v T) ID {
	c := classOf[T](w.game)
	if c == nil {
		if l := localOf[T](w.game); l != nil {
			return spawnLocal(w, l, v)
		}
	}
	if c == nil || c.state {
		w.fail(fmt.Sprintf("%T", v), None,
			errors.New("it cannot be spawned; declare it by world.Class"))
		return None
	}
	if w.outside("Spawn", c.name) {
		return None
	}
	t := w.tables[c.number]
	if t.count-t.ghosts >= c.limit {
		w.fail(c.name, None,
			fmt.Errorf("%w: there are %d already; remove some, or raise Limit in its ClassOptions",
				ErrLimit, t.count))
		return None
	}
	id, pg, s := t.take(uint16(w.settings.Allocator))
	if id == None {
		w.fail(c.name, None, fmt.Errorf("%w: all identifiers are used up", ErrLimit))
		return None
	}
	*(*T)(t.at(pg, s)) = v
	sl := &pg.slots[s]
	sl.by, sl.tick, sl.ordinal = w.named(), uint32(w.tick), uint16(w.spawns)
	w.spawns++
	if w.cluster.catching {
		w.cluster.spawned = append(w.cluster.spawned, id)
	}
	if w.watch != nil {
		w.watch.spawned(id)
	}
	return id
}

// Get finds an entity of type T. It is nil if there is none by that ID, which on a client also
// means that it is not in view: always look. The pointer is good until the end of the tick.
func Get[T any](w *World, id ID) *T {
	if id.Class() >= len(w.tables) {
		return getLocal[T](w, id)
	}
	t := w.tables[id.Class()]
	if _, ok := t.class.kind.(*kindOf[T]); !ok {
		return nil
	}
	pg, s := t.find(id)
	if pg == nil {
		return nil
	}
	if w.watch != nil {
		w.watch.saw(w.me, id)
	}
	return (*T)(t.at(pg, s))
}

// Owned is the entity of type T that a player owns, such as their ship, or None and nil. Of several
// it is the first by identifier; see SetOwner.
func Owned[T any](w *World, p Player) (ID, *T) {
	for id, e := range All[T](w) {
		if w.Owner(id) == p {
			return id, e
		}
	}
	return None, nil
}

// All goes through the entities of type T in order of identifier: those that were there when the
// tick began, whoever has been spawned or removed since.
func All[T any](w *World) iter.Seq2[ID, *T] {
	return func(yield func(ID, *T) bool) {
		c := classOf[T](w.game)
		if c == nil {
			if l := seenLocals[T](w); l != nil {
				l.all(yield)
			}
			return
		}
		t := w.tables[c.number]
		for pg := range t.pages {
			for m := pg.live &^ pg.born; m != 0; m &= m - 1 {
				s := mathbits.TrailingZeros64(m)
				id := t.id(pg, s)
				if w.watch != nil {
					w.watch.saw(w.me, id)
				}
				if !yield(id, (*T)(t.at(pg, s))) {
					return
				}
			}
		}
	}
}

// Count is how many entities of type T there are, those just spawned included.
func Count[T any](w *World) int {
	if c := classOf[T](w.game); c != nil {
		return w.tables[c.number].count
	}
	if l := seenLocals[T](w); l != nil {
		return l.count
	}
	return 0
}

// StateOf gives the game's state of type T.
func StateOf[T any](w *World) *T {
	if c := classOf[T](w.game); c != nil && c.state {
		if w.watch != nil {
			w.watch.saw(w.me, makeID(c.number, 0, 0, 1))
		}
		return (*T)(w.tables[c.number].banks[0].pages[0].memory)
	}
	w.fail(fmt.Sprintf("%T", *new(T)), None,
		errors.New("it is not a state; declare it by world.State"))
	return new(T)
}

// Remove takes an entity out of the world at the end of the tick. Until then it is there for
// everyone, so that it does not matter who steps first. Removing what is not there does nothing. A
// local entity is gone at once.
func (w *World) Remove(id ID) {
	if id.Local() {
		if t := w.findLocal(id); t != nil {
			t.remove(id)
		}
		return
	}
	if pg, s := w.find(id); pg != nil && !w.game.classes[id.Class()].state &&
		!w.outside("Remove", w.game.classes[id.Class()].name) {
		if pg.away>>s&1 != 0 {
			w.trespass(w.game.classes[id.Class()], id, "it is removed")
			return
		}
		pg.dying |= 1 << s
	}
}

// Removing says whether an entity goes at the end of this tick: for two shells that hit one crate,
// of which one shall score.
func (w *World) Removing(id ID) bool {
	pg, s := w.find(id)
	return pg != nil && pg.dying>>s&1 != 0
}

// Has says whether an entity is there.
func (w *World) Has(id ID) bool {
	pg, _ := w.find(id)
	return pg != nil || w.findLocal(id) != nil
}

// Owner is the player whose commands an entity follows, or Nobody.
func (w *World) Owner(id ID) Player {
	if pg, s := w.find(id); pg != nil {
		return pg.slots[s].owner
	}
	return Nobody
}

// SetOwner lets an entity follow a player's commands.
func (w *World) SetOwner(id ID, p Player) {
	if pg, s := w.find(id); pg != nil && pg.slots[s].owner != p &&
		!w.outside("SetOwner", w.game.classes[id.Class()].name) {
		if pg.away>>s&1 != 0 {
			w.trespass(w.game.classes[id.Class()], id, "it is given to an owner")
			return
		}
		if w.settings.Divided && p != Nobody {
			w.seat(p, nil, Sight{}) // the player may have joined elsewhere
		}
		pg.slots[s].owner = p
		pg.touched |= 1 << s
	}
}

// Origin is the entity's name: who spawned it, when.
func (w *World) Origin(id ID) Name {
	pg, s := w.find(id)
	if pg == nil {
		return Name{}
	}
	sl := &pg.slots[s]
	// A slot keeps the lower half of the tick, as no one asks for an entity's name for two years.
	t := w.tick&^(1<<32-1) | Tick(sl.tick)
	if t > w.tick && t >= 1<<32 {
		t -= 1 << 32
	}
	return Name{By: sl.by, Tick: t, Ordinal: sl.ordinal}
}

// find gives the page and slot of an entity, or nil if it is not here.
func (w *World) find(id ID) (*page, int) {
	if id.Class() >= len(w.tables) {
		return nil, 0
	}
	pg, s := w.tables[id.Class()].find(id)
	if pg != nil && w.watch != nil {
		w.watch.saw(w.me, id)
	}
	return pg, s
}

// Entities goes through all entities in order of identifier, without the states.
func (w *World) Entities() iter.Seq[ID] {
	return func(yield func(ID) bool) {
		for _, t := range w.tables {
			if !t.class.state && !t.ids(yield) {
				return
			}
		}
	}
}

// Of goes through the entities of a class, or gives the one of a state, in order of identifier.
func (w Host) Of(class int) iter.Seq[ID] {
	return func(yield func(ID) bool) {
		if class >= 0 && class < len(w.tables) {
			w.tables[class].ids(yield)
		}
	}
}

func (t *table) ids(yield func(ID) bool) bool {
	for pg := range t.pages {
		for m := pg.live; m != 0; m &= m - 1 {
			if !yield(t.id(pg, mathbits.TrailingZeros64(m))) {
				return false
			}
		}
	}
	return true
}

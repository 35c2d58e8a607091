package world

import (
	"iter"
	"unsafe"
)

// This file is for those who keep an eye on entities of a class for longer than a tick, and cannot
// afford to look at all of them in each: they are told when somebody comes or goes, and what those
// were who went.

// A wake is what a table knows of the entities that went in the last tick.
type wake struct {
	wanted bool
	ids    []ID
	memory unsafe.Pointer // what they were at the end of the tick before, one after the other
	room   int
}

// Census gives a number that is another one whenever entities of a class have come or gone, or were
// pointed out. It is of this world alone, and no part of it.
func (w Host) Census(class int) uint64 {
	if class < 0 || class >= len(w.tables) {
		return 0
	}
	return w.tables[class].census
}

// PointOut has those look at an entity again who go by Census.
func (w Host) PointOut(id ID) {
	if id.Class() < len(w.tables) {
		w.tables[id.Class()].census++
	}
}

// Memory gives where an entity's struct is, or nil if it is not there. It is what Value gives,
// without its type.
func (w Host) Memory(id ID) unsafe.Pointer {
	if id.Class() < len(w.tables) {
		t := w.tables[id.Class()]
		if pg, s := t.find(id); pg != nil {
			return t.at(pg, s)
		}
	}
	return nil
}

// Remember has the world note from now on what entities of a class were before they went, for
// Departed. It says whether it can: not for a class with slices, maps or pointers.
func (w Host) Remember(class int) bool {
	if class < 0 || class >= len(w.tables) || w.tables[class].class.deep {
		return false
	}
	w.tables[class].wake.wanted = true
	return true
}

// Departed goes through the entities of a class that went in the last tick, with what they were at
// the end of the tick before. The memory is good until the next tick.
func (w Host) Departed(class int) iter.Seq2[ID, unsafe.Pointer] {
	return func(yield func(ID, unsafe.Pointer) bool) {
		if class < 0 || class >= len(w.tables) {
			return
		}
		t := w.tables[class]
		for i, id := range t.wake.ids {
			if !yield(id, unsafe.Add(t.wake.memory, uintptr(i)*t.size)) {
				return
			}
		}
	}
}

// depart notes what an entity was. The past is at hand, as the tick has begun.
func (t *table) depart(pg *page, slot int) {
	k := &t.wake
	if !k.wanted || pg.past == nil || pg.born>>slot&1 != 0 {
		return
	}
	if n := len(k.ids); n == k.room {
		more := t.class.kind.alloc(2*n + 4)
		if n > 0 {
			t.class.kind.move(more, k.memory, n)
		}
		k.memory, k.room = more, 2*n+4
	}
	t.class.kind.move(unsafe.Add(k.memory, uintptr(len(k.ids))*t.size), t.pastOf(pg, slot), 1)
	k.ids = append(k.ids, t.id(pg, slot))
}

// forget has nobody be departed, before a tick and in a copy.
func (k *wake) forget() { k.ids = k.ids[:0] }

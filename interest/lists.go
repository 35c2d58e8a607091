package interest

import (
	"math/bits"

	"github.com/coeval-dev/coeval/world"
)

// A list is a set of entities that some source shows wherever they are. It is a sparse set: whom to
// remove is found by slot.
type list struct {
	slots []uint32
	at    []uint32 // by slot
	stamp uint64   // revision at which it, or one of its members, last changed
}

func (l *list) add(slot uint32) {
	for int(slot) >= len(l.at) {
		l.at = append(l.at, 0)
	}
	l.at[slot] = uint32(len(l.slots))
	l.slots = append(l.slots, slot)
}

func (l *list) remove(slot uint32) {
	at, last := l.at[slot], l.slots[len(l.slots)-1]
	l.slots[at] = last
	l.at[last] = at
	l.slots = l.slots[:len(l.slots)-1]
}

// An ownedList is the list of one player's. There may be thousands of players, so where a member
// stands is kept with what is known of it, not by slot in each list.
type ownedList struct {
	slots []uint32
	stamp uint64
}

// lists says which lists something with these traits is in.
func (t *Traits) lists() (always bool, channels uint64, owner world.Player) {
	if t.Never {
		return false, 0, world.Nobody
	}
	return t.Always, t.Channels, t.Owner
}

// setLists moves an entity between lists as its traits change, and stamps those that it was or is
// in.
func (ix *Index) setLists(slot uint32, old, now *Traits) {
	was, wasOn, wasOf := old.lists()
	is, isOn, isOf := now.lists()
	if was || is {
		ix.always.stamp = ix.revision
	}
	if was && !is {
		ix.always.remove(slot)
	} else if is && !was {
		ix.always.add(slot)
	}

	for set := wasOn | isOn; set != 0; set &= set - 1 {
		n := bits.TrailingZeros64(set)
		l := &ix.channels[n]
		l.stamp = ix.revision
		switch {
		case isOn>>n&1 == 0:
			l.remove(slot)
		case wasOn>>n&1 == 0:
			l.add(slot)
		}
	}

	if wasOf != isOf && wasOf != world.Nobody {
		l := &ix.owned[wasOf]
		at, last := ix.entities[slot].ownedAt, l.slots[len(l.slots)-1]
		l.slots[at] = last
		ix.entities[last].ownedAt = at
		l.slots = l.slots[:len(l.slots)-1]
		l.stamp = ix.revision
	}
	if isOf != world.Nobody {
		for int(isOf) >= len(ix.owned) {
			ix.owned = append(ix.owned, ownedList{})
		}
		l := &ix.owned[isOf]
		if wasOf != isOf {
			ix.entities[slot].ownedAt = uint32(len(l.slots))
			l.slots = append(l.slots, slot)
		}
		l.stamp = ix.revision
	}
}

package world

import (
	"errors"
	"unsafe"
)

// CopyFrom makes the world an independent copy of another of the same game. It costs what copying
// the memory costs, and allocates nothing once the world has been as large before: keep old worlds
// and copy over them.
func (w Host) CopyFrom(from *World) error {
	if w.game != from.game {
		return errors.New("world: a world can be copied only over one of the same game")
	}
	if w.World == from {
		return nil
	}
	w.settings, w.tick = from.settings, from.tick
	for i, t := range w.tables {
		t.copyFrom(from.tables[i])
	}
	w.copyPlayers(from)
	for i, t := range w.events {
		t.copyFrom(from.events[i])
	}
	w.order = append(w.order[:0], from.order...)
	w.memory.copyFrom(&from.memory)
	w.cluster.copyFrom(&from.cluster)
	w.enter(None)
	w.err = nil
	w.SetDevelop(w.settings.Develop)
	return nil
}

// copyPlayers takes over who is there, and what they command.
func (w *World) copyPlayers(from *World) {
	w.present = append(w.present[:0], from.present...)
	w.repeated = append(w.repeated[:0], from.repeated...)
	w.sights = w.sights[:0]
	if !w.settings.Partial { // a client judges by what it shows
		w.sights = append(w.sights, from.sights...)
	}
	if w.commands != nil {
		w.commands.copyFrom(from.commands)
	}
}

// Clone makes a new world that is an independent copy.
func (w Host) Clone() *World {
	c, err := w.game.empty(w.settings)
	if err != nil {
		// the settings have been checked
		panic("world: a world that exists cannot be made again: " + err.Error())
	}
	if err := c.Host().CopyFrom(w.World); err != nil {
		panic(err)
	}
	return c
}

// Size is how many bytes of entities CopyFrom copies: for measuring, and for deciding how many past
// worlds to keep.
func (w Host) Size() int {
	n := w.memory.size()
	for _, t := range w.tables {
		for pg := range t.pages {
			n += int(pg.top) * (int(t.size+unsafe.Sizeof(slot{})) + 4*t.class.layout.Len())
		}
	}
	return n
}

func (t *table) copyFrom(from *table) {
	t.count, t.ghosts = from.count, from.ghosts
	t.census++
	t.wake.forget()
	if len(t.banks) > len(from.banks) {
		clear(t.banks[len(from.banks):])
		t.banks = t.banks[:len(from.banks)]
	}
	for i, b := range from.banks {
		if i == len(t.banks) {
			t.banks = append(t.banks, new(bank))
		}
		t.copyBank(t.banks[i], b)
	}
}

func (t *table) copyBank(to, from *bank) {
	to.allocator, to.low = from.allocator, from.low
	if len(to.pages) > len(from.pages) {
		to.pages = to.pages[:len(from.pages)] // they stay behind the end, to be used again
	}
	for i, pg := range from.pages {
		if pg == nil {
			if i < len(to.pages) {
				to.pages[i] = nil
			} else {
				to.pages = append(to.pages, nil)
			}
			continue
		}
		t.copyPage(t.needPage(to, i), pg)
	}
}

// copyPage copies the slots that either page has ever used; beyond they are alike.
func (t *table) copyPage(to, from *page) {
	c, n := t.class, int(max(to.top, from.top))
	switch {
	case c.deep:
		for s := range n {
			if from.live>>s&1 != 0 {
				c.kind.clone(t.at(to, s), t.at(from, s))
			} else if to.live>>s&1 != 0 {
				c.kind.wipe(t.at(to, s), 1)
			}
		}
	case from.live|to.live != 0:
		c.kind.move(to.memory, from.memory, n)
	}
	if from.live|to.live != 0 {
		copy(to.images, from.images[:n*c.layout.Len()])
	}
	copy(to.slots, from.slots[:n])
	to.top = from.top
	to.live, to.born, to.dying, to.away, to.touched, to.changed = from.live, from.born, from.dying,
		from.away, from.touched, from.changed
	to.stale = true // the past would cost another copy; it is made when the world is next stepped
}

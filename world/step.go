package world

import (
	"bytes"
	mathbits "math/bits"
	"slices"
	"unsafe"
)

// Step takes the world to its next tick: players leave and join, commands are taken, every entity
// steps in order of identifier, those that were removed go, and what changed is quantised. No
// inputs, nil, means that no one says anything.
//
// The error is the first thing that a game did wrong, such as spawning beyond a limit. The tick is
// complete all the same, and the same on every machine, so a server may report it and go on.
func (w Host) Step(in *Inputs) error {
	if in != nil && in.game != w.game {
		return w.game.stranger(in)
	}
	w.tick++
	w.busy = true
	w.begin()
	for _, t := range w.tables {
		if t.class.gathers {
			id := makeID(t.class.number, 0, 0, 1)
			w.enter(id)
			t.class.kind.gather(t.banks[0].pages[0].memory, w.World, id)
		}
	}
	if len(w.cluster.late) > 0 {
		w.catchUp()
	}
	w.enter(None)
	w.admit(in)
	w.takeActs(in)
	for _, t := range w.tables {
		if t.class.steps && t.count > 0 {
			if len(w.turns.moves) > 0 {
				w.executeMoves(t.class.number)
			}
			t.step(w.World)
		}
	}
	w.enter(None)
	w.finish()
	return w.takeError()
}

func (w *World) begin() {
	w.silence()
	w.claims, w.doubted = w.claims[:0], 0
	w.turns.reset()
	w.careful = w.cluster.border != nil
	w.cluster.begin()
	for _, t := range w.tables {
		t.begin()
	}
}

// finish ends a tick.
func (w *World) finish() {
	gone := false
	for _, t := range w.tables {
		gone = t.bury(w) || gone
	}
	if gone && !w.settings.Partial { // in a partial world, what is not here may be elsewhere
		for _, e := range w.events {
			e.forget(w)
		}
	}
	for _, t := range w.tables {
		t.quantise(w)
	}
	w.remember()
	w.busy = false
}

// begin sees that the past is at hand, to find changes with.
func (t *table) begin() {
	t.wake.forget()
	if t.class.deep {
		return
	}
	for _, b := range t.banks {
		for _, pg := range b.pages {
			if pg == nil || !pg.stale {
				continue
			}
			if pg.past == nil {
				pg.past = t.class.kind.alloc(t.mask + 1)
			}
			t.class.kind.move(pg.past, pg.memory, int(pg.top))
			pg.stale = false
		}
	}
}

func (t *table) step(w *World) {
	for _, b := range t.banks {
		for _, pg := range b.pages {
			if pg == nil {
				continue
			}
			for m := pg.live &^ (pg.born | pg.away); m != 0; m &= m - 1 {
				s := mathbits.TrailingZeros64(m)
				id := t.id(pg, s)
				if len(w.turns.still) > 0 && w.isStill(id) {
					continue
				}
				w.enter(id)
				t.class.kind.step(t.at(pg, s), w, id)
			}
		}
	}
}

// bury frees the slots of what was removed.
func (t *table) bury(w *World) (gone bool) {
	for _, b := range t.banks {
		for _, pg := range b.pages {
			if pg == nil || pg.dying == 0 {
				continue
			}
			gone = true
			for m := pg.dying; m != 0; m &= m - 1 {
				t.buryOne(w, pg, mathbits.TrailingZeros64(m))
			}
		}
	}
	return gone
}

// buryOne frees the slot of one that was removed.
func (t *table) buryOne(w *World, pg *page, s int) {
	t.depart(pg, s)
	id := t.id(pg, s)
	t.free(pg, s)
	if w.settings.Divided && id.Allocator() != w.settings.Allocator {
		w.release(pg, s, id)
		w.cluster.removed = append(w.cluster.removed, id)
	}
}

// quantise makes the image of every entity that changed, and replaces its fields by what the image
// holds: what is sent is what is true.
func (t *table) quantise(w *World) {
	for _, b := range t.banks {
		for _, pg := range b.pages {
			if pg == nil {
				continue
			}
			if pg.live&pg.away != 0 {
				t.guard(w, pg)
			}
			all := pg.born | pg.touched
			pg.changed, pg.born, pg.touched = all, 0, 0
			if pg.stale { // as those of deep classes always are
				all = pg.live
			}
			if pg.live == 0 || all == 0 && same(pg.memory, pg.past, t.size*uintptr(pg.top)) {
				continue // mostly, and the whole page at once
			}
			for m := pg.live &^ pg.away; m != 0; m &= m - 1 {
				s := mathbits.TrailingZeros64(m)
				if all>>s&1 == 0 && same(t.at(pg, s), t.pastOf(pg, s), t.size) {
					continue
				}
				t.quantiseOne(w, pg, s)
			}
		}
	}
}

func (t *table) quantiseOne(w *World, pg *page, s int) {
	c := t.class
	at, image := t.at(pg, s), t.image(pg, s)
	before := w.scratch[:len(image)]
	copy(before, image)
	if w.lint != nil && !c.deep && pg.past != nil {
		w.lint.before(c, at)
	}
	v := c.kind.syncer(at)
	if err := c.layout.QuantiseInto(&w.sync, v, image); err != nil {
		w.fail(c.name, t.id(pg, s), err)
	}
	if len(c.blanks) > 0 {
		c.blank(w, at, image)
	}
	if c.derives {
		c.kind.derive(at)
	}
	if !slices.Equal(before, image) {
		pg.changed |= 1 << s
	}
	if w.lint != nil && (int(w.tick)+s)%lintShare == 0 {
		if err := c.layout.Check(v); err != nil {
			w.fail(c.name, t.id(pg, s), err)
		}
	}
	if c.deep || pg.past == nil {
		return
	}
	if w.lint != nil {
		w.lint.after(w, c, t.id(pg, s), t.pastOf(pg, s), at)
	}
	c.kind.move(t.pastOf(pg, s), at, 1)
}

// blank empties the fields that Sync left out, and then sets those again that it did not.
func (c *ClassInfo) blank(w *World, at unsafe.Pointer, image []int32) {
	for i := range c.blanks {
		c.blanks[i].apply(at, image)
	}
	if err := c.layout.Unpack(&w.sync, c.kind.syncer(at), image); err != nil {
		w.fail(c.name, None, err)
	}
}

// same compares memory. Bytes between fields count too; where they differ for no reason an entity
// is quantised for no reason, and nothing else happens.
func same(a, b unsafe.Pointer, size uintptr) bool {
	return bytes.Equal(unsafe.Slice((*byte)(a), size), unsafe.Slice((*byte)(b), size))
}

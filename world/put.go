package world

import (
	"errors"
	"fmt"
	"slices"
	"unsafe"
)

// An Entry is what a world knows about an entity apart from its fields: what goes along with an
// image.
type Entry struct {
	Owner  Player
	Origin Name
}

// Entry gives what goes along with an entity's image.
func (w Host) Entry(id ID) Entry { return Entry{Owner: w.Owner(id), Origin: w.Origin(id)} }

// Image is the entity's image at the end of the last tick, or nil if it is not there. It is the
// world's own: do not change it, nor keep it beyond the next Step.
func (w Host) Image(id ID) []int32 {
	if pg, s := w.find(id); pg != nil {
		return w.tables[id.Class()].image(pg, s)
	}
	return nil
}

// Changed says whether the last tick changed the entity's image or owner, or brought it.
func (w Host) Changed(id ID) bool {
	pg, s := w.find(id)
	return pg != nil && pg.changed>>s&1 != 0
}

// ErrPlace says that a world cannot take an entity because of its identifier.
var ErrPlace = errors.New("no place for it")

// Put sets an entity from its image, or brings it into the world: how partial worlds learn, and how
// entities come from another server. It works between ticks and at once. The image may come from a
// stranger; if it is not one that a world makes, nothing is changed. Server-only fields of a new
// entity are zero.
//
// A partial world takes anything, and whatever had the same index gives way. A whole world takes
// entities of other allocators, and back what Lend gave away.
func (w Host) Put(id ID, e Entry, image []int32) error {
	t, err := w.tableFor(id)
	if err != nil {
		return err
	}
	pg, s, here := t.place(id)
	sl := slot{
		by: e.Origin.By, tick: uint32(e.Origin.Tick), ordinal: e.Origin.Ordinal, owner: e.Owner,
		generation: uint32(id.Generation())}
	if here && pg.slots[s] == sl && slices.Equal(t.image(pg, s), image) {
		pg.changed |= 1 << s
		return nil // it is that already
	}
	if err := t.read(w.World, pg, s, here, image); err != nil {
		return fmt.Errorf("world: entity %v of class %s: %w", id, t.class.name, err)
	}
	t.settle(pg, s, here, sl, t.spare, image)
	return nil
}

// Take makes an entity what it is in another world of the game, with all of its fields, or brings
// it into the world. Between partial worlds it does what Put does with the entity's entry and
// image, and costs no more than copying it. If it is not in the other world, nothing happens.
func (w Host) Take(from *World, id ID) error {
	if w.game != from.game {
		return errors.New("world: an entity can be taken only from a world of the same game")
	}
	of, n := from.find(id)
	if of == nil || w.World == from {
		return nil
	}
	t, err := w.tableFor(id)
	if err != nil {
		return err
	}
	source := from.tables[id.Class()]
	pg, s, here := t.place(id)
	t.settle(pg, s, here, of.slots[n], source.at(of, n), source.image(of, n))
	return nil
}

// place is the slot for an entity, and whether the entity is in it.
func (t *table) place(id ID) (pg *page, s int, here bool) {
	pg, s = t.needPage(t.needBank(id.allocator()), id.Index()>>t.shift), id.Index()&t.mask
	return pg, s, pg.live>>s&1 != 0 && pg.slots[s].generation == uint32(id.Generation())
}

// settle has an entity in its slot from now on, with the fields at a place in memory. Whatever else
// is there gives way.
func (t *table) settle(pg *page, s int, here bool, sl slot, fields unsafe.Pointer,
	image []int32) {
	bit := uint64(1) << s
	if pg.live&bit != 0 && !here {
		t.free(pg, s)
	}
	if !here {
		t.count++
		t.census++
	}
	if pg.live&pg.away&bit != 0 {
		t.ghosts--
	}
	pg.live |= bit
	pg.away &^= bit
	pg.use(s)
	pg.slots[s] = sl
	if t.class.deep {
		t.class.kind.clone(t.at(pg, s), fields)
	} else {
		t.class.kind.move(t.at(pg, s), fields, 1)
		if pg.past != nil {
			t.class.kind.move(t.pastOf(pg, s), fields, 1)
		}
	}
	copy(t.image(pg, s), image)
	pg.changed |= bit
}

// tableFor gives the table for an entity with this ID, or says why the world may not have it.
func (w *World) tableFor(id ID) (*table, error) {
	if id.Class() >= len(w.tables) || id.Generation() == 0 {
		return nil, fmt.Errorf("world: entity %v: %w: the game has no such class", id, ErrPlace)
	}
	t := w.tables[id.Class()]
	fail := func(why string) (*table, error) {
		return nil, fmt.Errorf("world: entity %v of class %s: %w: %s", id, t.class.name, ErrPlace,
			why)
	}
	if t.class.state {
		if pg, _ := t.find(id); pg == nil {
			return fail("a state has one ID and no other")
		}
		return t, nil
	}
	if id.Index() >= t.end {
		return fail("its index is beyond the class's limit")
	}
	if pg, _ := t.find(id); pg != nil {
		return t, nil
	}
	switch {
	case t.count >= t.class.limit && !(w.settings.Partial && t.occupied(id)):
		return fail("the class is at its limit")
	case w.settings.Partial:
	case id.Allocator() == w.settings.Allocator && !t.lent(id):
		return fail("it is of this world's own allocator, and was not lent")
	case t.occupied(id):
		return fail("another entity has its index")
	}
	return t, nil
}

func (t *table) occupied(id ID) bool {
	pg, s := t.slotOf(id)
	return pg != nil && pg.live>>s&1 != 0
}

func (t *table) lent(id ID) bool {
	pg, s := t.slotOf(id)
	return pg != nil && pg.live>>s&1 == 0 && pg.away>>s&1 != 0 &&
		pg.slots[s].generation == uint32(id.Generation())
}

// read makes in t.spare what an entity will be with the image, starting from what it is.
func (t *table) read(w *World, pg *page, s int, here bool, image []int32) error {
	c := t.class
	if t.spare == nil {
		t.spare = c.kind.alloc(1)
	}
	switch {
	case !here:
		c.kind.wipe(t.spare, 1)
	case c.deep:
		c.kind.clone(t.spare, t.at(pg, s))
	default:
		c.kind.move(t.spare, t.at(pg, s), 1)
	}
	return c.read(w, t.spare, image)
}

// read sets the fields at p from an image, which must be one that packing makes.
func (c *ClassInfo) read(w *World, p unsafe.Pointer, image []int32) error {
	v := c.kind.syncer(p)
	if len(image) == c.layout.Len() {
		for i := range c.blanks {
			c.blanks[i].apply(p, image)
		}
	}
	if err := c.layout.Unpack(&w.sync, v, image); err != nil {
		return err
	}
	again := w.scratch[:len(image)]
	if err := c.layout.Pack(&w.sync, v, again); err != nil {
		return err
	}
	if !slices.Equal(image, again) {
		return errors.New("the image is not one that an entity has")
	}
	if c.derives {
		c.kind.derive(p)
	}
	return nil
}

// Drop takes an entity out of a partial world at once: it left the view. Nothing is remembered of
// it but the saved events that were about it, as it may come back; Forget is for one that was
// removed.
func (w Host) Drop(id ID) {
	if !w.settings.Partial {
		return
	}
	if pg, s := w.entity(id); pg != nil {
		w.tables[id.Class()].free(pg, s)
		pg.slots[s] = slot{}
		pg.away &^= 1 << s
	}
}

// Lend takes an entity out of a whole world at once, because another server has it from now on. If
// it is of this world's allocator, its identifier stays taken until Put brings it back or Forget
// says that it is no more.
func (w Host) Lend(id ID) {
	pg, s := w.entity(id)
	if pg == nil || w.settings.Partial || pg.away>>s&1 != 0 {
		return
	}
	w.tables[id.Class()].free(pg, s)
	pg.away |= 1 << s
	w.release(pg, s, id)
	for _, e := range w.events {
		e.forget(w.World)
	}
}

// Forget gives up the identifier of an entity that was lent and is no more. In a partial world it
// takes out an entity that was removed, as Drop does, and the saved events that were about it.
func (w Host) Forget(id ID) {
	if id.Class() >= len(w.tables) || id == None {
		return
	}
	if w.settings.Partial {
		w.Drop(id)
		for _, e := range w.events {
			e.disown(id)
		}
		return
	}
	t := w.tables[id.Class()]
	if t.lent(id) && id.Generation() != lastGeneration {
		pg, s := t.slotOf(id)
		pg.away &^= 1 << s
		pg.bank.low = min(pg.bank.low, int(pg.number))
	}
}

// entity finds an entity that is not a state.
func (w *World) entity(id ID) (*page, int) {
	if id.Class() < len(w.tables) && w.game.classes[id.Class()].state {
		return nil, 0
	}
	return w.find(id)
}

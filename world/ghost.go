package world

import (
	"errors"
	"fmt"
	mathbits "math/bits"
	"reflect"
	"unsafe"
)

// A ghost is an entity that belongs to another world of those into which one was divided, or a
// state whose home is another, and of which a copy is here to be looked at: its image, owner and
// name, as that world told them last. It is not stepped. In a page its slot is both live and away.

// ErrGhost says that rules tried to change what belongs to another server. Use errors.Is.
var ErrGhost = errors.New("it belongs to another server, and is a ghost here; use world.Act")

// Ghost says whether an entity or state is here only to be looked at, since it belongs to another
// server. What is to be done to it is done by Act. In a world that is not divided there are none.
func (w *World) Ghost(id ID) bool {
	pg, s := w.find(id)
	return pg != nil && pg.away>>s&1 != 0
}

// errWhole says that a world is not one of several.
var errWhole = errors.New("world: only a world that was divided has ghosts; see Host.Divide")

// PutGhost sets a ghost from its image, or brings it into the world, between ticks and at once. The
// image may come from a stranger; if it is not one that a world makes, nothing is changed. What
// this world owns it refuses. Server-only fields of a ghost are zero.
func (w Host) PutGhost(id ID, e Entry, image []int32) error {
	if !w.settings.Divided {
		return errWhole
	}
	t, err := w.placeFor(id, true)
	if err != nil {
		return err
	}
	pg, s, here := t.place(id)
	sl := slot{
		by: e.Origin.By, tick: uint32(e.Origin.Tick), ordinal: e.Origin.Ordinal, owner: e.Owner,
		generation: uint32(id.Generation())}
	bit := uint64(1) << s
	if here && pg.slots[s] == sl && equal(t.image(pg, s), image) {
		return nil
	}
	if err := t.read(w.World, pg, s, here, image); err != nil {
		return fmt.Errorf("world: entity %v of class %s: %w", id, t.class.name, err)
	}
	t.settle(pg, s, here, sl, t.spare, image)
	pg.away |= bit
	pg.touched |= bit
	t.ghosts++
	return nil
}

func equal(a, b []int32) bool {
	if len(a) != len(b) {
		return false
	}
	for i, v := range a {
		if v != b[i] {
			return false
		}
	}
	return true
}

// SetGhost makes a ghost of what this world owns, between ticks and at once, since another server
// has it from now on: what Lend does, and PutGhost with its image. For a state, that one is its
// home.
func (w Host) SetGhost(id ID) {
	pg, s := w.find(id)
	if pg == nil || !w.settings.Divided || pg.away>>s&1 != 0 {
		return
	}
	t := w.tables[id.Class()]
	pg.away |= 1 << s
	t.ghosts++
	t.census++
	t.plain(t.at(pg, s))
	if pg.past != nil {
		t.plain(t.pastOf(pg, s))
	}
	for _, e := range w.events {
		e.disown(id)
	}
}

// plain empties the server-only fields of an entity.
func (t *table) plain(at unsafe.Pointer) { blankOut(at, t.class.server) }

// DropGhost takes a ghost out of the world, between ticks and at once: it is too far away to
// matter, or was removed. States are always there.
func (w Host) DropGhost(id ID) {
	pg, s := w.entity(id)
	if pg == nil || pg.away>>s&1 == 0 {
		return
	}
	w.tables[id.Class()].free(pg, s)
	w.release(pg, s, id)
	for _, e := range w.events {
		e.disown(id)
	}
}

// release gives up the slot of an entity that is not here any more, if its identifier is of another
// allocator.
func (w *World) release(pg *page, s int, id ID) {
	if id.Allocator() != w.settings.Allocator {
		pg.slots[s] = slot{}
		pg.away &^= 1 << s
	}
}

// Ghosts is how many ghosts there are of a class; of a state, whether it is one.
func (w Host) Ghosts(class int) int {
	if class < 0 || class >= len(w.tables) {
		return 0
	}
	return w.tables[class].ghosts
}

// placeFor gives the table for a ghost, or for an entity that another world gives away, or says why
// this world may not have it.
func (w *World) placeFor(id ID, ghost bool) (*table, error) {
	if id.Class() >= len(w.tables) || id.Generation() == 0 {
		return nil, fmt.Errorf("world: entity %v: %w: the game has no such class", id, ErrPlace)
	}
	t := w.tables[id.Class()]
	fail := func(why string) (*table, error) {
		return nil, fmt.Errorf("world: entity %v of class %s: %w: %s", id, t.class.name, ErrPlace,
			why)
	}
	pg, s := t.find(id)
	if t.class.state && pg == nil {
		return fail("a state has one ID and no other")
	}
	if pg != nil {
		if pg.away>>s&1 == 0 {
			return fail("it is this world's own")
		}
		return t, nil
	}
	limit, n := t.class.limit, t.ghosts
	if !ghost {
		limit, n = w.room(t), t.count-t.ghosts
	}
	switch {
	case id.Index() >= t.end:
		return fail("its index is beyond the class's limit")
	case n >= limit:
		return fail("the class is at its limit")
	case id.Allocator() == w.settings.Allocator && !t.lent(id):
		return fail("it is of this world's own allocator, and was not lent")
	case t.occupied(id) && !t.haunted(id):
		return fail("another entity has its index")
	}
	return t, nil
}

// room is how many entities of a class may be this world's own. One that is refused at a border is
// nowhere, so there more may come than may be spawned.
func (w *World) room(t *table) int {
	if w.settings.Divided {
		return 2 * t.class.limit
	}
	return t.class.limit
}

// haunted says whether a ghost has the index of an identifier.
func (t *table) haunted(id ID) bool {
	pg, s := t.slotOf(id)
	return pg != nil && (pg.live&pg.away)>>s&1 != 0
}

// guard takes back what was done to the ghosts of a page.
func (t *table) guard(w *World, pg *page) {
	for m := pg.live & pg.away; m != 0; m &= m - 1 {
		s := mathbits.TrailingZeros64(m)
		plain := !t.class.deep && pg.past != nil && !pg.stale
		if plain && same(t.at(pg, s), t.pastOf(pg, s), t.size) {
			continue
		}
		if field := t.written(w, pg, s); field != "" {
			w.trespass(t.class, t.id(pg, s), "field "+field+" is written")
			t.mend(w, pg, s, plain)
		}
	}
}

// written says which field of a ghost is not as its image has it, if one is not. What is derived
// may be anything.
func (t *table) written(w *World, pg *page, s int) string {
	c, at, image := t.class, t.at(pg, s), t.image(pg, s)
	for i := range c.server {
		l := &c.server[i]
		if l.kind == reflect.String {
			if *(*string)(unsafe.Add(at, l.offset)) != "" {
				return l.path
			}
		} else if l.bits(at) != 0 {
			return l.path
		}
	}
	now := w.scratch[:len(image)]
	copy(now, image)
	err := c.layout.Pack(&w.sync, c.kind.syncer(at), now)
	for i := range now {
		if now[i] != image[i] {
			return c.layout.Schema().Slots[i].Name
		}
	}
	if err != nil {
		return "(" + err.Error() + ")"
	}
	return ""
}

// mend makes a ghost again what its image says.
func (t *table) mend(w *World, pg *page, s int, plain bool) {
	at := t.at(pg, s)
	if plain {
		t.class.kind.move(at, t.pastOf(pg, s), 1)
		return
	}
	t.plain(at)
	if err := t.class.read(w, at, t.image(pg, s)); err != nil {
		w.fail(t.class.name, t.id(pg, s), err) // it was read from that before
	}
}

// trespass notes that rules changed, or were to change, what belongs to another server.
func (w *World) trespass(c *ClassInfo, id ID, what string) {
	w.cluster.undone++
	switch {
	case w.cluster.border != nil:
		w.cluster.border.note(w, c, id, what)
	case w.settings.Develop:
		w.fail(c.name, id, fmt.Errorf("%s: %w", what, ErrGhost))
	}
}

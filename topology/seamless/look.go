package seamless

import (
	"slices"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/world"
	"github.com/coeval-dev/coeval/zone"
)

// ghosts are what other zones show, and who does.
type ghosts struct {
	all map[world.ID]ghost
	// leaving are those that went from here to another zone that has not shown them yet, by when.
	leaving []leaving
}

// ghost is an entity of another zone.
type ghost struct {
	from zone.ID
	tick world.Tick // of from, when it showed this last
	// until is when it is dropped unless from shows it before, 0 if it is shown already.
	until world.Tick
}

type leaving struct {
	id    world.ID
	until world.Tick
}

// patience is for how many ticks an entity that went is still shown here, if the zone to which it
// went says nothing of it.
const patience = 120

// left has an entity be a ghost of the zone to which it went.
func (g *ghosts) left(id world.ID, to zone.ID, now world.Tick) {
	g.all[id] = ghost{from: to, tick: now, until: now + patience}
	g.leaving = append(g.leaving, leaving{id, now + patience})
}

// expire drops those of which nobody has said anything.
func (g *ghosts) expire(w *world.World) {
	n := 0
	for n < len(g.leaving) && g.leaving[n].until <= w.Tick() {
		l := g.leaving[n]
		if have, ok := g.all[l.id]; ok && have.until == l.until {
			w.Host().DropGhost(l.id)
			delete(g.all, l.id)
		}
		n++
	}
	if n > 0 {
		g.leaving = append(g.leaving[:0], g.leaving[n:]...)
	}
}

// forgetZone drops what a zone showed before a tick.
func (g *ghosts) forgetZone(w *world.World, from zone.ID, before world.Tick) {
	// In no order: dropping one and dropping another lead to the same world.
	for id, have := range g.all {
		if have.from == from && have.tick < before && have.until == 0 {
			w.Host().DropGhost(id)
			delete(g.all, id)
		}
	}
}

// views are by which numbers other zones show entities, by zone.
type views []*view

// view is what another zone shows.
type view struct {
	zone zone.ID
	tick world.Tick // of that zone, at last
	at   world.Tick // of this one, then
	ids  [sections][]world.ID
}

// Each zone shows what is near a border; home also shows what everybody is to see.
const (
	nearby = iota
	global
	sections
)

// of gives what a zone shows.
func (v *views) of(id zone.ID) *view {
	at, ok := slices.BinarySearchFunc(*v, id, func(v *view, id zone.ID) int {
		return int(int64(v.zone) - int64(id))
	})
	if !ok {
		*v = slices.Insert(*v, at, &view{zone: id})
	}
	return (*v)[at]
}

// How things are shown, bit by bit:
//
//	1  whether it is all there is, so that what is not mentioned is not there any more
//	   for each section:
//	16 how many numbers there are
//	   for each thing that is mentioned:
//	1    a one; there is a zero behind the last
//	     its number: a one if it follows the last, or else a zero and the number
//	2    what of it, as below
const (
	ofChange = iota // fields that have changed
	ofWhole         // all of it
	ofGone          // it is not shown any more, or went to another zone
	ofOwner         // what goes along with it, and fields
)

// look takes in what another zone shows.
func (b *body) look(g *zone.Ghost) {
	v := b.views.of(g.From)
	v.tick, v.at = world.Tick(g.Tick), b.w.Tick()+1
	b.ages[min(max(v.at, v.tick+1)-v.tick-1, agesCounted-1)]++
	d := &b.shows.draft
	d.r.Reset(g.Data)
	whole := d.r.ReadBool()
	for s := range sections {
		if !b.section(v, s, whole) {
			b.faults.strange++
			return
		}
	}
	if whole {
		b.ghosts.forgetZone(b.w, g.From, v.tick)
	}
}

func (b *body) section(v *view, section int, whole bool) bool {
	d := &b.shows.draft
	if whole {
		clear(v.ids[section])
	}
	size := int(d.r.ReadBits(16))
	if size > len(v.ids[section]) {
		v.ids[section] = append(v.ids[section], make([]world.ID, size-len(v.ids[section]))...)
	}
	ids := v.ids[section]
	last := -1
	for d.r.ReadBool() {
		last++
		if !d.r.ReadBool() {
			last = int(d.r.ReadBits(widthOf(size)))
		}
		if d.r.Err() != nil || last >= size {
			return false
		}
		if !b.mention(v, &ids[last]) {
			return false
		}
	}
	return d.r.Err() == nil
}

// mention takes in one thing that is shown.
func (b *body) mention(v *view, id *world.ID) bool {
	d := &b.shows.draft
	switch d.r.ReadBits(2) {
	case ofChange:
		return b.changed(v, *id, b.w.Host().Entry(*id))
	case ofWhole:
		*id = world.ID(d.r.ReadBits(64))
		var e world.Entry
		d.readEntry(&e)
		if int(id.Class()) >= len(b.where) || d.r.Err() != nil {
			return false
		}
		slots := b.game.Classes()[id.Class()].Schema().Slots
		image := d.room(len(slots))
		for i := range slots {
			image[i] = d.readSlot(&slots[i])
		}
		return b.put(v, *id, e, image)
	case ofOwner:
		var e world.Entry
		d.readEntry(&e)
		return b.changed(v, *id, e)
	default:
		to := zone.ID(0)
		if d.r.ReadBool() {
			to = zone.ID(d.r.ReadBits(32))
		}
		if d.r.Err() != nil {
			return false
		}
		b.goneFrom(v, *id, to)
		*id = world.None
		return true
	}
}

// changed takes in what has changed of a thing that is known.
func (b *body) changed(v *view, id world.ID, e world.Entry) bool {
	d := &b.shows.draft
	if id == world.None || id.Class() >= len(b.where) {
		return false
	}
	slots := b.game.Classes()[id.Class()].Schema().Slots
	image := d.room(len(slots))
	have := b.w.Host().Image(id)
	copy(image, have)
	for from := 0; from < len(slots); from += 8 {
		if !d.r.ReadBool() {
			continue
		}
		mask := d.r.ReadBits(min(8, len(slots)-from))
		for i := range min(8, len(slots)-from) {
			if mask>>i&1 != 0 {
				image[from+i] = d.readSlot(&slots[from+i])
			}
		}
	}
	if d.r.Err() != nil {
		return false
	}
	if have == nil {
		return true // there was no room for it
	}
	return b.put(v, id, e, image)
}

// put shows a thing here, unless a zone has said something newer of it.
func (b *body) put(v *view, id world.ID, e world.Entry, image []int32) bool {
	if b.shows.draft.r.Err() != nil {
		return false
	}
	if b.w.Has(id) && !b.w.Ghost(id) {
		return true // it has come here since
	}
	state := b.where[id.Class()].state
	have, ok := b.ghosts.all[id]
	if ok && have.from != v.zone && have.tick >= v.tick {
		return true
	}
	if err := b.w.Host().PutGhost(id, e, image); err != nil {
		b.faults.strange++
		return true // it is not seen, and may be later
	}
	if !state {
		b.ghosts.all[id] = ghost{from: v.zone, tick: v.tick}
	}
	return true
}

// goneFrom drops a thing that a zone shows no more; or leaves it, if that went to a zone that is
// about to show it.
func (b *body) goneFrom(v *view, id world.ID, to zone.ID) {
	have, ok := b.ghosts.all[id]
	switch {
	case !ok || have.from != v.zone:
	case to != 0:
		b.ghosts.left(id, to, b.w.Tick())
	default:
		b.w.Host().DropGhost(id)
		delete(b.ghosts.all, id)
	}
}

// draft is what is written and read, in memory that is used again.
type draft struct {
	w     bits.Writer
	r     bits.Reader
	buf   []byte
	image []int32
}

func (d *draft) room(n int) []int32 {
	if len(d.image) < n {
		d.image = make([]int32, n)
	}
	return d.image[:n]
}

// widthOf is how many bits the numbers below a limit take.
func widthOf(limit int) int {
	n := 0
	for limit > 1<<n {
		n++
	}
	return n
}

func slotWidth(s *bits.Slot) int {
	n, span := 0, uint64(int64(s.Max)-int64(s.Min))
	for span>>n != 0 {
		n++
	}
	return n
}

func (d *draft) writeSlot(s *bits.Slot, v int32) {
	d.w.WriteBits(uint64(int64(v)-int64(s.Min)), slotWidth(s))
}

func (d *draft) readSlot(s *bits.Slot) int32 {
	return int32(min(int64(s.Min)+int64(d.r.ReadBits(slotWidth(s))), int64(s.Max)))
}

func (d *draft) writeEntry(e *world.Entry) {
	owned, made := e.Owner != world.Nobody, e.Origin != (world.Name{})
	d.w.WriteBool(owned)
	if owned {
		d.w.WriteBits(uint64(e.Owner), 16)
	}
	d.w.WriteBool(made)
	if made {
		d.w.WriteBits(uint64(e.Origin.By), 64)
		d.w.WriteBits(uint64(e.Origin.Tick), 64)
		d.w.WriteBits(uint64(e.Origin.Ordinal), 16)
	}
}

func (d *draft) readEntry(e *world.Entry) {
	if d.r.ReadBool() {
		e.Owner = world.Player(d.r.ReadBits(16))
	}
	if d.r.ReadBool() {
		e.Origin.By = world.ID(d.r.ReadBits(64))
		e.Origin.Tick = world.Tick(d.r.ReadBits(64))
		e.Origin.Ordinal = uint16(d.r.ReadBits(16))
	}
}

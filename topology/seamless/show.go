package seamless

import (
	"slices"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/world"
	"github.com/coeval-dev/coeval/zone"
)

// shows are what this zone shows to others: to each that is near what is within its reach, and from
// home to all what everybody is to see. It follows from the world, is no part of it, and is made
// anew by who loads it.
type shows struct {
	near []*audience // in the order of body.near
	all  audience    // what home shows everybody
	far  []zone.ID   // those that home shows that to and that are not near
	turn int         // whose turn it is of those
	draft
}

// audience is what is shown to one zone, or to all. Each thing has a number there while it is
// shown, and until the other side is known to have heard that it is not.
type audience struct {
	rows []row
	free []int
	at   map[world.ID]int
	// complete is since when rows have been there for all that was shown. To who knows only of a
	// time before all has to be shown anew.
	complete world.Tick
	changed  world.Tick // when anything has changed at last
	heard    world.Tick // what the other side was known to have when it was shown something last
	first    int        // the row with which to begin
	gateway  bool       // whose rows are told to be gone also to who is shown everything anew
	players  bool       // the rows are commands of players, whose numbers are their names
}

// slotsOf are those of a row.
func (a *audience) slotsOf(g *world.Game, id world.ID) []bits.Slot {
	if a.players {
		return g.Commands().Slots
	}
	return g.Classes()[id.Class()].Schema().Slots
}

// row is one thing that is shown.
type row struct {
	id    world.ID
	gone  bool
	to    zone.ID    // where it went, if it is gone and that is known
	since world.Tick // when it came, or went
	owner world.Tick // when what goes along with it has changed last
	last  world.Tick // when anything has
	stamp world.Tick // when it was there last
	entry world.Entry
	image []int32
	slots []world.Tick // when each has changed last
}

// showBytes is the most that is shown to a zone in a tick: the rest follows in the next. A tick of
// package zone takes eight times as much.
const showBytes = 11 << 10

// maxRows is how many things are shown to a zone.
const maxRows = 1<<16 - 1

// keepShowing is after how many ticks a zone is shown that nothing has changed.
const keepShowing = 8

// farAtOnce is to how many zones that are not near home shows something in a tick.
const farAtOnce = 8

func (s *shows) begin(b *body, now world.Tick) {
	if s.buf == nil {
		s.buf = make([]byte, showBytes)
	}
	s.near = s.near[:0]
	for range b.near {
		s.near = append(s.near, newAudience(now))
	}
	s.all = *newAudience(now)
	s.reach(b)
}

// reach finds out to whom home shows what everybody is to see, beside those that are near.
func (s *shows) reach(b *body) {
	s.far, s.turn = nil, 0
	if !b.home() {
		return
	}
	for _, id := range b.plan.All() {
		if id != b.self && !slices.Contains(b.near, id) {
			s.far = append(s.far, id)
		}
	}
}

func newAudience(now world.Tick) *audience {
	return &audience{at: map[world.ID]int{}, complete: now + 1}
}

// see has a thing be shown as it is after this tick.
func (a *audience) see(id world.ID, e world.Entry, image []int32, now world.Tick) {
	n, ok := a.at[id]
	if !ok {
		if len(a.rows) >= maxRows && len(a.free) == 0 {
			return
		}
		n = a.open(id, len(image))
		a.at[id] = n
	}
	r := &a.rows[n]
	if !ok || r.gone {
		r.gone, r.to, r.since, r.owner, r.last = false, 0, now, now, now
		r.entry = e
		copy(r.image, image)
		for i := range r.slots {
			r.slots[i] = now
		}
		r.stamp, a.changed = now, now
		return
	}
	r.stamp = now
	if r.entry != e {
		r.entry, r.owner, r.last, a.changed = e, now, now, now
	}
	for i, v := range image {
		if r.image[i] != v {
			r.image[i], r.slots[i], r.last, a.changed = v, now, now, now
		}
	}
}

// keep has a thing be shown as it was, if it is shown.
func (a *audience) keep(id world.ID, now world.Tick) bool {
	n, ok := a.at[id]
	if !ok || a.rows[n].gone {
		return false
	}
	a.rows[n].stamp = now
	return true
}

// open finds a row for a thing with so many numbers.
func (a *audience) open(id world.ID, size int) int {
	n := len(a.rows)
	if k := len(a.free); k > 0 {
		n, a.free = a.free[k-1], a.free[:k-1]
	} else {
		a.rows = append(a.rows, row{})
	}
	r := &a.rows[n]
	if cap(r.image) < size {
		r.image, r.slots = make([]int32, size), make([]world.Tick, size)
	}
	*r = row{id: id, image: r.image[:size], slots: r.slots[:size]}
	return n
}

// close notes what is not shown any more after this tick, and gives up the numbers of those of
// which everybody has heard, or has had time to.
func (a *audience) close(now world.Tick, went func(world.ID) zone.ID) {
	for n := range a.rows {
		r := &a.rows[n]
		switch {
		case r.id == world.None || r.stamp == now:
		case !r.gone:
			r.gone, r.since, r.last = true, now, now
			r.to, a.changed = went(r.id), now
		case r.since <= a.heard || now-r.since > 5*patience:
			a.complete = max(a.complete, r.since)
			delete(a.at, r.id)
			r.id = world.None
			a.free = append(a.free, n)
		}
	}
}

// Observe appends what another zone is to see.
func (b *body) Observe(to zone.ID, since zone.Tick, dst []byte) []byte {
	d := &b.shows.draft
	d.w.Reset(d.buf)
	known, now := world.Tick(since), b.w.Tick()
	lists := [sections]*audience{}
	if i := slices.Index(b.near, to); i >= 0 {
		lists[nearby] = b.shows.near[i]
		b.shows.near[i].heard = known
	}
	if b.home() {
		lists[global] = &b.shows.all
	}
	whole := known == 0
	for _, a := range lists {
		whole = whole || a != nil && known < a.complete
	}
	d.w.WriteBool(whole)
	if whole {
		known = 0
	}
	for _, a := range lists {
		if a == nil {
			d.w.WriteBits(0, 16)
			d.w.WriteBool(false)
			continue
		}
		d.write(a, b.game, known, now)
	}
	return append(dst, d.w.Bytes()...)
}

// endBits are kept free for what follows a section.
const endBits = 64

// write tells what has changed of an audience's rows since a tick. What there is no room for counts
// as changed after this tick, so that it comes in the next, where it is the first.
func (d *draft) write(a *audience, g *world.Game, known, now world.Tick) {
	d.w.WriteBits(uint64(len(a.rows)), 16)
	last, full, width := -1, false, widthOf(len(a.rows))
	for k := range a.rows {
		i := (a.first + k) % len(a.rows)
		r := &a.rows[i]
		if r.id == world.None || r.last <= known || r.gone && known == 0 && !a.gateway {
			continue
		}
		if !full {
			before := d.w.Mark()
			d.w.WriteBool(true)
			next := i == last+1
			d.w.WriteBool(next)
			if !next {
				d.w.WriteBits(uint64(i), width)
			}
			d.writeRow(r, a.slotsOf(g, r.id), known)
			if d.w.Err() == nil && d.w.Room() >= endBits {
				last = i
				continue
			}
			d.w.Rewind(before)
			full, a.first = true, i
		}
		r.postpone(known, now+1)
		a.changed = now + 1
	}
	d.w.WriteBool(false)
}

// writeRow tells what has changed of one.
func (d *draft) writeRow(r *row, slots []bits.Slot, known world.Tick) {
	switch {
	case r.gone:
		d.w.WriteBits(ofGone, 2)
		d.w.WriteBool(r.to != 0)
		if r.to != 0 {
			d.w.WriteBits(uint64(r.to), 32)
		}
		return
	case r.since > known:
		d.w.WriteBits(ofWhole, 2)
		d.w.WriteBits(uint64(r.id), 64)
		d.writeEntry(&r.entry)
		for i := range slots {
			d.writeSlot(&slots[i], r.image[i])
		}
		return
	case r.owner > known:
		d.w.WriteBits(ofOwner, 2)
		d.writeEntry(&r.entry)
	default:
		d.w.WriteBits(ofChange, 2)
	}
	for from := 0; from < len(slots); from += 8 {
		n, mask := min(8, len(slots)-from), uint64(0)
		for i := range n {
			if r.slots[from+i] > known {
				mask |= 1 << i
			}
		}
		d.w.WriteBool(mask != 0)
		if mask == 0 {
			continue
		}
		d.w.WriteBits(mask, n)
		for i := range n {
			if mask>>i&1 != 0 {
				d.writeSlot(&slots[from+i], r.image[from+i])
			}
		}
	}
}

// postpone has what changed since a tick have changed at a later one.
func (r *row) postpone(known, until world.Tick) {
	r.last = until
	switch {
	case r.gone || r.since > known:
		r.since = until
	case r.owner > known:
		r.owner = until
	}
	for i, t := range r.slots {
		if t > known {
			r.slots[i] = until
		}
	}
}

// present has other zones be shown this one, if there is anything new to see.
func (b *body) present(out *zone.Output) {
	now := b.w.Tick()
	went := func(id world.ID) zone.ID { return b.ghosts.all[id].from }
	if b.home() {
		b.shows.all.close(now, went)
	}
	for i, id := range b.near {
		a := b.shows.near[i]
		a.close(now, went)
		if b.news(a, id, now) || b.home() && b.news(&b.shows.all, id, now) {
			out.Show(id)
		}
	}
	for range min(farAtOnce, len(b.shows.far)) {
		b.shows.turn = (b.shows.turn + 1) % len(b.shows.far)
		id := b.shows.far[b.shows.turn]
		if b.news(&b.shows.all, id, now) {
			out.Show(id)
		}
	}
}

// news says whether to show an audience's rows to a zone after this tick: if anything has changed
// lately, or now and then, as it says how old what is known is.
func (b *body) news(a *audience, id zone.ID, now world.Tick) bool {
	return a.changed+keepShowing > now || (uint64(now)+uint64(id))%keepShowing == 0
}

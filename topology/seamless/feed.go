package seamless

import (
	"math"
	"slices"
	"time"

	"github.com/coeval-dev/coeval/world"
	"github.com/coeval-dev/coeval/zone"
)

// feeds are what the zones of this server show to gateways: what those want to see, after each
// tick, as differences from what they are known to have. Nothing of it is part of what a zone is.
type feeds struct {
	list []*watcher // by number
	buf  []byte
	draft
	// late counts, by gateway, commands that came when their tick was computed.
	late map[zone.ServerID]uint64
}

// watcher is a gateway.
type watcher struct {
	id    zone.ServerID
	heard time.Duration
	watch watch
	zones map[zone.ID]*feed
}

// watch is what a gateway wants to see: what is in some cells of space, or all, and what belongs to
// its players, wherever that is.
type watch struct {
	serial  uint64
	all     bool
	size    float64 // of a cell, along each axis
	cells   map[cell]struct{}
	players map[world.Player]struct{}
}

// cell is a part of space, by number along each axis.
type cell [3]int32

// feed is what one zone shows to one gateway.
type feed struct {
	epoch  uint64
	rows   [feedSections]*audience
	tick   world.Tick // that was shown last
	seen   world.Tick // that the gateway has
	events []toldEvent
	first  uint64 // the number of the first of these
	sight  bool   // something was shown in the last tick
}

// A feed has the sections of what zones show each other, and the commands of the players in view.
const (
	commanding   = sections
	feedSections = sections + 1
)

const (
	// feedBytes is the most that a zone shows to a gateway in a tick, events apart.
	feedBytes     = 24 << 10
	feedEvents    = 8 << 10
	maxFeedEvents = 1 << 14
	// forgetGate is after what time without a word a gateway is shown nothing any more.
	forgetGate = 3 * time.Second
	maxCells   = 4096
)

func cellOf(at *point, size float64) (c cell) {
	for i, x := range at {
		c[i] = int32(max(min(math.Floor(x/size), 1<<30), -1<<30))
	}
	return c
}

// wants says whether something at a place is wanted.
func (w *watch) wants(at *point, owner world.Player) bool {
	if w.all {
		return true
	}
	if _, ok := w.players[owner]; ok {
		return true
	}
	_, ok := w.cells[cellOf(at, w.size)]
	return ok
}

func (w *watch) append(b []byte) []byte {
	b = putUint(b, w.serial)
	if w.all {
		b = append(b, 1)
	} else {
		b = append(b, 0)
	}
	b = putFixed(b, math.Float64bits(w.size))
	b = putUint(b, uint64(len(w.cells)))
	for _, c := range sortedCells(w.cells) {
		for _, v := range c {
			b = putInt(b, int64(v))
		}
	}
	b = putUint(b, uint64(len(w.players)))
	for _, p := range sortedPlayers(w.players) {
		b = putUint(b, uint64(p))
	}
	return b
}

func (r *reader) watch() (w watch) {
	w.serial, w.all = r.uint(), r.byte() != 0
	w.size = math.Float64frombits(r.fixed())
	if !(w.size > 0) {
		r.fail()
	}
	w.cells, w.players = map[cell]struct{}{}, map[world.Player]struct{}{}
	for range min(r.count(), maxCells) {
		var c cell
		for i := range c {
			c[i] = int32(r.int())
		}
		w.cells[c] = struct{}{}
	}
	for range r.count() {
		w.players[world.Player(r.below(1<<16))] = struct{}{}
	}
	return w
}

func (f *feeds) open() {
	f.buf, f.late = make([]byte, feedBytes), map[zone.ServerID]uint64{}
}

func (f *feeds) find(id zone.ServerID) (int, bool) {
	return slices.BinarySearchFunc(f.list, id, func(w *watcher, id zone.ServerID) int {
		switch {
		case w.id < id:
			return -1
		case w.id > id:
			return 1
		}
		return 0
	})
}

// watched takes what a gateway wants to see.
func (f *feeds) watched(now time.Duration, from zone.ServerID, r *reader) {
	w := r.watch()
	if !r.done() {
		return
	}
	i, ok := f.find(from)
	if !ok {
		f.list = slices.Insert(f.list, i, &watcher{id: from, zones: map[zone.ID]*feed{}})
	}
	x := f.list[i]
	if x.heard = now; w.serial >= x.watch.serial {
		x.watch = w
	}
}

// seen takes how far a gateway has what it was shown.
func (f *feeds) seen(now time.Duration, from zone.ServerID, r *reader) {
	i, ok := f.find(from)
	if !ok {
		return
	}
	f.list[i].heard = now
	for len(r.b) > 0 && !r.bad {
		id, epoch := zone.ID(r.below(1<<32)), r.uint()
		tick, events := world.Tick(r.uint()), r.uint()
		x := f.list[i].zones[id]
		if r.bad || x == nil || x.epoch != epoch || tick > x.tick {
			continue
		}
		x.seen = max(x.seen, tick)
		if events > x.first && events <= x.first+uint64(len(x.events)) {
			x.events = slices.Delete(x.events, 0, int(events-x.first))
			x.first = events
		}
	}
}

// tend shows what the zones have computed.
func (f *feeds) tend(n *node) {
	if len(f.list) == 0 {
		return
	}
	f.list = slices.DeleteFunc(f.list, func(w *watcher) bool {
		gone := n.now-w.heard > forgetGate
		if gone {
			delete(f.late, w.id)
		}
		return gone
	})
	for _, v := range n.zones.Zones() {
		b := v.Body.(*body)
		for _, w := range f.list {
			x := w.zones[v.Zone]
			if x == nil || x.epoch != v.Epoch || b.w.Tick() < x.tick {
				x = b.openFeed(v.Epoch)
				w.zones[v.Zone] = x
			}
			if x.tick == b.w.Tick() {
				continue
			}
			x.look(b, &w.watch)
			if x.idle(b, w.id) {
				continue
			}
			f.send(n, w, x, b, &v)
		}
	}
	for _, w := range f.list {
		for id := range w.zones {
			if n.body(id) == nil {
				delete(w.zones, id) // it is another server's now
			}
		}
	}
}

// openFeed begins to show a zone: with the events that it keeps, and those of its last ticks, of
// which a gateway may have heard from the owner before.
func (b *body) openFeed(epoch uint64) *feed {
	x := &feed{epoch: epoch, first: 1}
	for i := range x.rows {
		x.rows[i] = newAudience(b.w.Tick() - min(1, b.w.Tick()))
		x.rows[i].gateway = true
	}
	x.rows[commanding].players = true
	x.events = b.recent.saved(b)
	for _, e := range b.recent.list {
		if !slices.ContainsFunc(x.events, func(o toldEvent) bool {
			return o.tick == e.tick && slices.Equal(o.data, e.data)
		}) {
			x.events = append(x.events, e)
		}
	}
	x.tick = 0
	return x
}

// look finds what a gateway is to see of a zone after a tick.
func (x *feed) look(b *body, w *watch) {
	h, now, before := b.w.Host(), b.w.Tick(), x.tick
	var shown []world.Player
	for class := range b.where {
		p := &b.where[class]
		for id := range h.Of(class) {
			if b.w.Ghost(id) && !b.hasJustLeft(id) {
				continue
			}
			image, a, owner := h.Image(id), x.rows[global], b.w.Owner(id)
			if len(p.slots) > 0 {
				at := p.at(image)
				if a = x.rows[nearby]; !w.wants(&at, owner) {
					continue
				}
			}
			a.see(id, h.Entry(id), image, now)
			if owner != world.Nobody {
				shown = append(shown, owner)
			}
		}
	}
	x.command(b, shown)
	for _, a := range x.rows {
		a.heard = x.seen
		a.close(now, b.whither)
	}
	for _, e := range b.recent.list {
		if before != 0 && e.tick > before && len(x.events) < maxFeedEvents && x.concerns(&e) {
			x.events = append(x.events, e)
		}
	}
	x.tick, x.sight = now, len(x.rows[nearby].at)+len(x.rows[global].at) > 0
}

// hasJustLeft says whether something went to another zone after the tick that was computed, so that
// nobody else shows what it was then.
func (b *body) hasJustLeft(id world.ID) bool {
	g, ok := b.ghosts.all[id]
	return ok && g.tick == b.w.Tick() && g.until == b.w.Tick()+patience && g.from != b.self
}

// command shows what those command who have something in view.
func (x *feed) command(b *body, players []world.Player) {
	schema := b.game.Commands()
	if schema == nil {
		return
	}
	slices.Sort(players)
	image := b.shows.room(len(schema.Slots))
	for _, p := range slices.Compact(players) {
		if b.w.Host().RelayImage(p, image) {
			x.rows[commanding].see(world.ID(p), world.Entry{}, image, b.w.Tick())
		}
	}
}

// concerns says whether an event is of something that is in view, or of nothing that could be.
func (x *feed) concerns(e *toldEvent) bool {
	if e.about == world.None && e.by == world.None {
		return true
	}
	for _, id := range [...]world.ID{e.by, e.about} {
		for _, a := range x.rows[:commanding] {
			if _, ok := a.at[id]; ok && id != world.None {
				return true
			}
		}
	}
	return false
}

// whither says where something went that was here, as far as is known.
func (b *body) whither(id world.ID) zone.ID {
	if g, ok := b.ghosts.all[id]; ok {
		return g.from
	}
	return b.went[id]
}

// idle says whether there is nothing to tell in this tick.
func (x *feed) idle(b *body, to zone.ServerID) bool {
	if x.sight || len(x.events) > 0 {
		return false
	}
	for _, a := range x.rows {
		if a.changed > x.seen {
			return false
		}
	}
	return (uint64(b.w.Tick())+uint64(to)+uint64(b.self))%keepShowing != 0
}

// send tells a gateway.
func (f *feeds) send(n *node, w *watcher, x *feed, b *body, v *zone.View) {
	known := x.seen
	for _, a := range x.rows {
		if known < a.complete {
			known = 0
		}
	}
	f.w.Reset(f.buf)
	for _, a := range x.rows {
		f.write(a, b.game, known, x.tick)
	}
	m := append(n.asking.buf[:0], saysFeed)
	m = putUint(putUint(m, uint64(b.self)), v.Epoch)
	m = putUint(putUint(m, uint64(x.tick)), uint64(x.tick-known))
	m = putUint(m, uint64(x.tick-min(x.tick, world.Tick(v.Durable))))
	m = putUint(m, f.late[w.id])
	m = putBytes(m, f.w.Bytes())
	m = putUint(m, x.first)
	size := 0
	for i := range x.events {
		if size += len(x.events[i].data); i > 0 && size > feedEvents {
			break
		}
		m = putBytes(m, x.events[i].data)
	}
	n.asking.buf = m
	n.lines.send(w.id, true, m)
}

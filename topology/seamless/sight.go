package seamless

import (
	"slices"
	"time"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/world"
	"github.com/coeval-dev/coeval/zone"
)

// sight is what zones show a gateway, and who does. What comes of a tick waits until all zones in
// view have shown it, so that all that is in the world is of one tick.
type sight struct {
	views   []*gateView // by zone
	all     map[world.ID]held
	players map[world.Player]held
	leaving []departing
	bodies  map[world.Player]world.ID
	jumped  bool
	draft
	ack []byte
}

// held is by which zone something was shown last.
type held struct {
	zone zone.ID
	tick world.Tick
	// doubt is until when it stays although the zone's new owner has not shown it, or 0.
	doubt world.Tick
}

// departing went to a zone that has not shown it yet.
type departing struct {
	id world.ID
	to zone.ID
	at world.Tick
}

// gateView is one zone, as it shows itself.
type gateView struct {
	zone    zone.ID
	server  zone.ServerID
	epoch   uint64
	tick    world.Tick // that is in the world
	latest  world.Tick // that has come
	durable world.Tick
	heard   time.Duration
	ids     [feedSections][]world.ID
	shown   int // how many of them are something
	queue   []fed
	spare   [][]byte
	event   uint64 // the number of the next
	late    uint64
	tell    bool // it is to be told how far this has come
}

// fed is what a zone has shown of a tick.
type fed struct {
	tick, since world.Tick
	data        []byte
}

const (
	maxFed = 64
	// doubted is for how many ticks something stays that the new owner of its zone has not shown.
	doubted = 60
	// arriving is after how many ticks of its new zone something is given up that went there, and
	// is not shown.
	arriving = 30
)

func (s *sight) open() {
	s.all, s.players = map[world.ID]held{}, map[world.Player]held{}
	s.bodies = map[world.Player]world.ID{}
}

func (s *sight) at(id zone.ID) (int, bool) {
	return slices.BinarySearchFunc(s.views, id, func(v *gateView, id zone.ID) int {
		return int(int64(v.zone) - int64(id))
	})
}

func (s *sight) find(id zone.ID) *gateView {
	if i, ok := s.at(id); ok {
		return s.views[i]
	}
	return nil
}

// shows says whether anything of the zone is in view.
func (v *gateView) shows() bool { return v.shown > 0 }

// fed takes what a zone shows.
func (g *Gate) fed(from zone.ServerID, r *reader) {
	id, epoch := zone.ID(r.below(1<<32)), r.uint()
	tick := world.Tick(r.uint())
	since, durable := world.Tick(r.below(uint64(tick)+1)), world.Tick(r.below(uint64(tick)+1))
	since, durable = tick-since, tick-durable
	late := r.uint()
	rows, first := r.bytes(), r.uint()
	if r.bad || id == 0 || tick == 0 {
		g.stats.Strange++
		return
	}
	i, ok := g.sight.at(id)
	if !ok {
		g.sight.views = slices.Insert(g.sight.views, i, &gateView{zone: id, event: 1})
	}
	v := g.sight.views[i]
	if epoch < v.epoch {
		return // somebody else has the zone
	}
	if epoch > v.epoch {
		g.inherit(v, epoch)
	}
	g.stats.Feeds++
	g.stats.FeedBytes += uint64(len(rows))
	v.server, v.heard, v.durable, v.tell = from, g.n.now, max(v.durable, durable), true
	if late > v.late && v.late > 0 {
		g.stats.LateCommands += late - v.late
		g.due.lag(g.n.now, g.n.opt.Title.Game.TickLength(), true)
	}
	v.late = max(late, 1)
	for n := first; len(r.b) > 0 && !r.bad; n++ {
		if data := r.bytes(); n == v.event && !r.bad {
			v.event++
			g.tale.take(g, v, data)
		}
	}
	g.tale.told(v, tick)
	v.keep(tick, since, rows)
}

// inherit has a zone be another owner's from now on. What the one before showed stays until that
// has had time to show it, too.
func (g *Gate) inherit(v *gateView, epoch uint64) {
	v.epoch, v.tick, v.latest, v.event, v.late, v.shown = epoch, 0, 0, 1, 0, 0
	for s := range v.ids {
		v.ids[s] = v.ids[s][:0]
	}
	v.queue = v.queue[:0]
	until := g.w.Tick() + doubted
	for id, h := range g.sight.all { // in no order, as each is by itself
		if h.zone == v.zone {
			h.doubt, h.tick = until, 0
			g.sight.all[id] = h
		}
	}
	for p, h := range g.sight.players {
		if h.zone == v.zone {
			h.doubt, h.tick = until, 0
			g.sight.players[p] = h
		}
	}
	g.sight.leaving = append(g.sight.leaving, departing{at: until})
	g.tale.question(v)
}

// keep keeps what was shown of a tick until the world comes there.
func (v *gateView) keep(tick, since world.Tick, rows []byte) {
	if tick <= v.tick || len(v.queue) >= maxFed {
		return
	}
	i, ok := slices.BinarySearchFunc(v.queue, tick, func(f fed, t world.Tick) int {
		return int(int64(f.tick) - int64(t))
	})
	if ok {
		return
	}
	var data []byte
	if n := len(v.spare); n > 0 {
		data, v.spare = v.spare[n-1][:0], v.spare[:n-1]
	}
	v.queue = slices.Insert(v.queue, i, fed{tick, since, append(data, rows...)})
	v.latest = max(v.latest, tick)
}

// apply takes into the world what a zone has shown up to a tick.
func (g *Gate) apply(v *gateView, to world.Tick) {
	n := 0
	for n < len(v.queue) && v.queue[n].tick <= to {
		f := &v.queue[n]
		n++
		if f.since > v.tick && f.since != 0 {
			continue // it is a difference from what is not here
		}
		if !g.rows(v, f) {
			g.stats.Strange++
		}
		v.tick = f.tick
	}
	for _, f := range v.queue[:n] {
		v.spare = append(v.spare, f.data)
	}
	v.queue = slices.Delete(v.queue, 0, n)
	if v.shows() {
		g.stats.Ages[min(to-min(to, v.tick), agesCounted-1)]++
	}
}

func (g *Gate) rows(v *gateView, f *fed) bool {
	d := &g.sight.draft
	d.r.Reset(f.data)
	v.shown = 0
	for s := range v.ids {
		size := int(d.r.ReadBits(16))
		if size > len(v.ids[s]) {
			v.ids[s] = append(v.ids[s], make([]world.ID, size-len(v.ids[s]))...)
		}
		ids := v.ids[s]
		last := -1
		for d.r.ReadBool() {
			last++
			if !d.r.ReadBool() {
				last = int(d.r.ReadBits(widthOf(size)))
			}
			if d.r.Err() != nil || last >= size || !g.mention(v, f.tick, s, &ids[last]) {
				return false
			}
		}
		for _, id := range ids {
			if id != world.None && s < sections {
				v.shown++
			}
		}
	}
	return d.r.Err() == nil
}

// mention takes in one thing that is shown.
func (g *Gate) mention(v *gateView, tick world.Tick, section int, id *world.ID) bool {
	d := &g.sight.draft
	var e world.Entry
	switch kind := d.r.ReadBits(2); kind {
	case ofGone:
		to := zone.ID(0)
		if d.r.ReadBool() {
			to = zone.ID(d.r.ReadBits(32))
		}
		if section == commanding {
			g.unseat(v, world.Player(*id))
		} else {
			g.gone(v, *id, to)
		}
		*id = world.None
		return d.r.Err() == nil
	case ofWhole:
		*id = world.ID(d.r.ReadBits(64))
		d.readEntry(&e)
		slots, ok := g.slots(section, *id)
		if !ok || d.r.Err() != nil {
			return false
		}
		image := d.room(len(slots))
		for i := range slots {
			image[i] = d.readSlot(&slots[i])
		}
		return g.put(v, tick, section, *id, e, image, true)
	default:
		known := g.w.Has(*id)
		if section != commanding {
			e = g.w.Host().Entry(*id)
		}
		if kind == ofOwner {
			d.readEntry(&e)
		}
		slots, ok := g.slots(section, *id)
		if !ok {
			return false
		}
		image := d.room(len(slots))
		clear(image)
		if section == commanding {
			known = g.w.Host().RelayImage(world.Player(*id), image)
		} else {
			copy(image, g.w.Host().Image(*id))
		}
		d.readChanges(slots, image)
		return g.put(v, tick, section, *id, e, image, known)
	}
}

// slots are those of what is shown in a section under a name.
func (g *Gate) slots(section int, id world.ID) ([]bits.Slot, bool) {
	if section == commanding {
		schema := g.w.Game().Commands()
		return schema.Slots, id > 0 && id < 1<<16
	}
	classes := g.w.Game().Classes()
	if id == world.None || id.Class() >= len(classes) {
		return nil, false
	}
	return classes[id.Class()].Schema().Slots, true
}

// readChanges reads the slots that have changed.
func (d *draft) readChanges(slots []bits.Slot, image []int32) {
	for from := 0; from < len(slots); from += 8 {
		if !d.r.ReadBool() {
			continue
		}
		n := min(8, len(slots)-from)
		mask := d.r.ReadBits(n)
		for i := range n {
			if mask>>i&1 != 0 {
				image[from+i] = d.readSlot(&slots[from+i])
			}
		}
	}
}

// put shows a thing, unless another zone has said something newer of it.
func (g *Gate) put(v *gateView, tick world.Tick, section int, id world.ID, e world.Entry,
	image []int32, known bool) bool {
	s := &g.sight
	if s.r.Err() != nil {
		return false
	}
	now := held{zone: v.zone, tick: tick}
	if section == commanding {
		p := world.Player(id)
		if have, ok := s.players[p]; ok && have.zone != v.zone && have.tick > tick {
			return true
		}
		g.w.Host().Unseat(p)
		if g.w.Host().Seat(p, image) != nil {
			g.stats.Strange++
		}
		s.players[p] = now
		return true
	}
	have, ok := s.all[id]
	if ok && have.zone != v.zone && have.tick > tick || !known && !ok {
		return true
	}
	if err := g.w.Host().Put(id, e, image); err != nil {
		g.stats.Refused++
		return true
	}
	s.all[id] = now
	if body := g.watch.body; e.Owner != world.Nobody && (body < 0 || id.Class() == body) {
		s.bodies[e.Owner] = id
		g.due.shown(e.Owner, v.zone, tick)
	}
	return true
}

// gone drops a thing that a zone shows no more; or leaves it, if that went to a zone that is about
// to show it.
func (g *Gate) gone(v *gateView, id world.ID, to zone.ID) {
	have, ok := g.sight.all[id]
	switch {
	case !ok || have.zone != v.zone:
	case to != 0 && to != v.zone:
		g.sight.leaving = append(g.sight.leaving, departing{id, to, g.w.Tick()})
	default:
		g.drop(id)
	}
}

func (g *Gate) drop(id world.ID) {
	g.w.Host().Drop(id)
	delete(g.sight.all, id)
}

func (g *Gate) unseat(v *gateView, p world.Player) {
	if have, ok := g.sight.players[p]; ok && have.zone == v.zone {
		g.w.Host().Unseat(p)
		delete(g.sight.players, p)
	}
}

// expire drops what was not shown again by those who should.
func (g *Gate) expire() {
	s, now := &g.sight, g.w.Tick()
	s.leaving = slices.DeleteFunc(s.leaving, func(l departing) bool {
		if l.id == world.None {
			if l.at > now {
				return false
			}
			g.expireDoubted()
			return true
		}
		have, ok := s.all[l.id]
		if !ok || have.tick > l.at || have.zone == l.to {
			return true
		}
		if v := s.find(l.to); v != nil && v.tick > l.at+arriving || now > l.at+10*arriving {
			g.drop(l.id)
			return true
		}
		return false
	})
}

func (g *Gate) expireDoubted() {
	for id, h := range g.sight.all {
		if h.doubt != 0 && h.doubt <= g.w.Tick() {
			g.drop(id)
		}
	}
	for p, h := range g.sight.players {
		if h.doubt != 0 && h.doubt <= g.w.Tick() {
			g.w.Host().Unseat(p)
			delete(g.sight.players, p)
		}
	}
}

// acknowledge tells servers how far what their zones show is here.
func (g *Gate) acknowledge() {
	s := &g.sight
	for i, v := range s.views {
		if !v.tell {
			continue
		}
		s.ack = append(s.ack[:0], saysSeen)
		for _, o := range s.views[i:] {
			if o.tell && o.server == v.server {
				s.ack = putUint(putUint(s.ack, uint64(o.zone)), o.epoch)
				s.ack = putUint(putUint(s.ack, uint64(o.tick)), o.event)
				o.tell = false
			}
		}
		g.n.lines.send(v.server, true, s.ack)
	}
}

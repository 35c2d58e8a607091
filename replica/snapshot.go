package replica

import (
	"slices"

	"github.com/coeval-dev/coeval/world"
)

// A Snapshot is what one packet brought: some of what a client is shown, as it
// was on the server at one tick. All of it stays the receiver's, and is good until the next call of Next.
type Snapshot struct {
	// Tick is when it was so.
	Tick world.Tick
	// Updates are the entities that changed, came into view or left it.
	Updates []Update
	// Commands are the latest commands of other players in view.
	Commands []Relayed
	// Events are unreliable ones. Reliable ones come by Receiver.Events.
	Events []Event
	// Deferred are entities in view that changed and are not told this time. If there are too many to list, Behind is set instead.
	Deferred []world.ID
	Behind   bool
	// Certain says that whatever is in view, and neither in Updates nor Deferred, is as it was last told.
	Certain bool
	// Settled is Receiver.Settled, as of when the snapshot is handed out.
	Settled world.Tick
	// Report says that the next two are there: only the first packet of a snapshot has them.
	Report bool
	// Early is by how many quarters of a tick the newest command came before it was needed; negative if it was late.
	Early int
	// Repeated is how many commands the server had to make up since its last report.
	Repeated int

	packet uint32
	taken  uint64  // how many were taken before it
	count  uint32  // messages that must come before it
	data   []byte  // fields of events
	images []int32 // of updates, for the older strategies
}

// An Update is news of one entity.
type Update struct {
	ID    world.ID
	What  What
	Entry world.Entry
	Image []int32 // nil where it is gone
}

// What says what became of an entity.
type What uint8

const (
	// Held entities are in view, and their image is given.
	Held What = held
	// Left entities are out of view, and still there as far as is known.
	Left What = left
	// Removed entities are no more.
	Removed What = removed
)

// Relayed is what another player commanded last, as Game.Commands describes
// its image; nil if the player is no longer in view.
type Relayed struct {
	Player world.Player
	Image  []int32
}

// snapshot gives an empty one.
func (r *Receiver) snapshot() *Snapshot {
	n := len(r.pool)
	if n == 0 {
		return new(Snapshot)
	}
	s := r.pool[n-1]
	r.pool = r.pool[:n-1]
	*s = Snapshot{Updates: s.Updates[:0], Commands: s.Commands[:0], Events: s.Events[:0], Deferred: s.Deferred[:0], data: s.data[:0], images: s.images[:0]}
	return s
}

// commit takes over what a packet said, now that it is known to be right.
func (r *Receiver) commit(info packetInfo, snap *Snapshot) {
	info.acks = r.work.acks
	r.packets[info.packet%keepPackets] = info
	snap.packet, snap.taken = info.packet, r.stats.Packets
	if snap.count = info.count; r.classic == nil {
		snap.count = r.counted(info.count, info.packet)
	}
	if !r.any || int32(info.packet-r.newest) > 0 {
		r.newest, r.any, r.tick, r.before = info.packet, true, snap.Tick, snap.count
	}
	if r.classic != nil {
		r.classic.commit(info, snap)
		r.enqueue(snap)
		return
	}
	for i := range r.work.list {
		n := &r.work.list[i]
		r.displace(n, snap)
		e := r.place(n, info, snap)
		if n.what == held {
			e.add(r, info, n)
		}
		if e.what != untold && int32(info.packet-e.told) < 0 {
			continue // something newer is known
		}
		e.say(info.packet, n.what)
		if !e.passed {
			snap.add(e)
		}
	}
	r.enqueue(snap)
}

// counted completes the count of messages before a packet, of which the lowest bits are known: it is near to what has come, and not above that of a later packet.
func (r *Receiver) counted(low, packet uint32) uint32 {
	count := near(low, eventBits, r.received)
	if r.any && int32(packet-r.newest) < 0 && int32(count-r.before) > 0 {
		count = r.before - (r.before-low)&(1<<eventBits-1)
	}
	return count
}

// enqueue lets a snapshot wait for Next.
func (r *Receiver) enqueue(snap *Snapshot) {
	if len(r.queue) == 4*maxQueue { // no one takes them
		r.pool = append(r.pool, r.queue[0])
		r.queue = append(r.queue[:0], r.queue[1:]...)
	}
	r.queue = append(r.queue, snap)
}

// maxQueue is how many snapshots may wait for events that come before them.
// If there are more, the oldest waits no longer: the server will not tell again what it brings.
const maxQueue = 256

// displace lists what a handle stood for as gone, if that was still in view: a
// server forgets what it cannot tell any more.
func (r *Receiver) displace(n *news, snap *Snapshot) {
	if !n.bind || int(n.handle) >= len(r.entities) {
		return
	}
	if e := r.entities[n.handle]; e != nil && e.what == held && (e.id != n.id || e.player != n.player) {
		e.what = left
		snap.add(e)
	}
}

// say notes what was last told of an entity.
func (e *entity) say(packet uint32, what uint8) {
	if e.passed && what == held {
		what = left
	}
	e.told, e.what = packet, what
}

// entityPlace is where an entity stands in a world, whichever it is that stands there; or whose commands it is.
type entityPlace struct {
	id     world.ID
	player world.Player
}

func (e *entity) place() entityPlace {
	return entityPlace{world.MakeID(e.id.Class(), e.id.Allocator(), e.id.Index(), 0), e.player}
}

// claim sees that what stands in a place of the world is known by one handle. A server may bind another entity that has the place to another handle, or if it takes its
// world back, the same one, and packets overtake each other. What was bound last counts; what is said under the other handle has no effect on what is shown.
func (r *Receiver) claim(h int32, before entityPlace, e *entity, snap *Snapshot) {
	if holds, ok := r.places[before]; ok && holds == h {
		delete(r.places, before)
	}
	place := e.place()
	if holds, ok := r.places[place]; ok && holds != h {
		other := r.entities[holds]
		if int32(other.bound-e.bound) > 0 {
			e.passed = true
			return
		}
		other.passed = true
		if other.what == held {
			other.what = left
			if e.id != other.id || e.what != untold { // nothing will be told of it that would do
				snap.add(other)
			}
		}
	}
	r.places[place] = h
}

// place finds the entity of a handle, or makes it what the handle stands for now.
func (r *Receiver) place(n *news, info packetInfo, snap *Snapshot) *entity {
	for int(n.handle) >= len(r.entities) {
		r.entities = append(r.entities, nil)
	}
	e := r.entities[n.handle]
	if e == nil {
		e = new(entity)
		r.entities[n.handle] = e
	}
	if !n.bind {
		return e
	}
	if e.id == n.id && e.player == n.player && !e.unsure && !(e.what == removed && int32(info.packet-e.told) > 0) {
		if int32(info.packet-e.bound) < 0 {
			e.bound = info.packet
		}
		return e // told again, because the server could not know that it had come
	}
	r.recycle(e, len(e.images))
	now := entity{floor: e.floor, again: e.again, id: n.id, player: n.player, class: n.class, origin: n.origin, bound: info.packet, images: e.images}
	if e.what != untold && int32(info.packet-e.told) < 0 {
		now.told, now.what = e.told, left // it was overtaken by the news that it is gone
	}
	before := e.place()
	*e = now
	r.claim(n.handle, before, e, snap)
	return e
}

// add keeps an image. Those that no packet can be based on any more make room.
func (e *entity) add(r *Receiver, info packetInfo, n *news) {
	if drop := e.useless(r); drop > 0 {
		r.recycle(e, drop)
	}
	memory := r.memory(e.class, len(n.image))
	copy(memory, n.image)
	g := gotImage{packet: info.packet, tick: info.tick, owner: n.owner, image: memory}
	at := len(e.images)
	for at > 0 && int32(e.images[at-1].packet-info.packet) > 0 {
		at--
	}
	e.images = append(e.images, gotImage{})
	copy(e.images[at+1:], e.images[at:])
	e.images[at] = g
}

// recycle takes the oldest images off an entity. Their memory is used again
// once no snapshot that might show them waits any more.
func (r *Receiver) recycle(e *entity, n int) {
	for i := range e.images[:n] {
		r.limbo = append(r.limbo, spareImage{e.class, e.images[i].image})
	}
	e.images = append(e.images[:0], e.images[n:]...)
}

type spareImage struct {
	class int32
	image []int32
}

// memory gives room for an image of a class.
func (r *Receiver) memory(class int32, fields int) []int32 {
	if len(r.queue) == 0 && r.shown == nil {
		for _, s := range r.limbo {
			r.spare[s.class] = append(r.spare[s.class], s.image)
		}
		r.limbo = r.limbo[:0]
	}
	list := r.spare[class]
	if len(list) == 0 {
		return make([]int32, fields)
	}
	r.spare[class] = list[:len(list)-1]
	return list[len(list)-1]
}

// useless counts the oldest images that no packet can be based on any more: the
// server looks at the newest depth that it knows to have arrived, or if they
// are all older than the latest packets, at the newest keepOld that it sent. What it knew is what the oldest packet says
// that may still come.
func (e *entity) useless(r *Receiver) int {
	oldest := &r.packets[(r.newest-overtaken)%keepPackets]
	if oldest.same(r.newest - overtaken) {
		acked := 0
		for i := len(e.images) - 1; i >= 0; i-- {
			if oldest.acks.has(e.images[i].packet) {
				acked++
			}
			if acked > depth+slack {
				return i
			}
		}
	}
	old := 0
	for old < len(e.images) && int32(r.newest-e.images[old].packet) > keepPackets {
		old++
	}
	return max(old-keepOld, 0)
}

// slack is how many images are kept beyond those that the server looks at, as it may learn that one of those was of no use.
const slack = 3

// add lists the newest of an entity.
func (s *Snapshot) add(e *entity) {
	var image []int32
	if e.id == world.None && e.player == world.Nobody {
		return // it is gone before it came
	}
	u := Update{ID: e.id, What: What(e.what), Entry: world.Entry{Origin: e.origin}}
	if e.what == held {
		g := &e.images[len(e.images)-1]
		image, u.Entry.Owner = g.image, g.owner
	}
	if e.player != world.Nobody {
		s.Commands = append(s.Commands, Relayed{e.player, image})
		return
	}
	u.Image = image
	s.Updates = append(s.Updates, u)
}

// Next gives the next snapshot that can be shown, or nil. A snapshot waits for
// reliable events that the server sent before it.
func (r *Receiver) Next() *Snapshot {
	if r.shown != nil {
		r.pool = append(r.pool, r.shown)
		r.shown = nil
	}
	for i, s := range r.queue {
		if int32(s.count-r.received) > 0 && (i > 0 || len(r.queue) <= maxQueue) {
			continue
		}
		r.queue = append(r.queue[:i], r.queue[i+1:]...)
		if s.taken < r.handed { // others were made knowing of it, and did not have to wait
			r.recheck(s)
		}
		r.handed = max(r.handed, s.taken)
		r.shown, s.Settled = s, r.settled
		return s
	}
	return nil
}

// recheck leaves out of a snapshot what newer ones have told.
func (r *Receiver) recheck(s *Snapshot) {
	n := len(s.Updates) + len(s.Commands)
	s.Updates = slices.DeleteFunc(s.Updates, func(u Update) bool {
		return r.outdated(&entity{id: u.ID}, u.What == Held, s.packet)
	})
	s.Commands = slices.DeleteFunc(s.Commands, func(c Relayed) bool {
		return r.outdated(&entity{player: c.Player}, c.Image != nil, s.packet)
	})
	s.Certain = s.Certain && n == len(s.Updates)+len(s.Commands)
}

// outdated says whether it is no longer so that something is there as a packet said, or that it is gone.
func (r *Receiver) outdated(what *entity, there bool, packet uint32) bool {
	h, ok := r.places[what.place()]
	is := ok && r.entities[h].what == held && r.entities[h].id == what.id
	return is != there || there && r.entities[h].told != packet
}

// Apply brings a partial world up to what has come: its tick is that of the
// newest snapshot, and it holds what is in view. Events are delivered to it. It says whether there was anything.
func (r *Receiver) Apply(w *world.World) (changed bool, err error) {
	fail := func(e error) {
		if err == nil {
			err = e
		}
	}
	started := false
	begin := func() {
		if !started {
			started, changed = true, true
			w.Host().SetTick(r.tick)
		}
	}
	for _, e := range r.Events() {
		begin()
		if e2 := e.Deliver(w); e2 != nil {
			fail(e2)
		}
	}
	for s := r.Next(); s != nil; s = r.Next() {
		begin()
		for i := range s.Updates {
			u := &s.Updates[i]
			if u.What != Held {
				w.Host().Drop(u.ID)
			} else if e := w.Host().Put(u.ID, u.Entry, u.Image); e != nil {
				fail(e)
			}
		}
		for i := range s.Events {
			if e2 := s.Events[i].Deliver(w); e2 != nil {
				fail(e2)
			}
		}
	}
	return changed, err
}

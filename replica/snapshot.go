package replica

import (
	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/codec"
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
	// Report says that the next two are there: only the first packet of a snapshot has them.
	Report bool
	// Early is by how many quarters of a tick the newest command came before it was needed; negative if it was late.
	Early int
	// Repeated is how many commands the server had to make up since its last report.
	Repeated int

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

// An Event is something that happened once, as it came from the server.
type Event struct {
	world.Emitted
	Delivery world.Delivery
	data     []byte
}

// Fields gives a reader that stands before the event's fields, for
// World.Deliver.
func (e *Event) Fields() *bits.Reader { return bits.NewReader(e.data) }

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
	r.packets[info.packet%keepPackets] = info
	if !r.any || int32(info.packet-r.newest) > 0 {
		r.newest, r.any = info.packet, true
	}
	r.tick = max(r.tick, snap.Tick)
	if r.classic != nil {
		snap.count = info.count
		r.classic.commit(info, snap)
		r.enqueue(snap)
		return
	}
	// The count is known by its lowest bits; messages come in order.
	snap.count = near(info.count, eventBits, r.received)
	for i := range r.work.list {
		n := &r.work.list[i]
		r.displace(n, snap)
		e := r.place(n, info)
		if n.what == held {
			e.add(r, info, n)
		}
		if e.what != untold && int32(info.packet-e.told) < 0 {
			continue // something newer is known
		}
		e.told, e.what = info.packet, n.what
		snap.add(e)
	}
	r.enqueue(snap)
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

// place finds the entity of a handle, or makes it what the handle stands for now.
func (r *Receiver) place(n *news, info packetInfo) *entity {
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
	if e.id == n.id && e.player == n.player && !e.unsure {
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
	*e = now
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
// are all older than the latest packets, at the newest keepOld that it sent.
func (e *entity) useless(r *Receiver) int {
	w := &r.work
	acked := 0
	for i := len(e.images) - 1; i >= 0; i-- {
		p := e.images[i].packet
		if w.known && int32(p-w.from) <= 0 && int32(p-w.low) > 0 && w.acked.has(p) {
			acked++
		}
		if acked > depth && r.newest-p > overtaken {
			return i
		}
	}
	old := 0
	for old < len(e.images) && int32(r.newest-e.images[old].packet) > keepPackets {
		old++
	}
	return max(old-keepOld, 0)
}

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
		r.shown = s
		return s
	}
	return nil
}

// hear takes a message with events.
func (r *Receiver) hear(m *message) error {
	kept, buf := len(r.events), len(r.eventBuf)
	for m.err == nil && len(m.data) > 0 {
		var e Event
		kinds := uint64(len(r.protocol.game.Events()))
		e.Kind = uint16(m.number(kinds - 1))
		e.Tick = world.Tick(m.number(1<<62 - 1))
		e.Ordinal = uint16(m.number(1<<16 - 1))
		e.About = m.id()
		e.By = m.id()
		n := int(m.number(maxEventBits))
		e.data = m.bytes((n + 7) / 8)
		if m.err == nil {
			e.Delivery = r.protocol.game.Events()[e.Kind].Delivery()
			r.eventBuf = append(r.eventBuf, e.data...)
			e.data = r.eventBuf[len(r.eventBuf)-len(e.data):]
			r.events = append(r.events, e)
		}
	}
	if m.err == nil && len(r.events) > maxEvents {
		m.fail("too many events that no one takes")
	}
	if m.err != nil {
		r.events, r.eventBuf = r.events[:kept], r.eventBuf[:buf]
		return m.err
	}
	r.received++
	return nil
}

// maxEvents is how many reliable events may wait to be taken.
const maxEvents = 1 << 16

// id reads an identifier as appendID writes it.
func (m *message) id() world.ID {
	generation := m.number(1<<24 - 1)
	if generation == 0 {
		return world.None
	}
	class, allocator, index := m.number(254), m.number(1<<12-1), m.number(1<<20-1)
	return world.MakeID(int(class), int(allocator), int(index), int(generation))
}

// Events gives the reliable events that have come, in order, and takes them
// off the receiver. Take them before Next, since they come before what it
// gives. One that is older than its kind's Life is left out, unless it is saved. They are good until the next call.
func (r *Receiver) Events() []Event {
	if r.heard > 0 {
		r.events = append(r.events[:0], r.events[r.heard:]...)
		r.heard = 0
		if len(r.events) == 0 {
			r.eventBuf = r.eventBuf[:0]
		}
	}
	kept := r.events[:0]
	for i := range r.events {
		if !r.tooOld(&r.events[i]) {
			kept = append(kept, r.events[i])
		}
	}
	r.events = kept
	r.heard = len(kept)
	return kept
}

func (r *Receiver) tooOld(e *Event) bool {
	life := r.protocol.game.Events()[e.Kind].Life()
	return life > 0 && e.Delivery != world.Saved && r.tick > e.Tick+world.Tick(life)
}

// readSparks reads unreliable events.
func (r *Receiver) readSparks(dec codec.PacketDecoder, snap *Snapshot) error {
	p := r.protocol
	for dec.Flag(chanceEvent) {
		var e Event
		e.Kind = uint16(dec.Bits(p.kindBits))
		e.Tick = snap.Tick - world.Tick(getNumber(dec))
		e.Ordinal = uint16(getNumber(dec))
		if dec.Flag(chanceBy) {
			e.About = p.getID(dec)
		}
		if e.By = e.About; !dec.Flag(chanceBy) {
			e.By = world.None
			if dec.Flag(chanceBy) {
				e.By = p.getID(dec)
			}
		}
		n := getNumber(dec)
		if dec.Err() != nil || n > maxEventBits || int(e.Kind) >= len(p.game.Events()) {
			return ErrPacket
		}
		e.Delivery = p.game.Events()[e.Kind].Delivery()
		from := len(snap.data)
		for ; n > 0; n -= min(n, 8) {
			snap.data = append(snap.data, byte(dec.Bits(uint(min(n, 8)))))
		}
		if dec.Err() != nil {
			return ErrPacket
		}
		e.data = snap.data[from:]
		if !r.tooOld(&e) {
			snap.Events = append(snap.Events, e)
		}
	}
	return nil
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
			w.SetTick(r.tick)
		}
	}
	for _, e := range r.Events() {
		begin()
		if e2 := w.Deliver(e.Emitted, e.Fields()); e2 != nil {
			fail(e2)
		}
	}
	for s := r.Next(); s != nil; s = r.Next() {
		begin()
		for i := range s.Updates {
			u := &s.Updates[i]
			if u.What != Held {
				w.Drop(u.ID)
			} else if e := w.Put(u.ID, u.Entry, u.Image); e != nil {
				fail(e)
			}
		}
		for i := range s.Events {
			if e2 := w.Deliver(s.Events[i].Emitted, s.Events[i].Fields()); e2 != nil {
				fail(e2)
			}
		}
	}
	return changed, err
}

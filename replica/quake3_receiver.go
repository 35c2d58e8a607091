package replica

import (
	"fmt"
	"slices"

	"github.com/coeval-dev/coeval/codec"
	"github.com/coeval-dev/coeval/world"
)

// quake3Receiver is the client's side of Quake3: it keeps the latest snapshots
// as they were, each whole.
type quake3Receiver struct {
	r      *Receiver
	frames [2*maxBack + 2]gotFrame // for packets that were overtaken, too
	first  uint32                  // of the packet that is read: the first packet of its snapshot,
	on     *gotFrame               // what it is a difference from,
	bits   uint32                  // and the lowest bits of its count of messages
}

// gotFrame is a snapshot of which some or all packets came.
type gotFrame struct {
	valid   bool
	first   uint32 // packet
	on      uint32 // the first packet of the snapshot that it is a difference from
	based   bool   // there is one
	tick    uint32
	count   uint32 // messages before it, the lowest bits
	got     uint32 // packets that came
	parts   uint32 // of so many; 0 if that is not known
	whole   bool   // they are all here, and entities are what it holds
	changed imageList
	holds   imageList
}

// imageList is some entities and their images, by rising handles. Its memory
// serves again and again.
type imageList struct {
	list   []listed
	images []int32
}

type listed struct {
	handle   int32
	what     uint8
	player   world.Player
	owner    world.Player
	class    int32
	id       world.ID
	origin   world.Name
	from, to int // of images
}

func (l *imageList) reset() { l.list, l.images = l.list[:0], l.images[:0] }

func (l *imageList) add(e listed, image []int32) {
	e.from = len(l.images)
	l.images = append(l.images, image...)
	e.to = len(l.images)
	l.list = append(l.list, e)
}

func (l *imageList) image(e *listed) []int32 { return l.images[e.from:e.to] }

func byHandle(e listed, handle int32) int { return int(e.handle) - int(handle) }

// frame finds a snapshot by its first packet, or gives nil.
func (q *quake3Receiver) frame(first uint32) *gotFrame {
	for i := range q.frames {
		if f := &q.frames[i]; f.valid && f.first == first {
			return f
		}
	}
	return nil
}

func (q *quake3Receiver) header(dec codec.PacketDecoder, info packetInfo) (uint32, error) {
	part := uint32(0)
	if !info.first {
		part = getNumber(dec)
	}
	if dec.Err() != nil || part >= 1<<packetBits || part > info.packet || (part == 0) != info.first {
		return 0, ErrPacket
	}
	q.first, q.on = info.packet-part, nil
	if !dec.Flag(chanceAck) {
		q.bits = dec.Bits(eventBits)
	} else {
		age := dec.Bits(ageBits)
		changed := dec.Flag(chanceEvents)
		if changed {
			q.bits = dec.Bits(eventBits)
		}
		if dec.Err() != nil || age == 0 {
			return 0, ErrPacket
		}
		if q.on = q.frame(q.first - age); q.on == nil || !q.on.whole {
			return 0, ErrBase
		}
		if !changed {
			q.bits = q.on.count
		}
	}
	if f := q.frame(q.first); f != nil && (f.based != (q.on != nil) || f.based && f.on != q.on.first || f.tick != info.tick) {
		return 0, ErrPacket // its packets disagree
	}
	if dec.Err() != nil {
		return 0, ErrPacket
	}
	return q.r.counted(q.bits, info.packet), nil
}

func (q *quake3Receiver) base(info packetInfo, n *news, newOwner bool) error {
	hist := &q.r.work.hist
	if n.bind {
		q.r.startBase(n.id, n.class, hist, &n.owner, newOwner)
		return nil
	}
	if q.on == nil {
		return ErrBase
	}
	holds := &q.on.holds
	i, ok := slices.BinarySearchFunc(holds.list, n.handle, byHandle)
	if !ok {
		return ErrBase
	}
	e := &holds.list[i]
	n.id, n.player, n.class, n.origin = e.id, e.player, e.class, e.origin
	if !newOwner {
		n.owner = e.owner
	}
	hist.Reset()
	hist.Add(holds.image(e), int32(min(age(info.tick, q.on.tick), 255)))
	return nil
}

func (q *quake3Receiver) commit(info packetInfo, snap *Snapshot) {
	f := q.frame(q.first)
	if f == nil {
		f = q.begin(info)
	}
	for i := range q.r.work.list {
		n := &q.r.work.list[i]
		f.changed.add(listed{handle: n.handle, what: n.what, id: n.id, player: n.player, class: n.class, origin: n.origin, owner: n.owner}, n.image)
		q.show(info, n, snap)
	}
	f.got++
	if !info.more {
		f.parts = info.packet - f.first + 1
	}
	if f.got == f.parts {
		q.complete(f)
	}
}

// begin makes room for a snapshot, in place of the oldest.
func (q *quake3Receiver) begin(info packetInfo) *gotFrame {
	f := &q.frames[0]
	for i := range q.frames {
		g := &q.frames[i]
		if !g.valid {
			f = g
			break
		}
		if g != q.on && (f == q.on || int32(g.first-f.first) < 0) {
			f = g
		}
	}
	f.changed.reset()
	f.holds.reset()
	*f = gotFrame{valid: true, first: q.first, tick: info.tick, count: q.bits, changed: f.changed, holds: f.holds}
	if q.on != nil {
		f.based, f.on = true, q.on.first
	}
	return f
}

// complete makes a snapshot of which all packets came: what it is a difference
// from, and what they said.
func (q *quake3Receiver) complete(f *gotFrame) {
	slices.SortStableFunc(f.changed.list, func(a, b listed) int { return int(a.handle) - int(b.handle) })
	var rest []listed
	var on *gotFrame
	if f.based {
		if on = q.frame(f.on); on == nil || !on.whole {
			return
		}
		rest = on.holds.list
	}
	for i := range f.changed.list {
		e := &f.changed.list[i]
		for len(rest) > 0 && rest[0].handle < e.handle {
			f.holds.add(rest[0], on.holds.image(&rest[0]))
			rest = rest[1:]
		}
		if len(rest) > 0 && rest[0].handle == e.handle {
			rest = rest[1:]
		}
		if n := len(f.holds.list); n > 0 && f.holds.list[n-1].handle == e.handle {
			f.holds.list = f.holds.list[:n-1] // no server says two things of one entity
		}
		if e.what == held {
			f.holds.add(*e, f.changed.image(e))
		}
	}
	for i := range rest {
		f.holds.add(rest[i], on.holds.image(&rest[i]))
	}
	f.changed.reset()
	f.whole = true
}

// show brings what the client shows up to date.
func (q *quake3Receiver) show(info packetInfo, n *news, snap *Snapshot) {
	r := q.r
	for int(n.handle) >= len(r.entities) {
		r.entities = append(r.entities, nil)
	}
	e := r.entities[n.handle]
	if e == nil {
		e = new(entity)
		r.entities[n.handle] = e
	}
	if n.what != held {
		snap.tell(e, info, n) // also if it is gone before it came
		return
	}
	if e.id != n.id || e.player != n.player {
		if e.what != untold && int32(info.packet-e.told) < 0 {
			return // the handle stands for something else by now
		}
		before := e.place()
		*e = entity{id: n.id, player: n.player, class: n.class, origin: n.origin, bound: info.packet, images: e.images}
		r.claim(n.handle, before, e, snap)
	}
	if !snap.tell(e, info, n) {
		return
	}
	if len(e.images) == 0 {
		e.images = append(e.images, gotImage{})
	}
	g := &e.images[0]
	g.packet, g.tick, g.owner, g.image = info.packet, info.tick, n.owner, append(g.image[:0], n.image...)
}

// advance fails: Quake3 has no bases but snapshots.
func (q *quake3Receiver) advance([]byte) error {
	return fmt.Errorf("%w: one that this strategy does not have", ErrMessage)
}

func (q *quake3Receiver) counted() {}

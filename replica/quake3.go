package replica

import (
	"github.com/coeval-dev/coeval/codec"
	"github.com/coeval-dev/coeval/world"
)

// Quake3 follows Quake III Arena, as J.M.P. van Waveren's "The DOOM III
// network architecture" (2006) describes it. A snapshot is a difference from one earlier snapshot that has arrived
// as a whole. What is not in that one is sent in full, also if the client saw it before; what is in it and no longer in view is
// said to be gone, in every snapshot until one that says so has become the base.
//
// What differs: a snapshot may have several packets. Each can be decoded alone and is shown when it comes, but only a snapshot of which all
// packets came becomes a base. What a budget leaves out stays in a snapshot as it was in its base.

// maxBack is how many snapshots back a base may lie, as in Quake III.
const maxBack = 32

// quake3Sender is the server's side.
type quake3Sender struct {
	s      *Sender
	said   []quake3Said // by handle
	frames [2 * maxBack]sentFrame
	next   uint32     // number of the snapshot to come
	first  uint32     // its first packet
	on     *sentFrame // what it is a difference from; nil if there is none
	newest uint32     // the newest snapshot that arrived as a whole
	floor  uint32     // those up to this one are not to be relied on
}

// quake3Said is what a client was last told of a handle.
type quake3Said struct {
	unique uint32
	number uint32 // the image
	base   uint32 // the image in the base; 0 if it has none
	turned uint32 // in all snapshots since this one it is told the same: that it is there, or that it is gone
	last   uint32 // up to this one
	what   uint8
	known  bool // one of these snapshots arrived as a whole
}

// sentFrame is a snapshot as the client holds it if all of it arrives.
type sentFrame struct {
	number   uint32
	first    uint32 // packet
	tick     uint32
	count    uint32 // messages before it
	parts    int
	arrived  int
	whole    bool // all of it was sent, and nothing of it was lost
	entities []sentEntity
}

type sentEntity struct {
	handle int32
	unique uint32
	number uint32
}

// get gives what was said of a handle, or nil if nothing was.
func (q *quake3Sender) get(h int32) *quake3Said {
	if int(h) < len(q.said) && q.said[h].unique == q.s.records[h].unique {
		return &q.said[h]
	}
	return nil
}

// prepare chooses the base, and marks all that differs from it or may not have
// been heard since.
func (q *quake3Sender) prepare() {
	s := q.s
	if q.next == 0 {
		q.next = 1
	}
	q.first = s.next
	base := &q.frames[q.newest%uint32(len(q.frames))]
	if q.newest <= q.floor || q.next-q.newest > maxBack || q.first-base.first > window {
		base = nil
	}
	if base != q.on {
		q.rebase(base)
	}
	for i := range s.view {
		h := s.view[i].handle
		r := &s.records[h]
		said := q.get(h)
		// What did not fit into any packet has a number that was not said.
		if r.told != held || said == nil || said.number != r.number {
			continue
		}
		sl := &s.pub.slots[r.slot]
		if !q.heard(said) {
			r.again()
		} else if said.base != r.number && sl.unique == r.unique && !s.waits(r, sl) {
			r.again()
		}
	}
	for _, h := range s.leaving {
		if r := &s.records[h]; r.want != held && r.told == r.want && !q.settled(h) {
			r.again()
		}
	}
}

// heard says whether the client is known to have been told. It must have got a
// snapshot that said so; that a later one came does not count, since a budget may have kept it out of that.
func (q *quake3Sender) heard(said *quake3Said) bool {
	if !said.known && q.newest != 0 && said.turned <= q.newest && q.newest <= said.last {
		said.known = true
	}
	return said.known
}

func (q *quake3Sender) settled(h int32) bool {
	said := q.get(h)
	return said == nil || said.what == q.s.records[h].want && q.heard(said)
}

// rebase notes for each entity which image of it is in the base.
func (q *quake3Sender) rebase(base *sentFrame) {
	if q.on != nil {
		for _, e := range q.on.entities {
			if said := q.get(e.handle); said != nil && said.unique == e.unique {
				said.base = 0
				q.s.records[e.handle].bound = false
			}
		}
	}
	if q.on = base; base != nil {
		for _, e := range base.entities {
			if said := q.get(e.handle); said != nil && said.unique == e.unique {
				said.base = e.number
				q.s.records[e.handle].bound = true
			}
		}
	}
}

// header says which part of the snapshot a packet is, and which snapshot it is
// a difference from: by how many packets before its own first packet the other's lies.
func (q *quake3Sender) header(enc codec.PacketEncoder, seq uint32) {
	if seq != q.first {
		putNumber(enc, seq-q.first)
	}
	enc.Flag(q.on != nil, chanceAck)
	count := q.s.messages.sent & (1<<eventBits - 1)
	if q.on == nil {
		enc.Bits(count, eventBits)
		return
	}
	enc.Bits(q.first-q.on.first, ageBits)
	enc.Flag(count != q.on.count, chanceEvents)
	if count != q.on.count {
		enc.Bits(count, eventBits)
	}
}

func (q *quake3Sender) base(w *Worker, f *flight, r *record, sl *slot) (world.Player, int64) {
	if r.bound {
		if m, image := sl.find(q.said[q.s.handles[r.slot]].base); m != nil {
			w.hist.Add(image, int32(min(age(f.tick, q.on.tick), 255)))
			return m.owner, inWindow
		}
		r.bound = false // the image is too old to be found
	}
	return q.s.startBase(w, sl), noBase
}

// packed keeps what the client holds if the snapshot arrives: the base, and
// what was said.
func (q *quake3Sender) packed(whole bool) {
	s := q.s
	if len(s.staged) == 0 {
		return
	}
	frame := &q.frames[q.next%uint32(len(q.frames))]
	*frame = sentFrame{
		number: q.next, first: q.first, tick: uint32(s.pub.tick), count: s.messages.sent & (1<<eventBits - 1),
		parts: len(s.staged), whole: whole, entities: frame.entities[:0],
	}
	var rest []sentEntity
	if q.on != nil {
		rest = q.on.entities
	}
	for i := range s.staged {
		f := s.staged[i].flight
		f.snapshot = q.next
		for j := range f.entries { // by rising handles, over all packets
			e := &f.entries[j]
			n := 0
			for n < len(rest) && rest[n].handle < e.handle {
				n++
			}
			frame.entities = append(frame.entities, rest[:n]...)
			if rest = rest[n:]; len(rest) > 0 && rest[0].handle == e.handle {
				rest = rest[1:]
			}
			if e.what == held {
				frame.entities = append(frame.entities, sentEntity{e.handle, e.unique, e.number})
			}
			q.say(e)
		}
	}
	frame.entities = append(frame.entities, rest...)
	q.next++
}

// say notes what the present snapshot says of an entity.
func (q *quake3Sender) say(e *flightEntry) {
	for int(e.handle) >= len(q.said) {
		q.said = append(q.said, quake3Said{})
	}
	said := &q.said[e.handle]
	if said.unique != e.unique {
		*said = quake3Said{unique: e.unique}
	}
	if said.what != e.what {
		said.what, said.known, said.turned = e.what, false, q.next
	} else if !said.known && said.last+1 != q.next {
		said.turned = q.next
	}
	said.number, said.last = e.number, q.next
}

func (q *quake3Sender) landed(f *flight, ok bool) bool {
	frame := &q.frames[f.snapshot%uint32(len(q.frames))]
	if f.snapshot == 0 || frame.number != f.snapshot {
		return ok
	}
	if !ok {
		frame.whole = false
		return false
	}
	if frame.arrived++; frame.arrived == frame.parts && frame.whole && frame.number > q.newest {
		q.newest = frame.number
	}
	return true
}

// distrust gives up all snapshots that were sent so far. If only the one that
// the client could not use were given up, others that depend on it could follow.
func (q *quake3Sender) distrust() {
	q.rebase(nil)
	q.floor = max(q.next, 1) - 1
}

package frames

import (
	"github.com/coeval-dev/coeval/codec"
	"github.com/coeval-dev/coeval/replica"
)

// sender is the server's side. Every frame is a snapshot as the client holds it if all of it
// arrives; what is said of an entity stands on its image in the frame that is the base.
type sender struct {
	state  replica.SenderState
	back   uint32 // how many snapshots back a base may lie
	said   []said // by handle
	frames []sentFrame
	next   uint32     // number of the snapshot to come
	first  uint32     // its first packet
	on     *sentFrame // what it is a difference from; nil if there is none
	newest uint32     // the newest snapshot that arrived as a whole
	floor  uint32     // those up to this one are not to be relied on
}

// said is what a client was last told of a handle.
type said struct {
	unique uint32
	base   uint32 // the image in the base; 0 if it has none
	// in all snapshots since this one it is told the same: that it is there, or that it is gone
	turned uint32
	last   uint32 // up to this one
	what   replica.What
	known  bool // one of these snapshots arrived as a whole
}

// sentFrame is a snapshot as the client holds it if all of it arrives.
type sentFrame struct {
	number   uint32
	first    uint32 // packet
	tick     uint32
	count    uint32 // messages before it, the lowest bits
	parts    int
	arrived  int
	whole    bool // all of it was sent, and nothing of it was lost
	entities []replica.Said
}

func newSender(s replica.SenderState, back uint32) *sender {
	return &sender{state: s, back: back, frames: make([]sentFrame, 2*back), next: 1}
}

// at gives what was said of a handle.
func (q *sender) at(handle int32) *said {
	for int(handle) >= len(q.said) {
		q.said = append(q.said, said{})
	}
	return &q.said[handle]
}

// count is the lowest bits of the count of messages.
func (q *sender) count() uint32 { return q.state.Messages() & (1<<countBits - 1) }

// Begin chooses the base.
func (q *sender) Begin() {
	q.first = q.state.Next()
	base := &q.frames[q.newest%uint32(len(q.frames))]
	if q.newest <= q.floor || q.next-q.newest > q.back || q.first-base.first > window {
		base = nil
	}
	if base != q.on {
		q.rebase(base)
	}
}

// rebase notes for each entity which image of it is in the base.
func (q *sender) rebase(base *sentFrame) {
	if q.on != nil {
		for _, e := range q.on.entities {
			if said := q.at(e.Handle); said.unique == e.Unique {
				said.base = 0
			}
		}
	}
	if q.on = base; base != nil {
		for _, e := range base.entities {
			if said := q.at(e.Handle); said.unique == e.Unique {
				said.base = e.Number
			}
		}
	}
}

// Header says which part of the snapshot a packet is, and which snapshot it is
// a difference from: by how many packets before its own first packet the other's lies.
func (q *sender) Header(enc codec.PacketEncoder, p *replica.Sent) {
	if p.Packet != q.first {
		codec.PutNumber(enc, p.Packet-q.first)
	}
	enc.Flag(q.on != nil, chanceBase)
	counted := true
	if q.on != nil {
		enc.Bits(q.first-q.on.first, ageBits)
		counted = q.count() != q.on.count
		enc.Flag(counted, chanceCounted)
	}
	if counted {
		enc.Bits(q.count(), countBits)
	}
}

func (q *sender) Bound(handle int32) bool { return q.at(handle).base != 0 }

func (q *sender) Base(handle int32, p *replica.Sent, b *replica.Base) {
	said := q.at(handle)
	if said.base == 0 {
		return
	}
	if !q.state.Kept(handle, said.base) {
		said.base = 0 // the image is too old to be found
		return
	}
	b.Add(said.base, min(replica.Age(p.Tick, q.on.tick), 255))
}

// Staged keeps what the client holds if the snapshot arrives: the base, and
// what was said.
func (q *sender) Staged(packets []*replica.Sent, whole bool) {
	frame := &q.frames[q.next%uint32(len(q.frames))]
	*frame = sentFrame{
		number: q.next, first: q.first, tick: packets[0].Tick, count: q.count(),
		parts: len(packets), whole: whole, entities: frame.entities[:0],
	}
	var rest []replica.Said
	if q.on != nil {
		rest = q.on.entities
	}
	for _, p := range packets {
		for i := range p.Said { // by rising handles, over all packets
			e := &p.Said[i]
			n := 0
			for n < len(rest) && rest[n].Handle < e.Handle {
				n++
			}
			frame.entities = append(frame.entities, rest[:n]...)
			if rest = rest[n:]; len(rest) > 0 && rest[0].Handle == e.Handle {
				rest = rest[1:]
			}
			if e.What == replica.Held {
				frame.entities = append(frame.entities, *e)
			}
			q.say(e)
		}
	}
	frame.entities = append(frame.entities, rest...)
	q.next++
}

// say notes what the present snapshot says of an entity.
func (q *sender) say(e *replica.Said) {
	s := q.at(e.Handle)
	if s.unique != e.Unique {
		*s = said{unique: e.Unique}
	}
	if s.what != e.What {
		s.what, s.known, s.turned = e.What, false, q.next
	} else if !s.known && s.last+1 != q.next {
		s.turned = q.next
	}
	s.last = q.next
}

func (q *sender) Landed(p *replica.Sent, arrived bool) bool {
	frame := &q.frames[p.Snapshot%uint32(len(q.frames))]
	if frame.number != p.Snapshot {
		return arrived
	}
	if !arrived {
		frame.whole = false
		return false
	}
	if frame.arrived++; frame.arrived == frame.parts && frame.whole && frame.number > q.newest {
		q.newest = frame.number
	}
	return true
}

// Heard says whether the client got a snapshot that said so. That a later one came does not count,
// since a budget may have kept it out of that.
func (q *sender) Heard(handle int32) bool {
	s := q.at(handle)
	if !s.known && q.newest != 0 && s.turned <= q.newest && q.newest <= s.last {
		s.known = true
	}
	return s.known || s.unique == 0
}

// Held gives the image in the base.
func (q *sender) Held(handle int32, i int) (packet, number uint32, ok bool) {
	number = q.at(handle).base
	return 0, number, i == 0 && number != 0
}

// Refresh gives up all snapshots that were sent so far. If only the one that
// the client could not use were given up, others that depend on it could follow.
func (q *sender) Refresh(int32) {
	q.rebase(nil)
	q.floor = q.next - 1
}

func (q *sender) Rejected(uint32, bool) { q.Refresh(0) }

func (q *sender) Forget(handle int32) { *q.at(handle) = said{} }

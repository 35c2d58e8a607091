package gateway

import (
	"bytes"
	"encoding/binary"
	mathbits "math/bits"
	"time"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/service/dis"
)

// Items of a packet.
const (
	itemEnd        = iota // nothing more
	itemRaw               // a whole PDU that is not lost
	itemReference         // an Entity State PDU that others are differences from
	itemDifference        // one as a difference from its reference
	itemGone              // an entity is no more, or no longer told
	itemMissing           // a packet that did not come
	itemLacking           // a reference that is not there
	itemAgain             // the raw PDUs of a packet that was asked for
	itemHeld              // a reference that stands for what was not told for a while
	itemBits       = 4
	numberBits     = 12
)

const (
	magic    = 0xD1
	headBits = 8 + 32 + 32 + 32
	maxSlots = 1 << 16
	ring     = 512 // packets whose raw PDUs can be asked for
	quietly  = 3   // how many times it is told that something stands still
)

// slot is an entity of this side as the other side was told of it.
type slot struct {
	id        dis.ID
	index     uint64
	number    uint64 // of the reference, in numberBits
	reference []byte // nil before the first
	last      []byte // what was told last
	still     int    // how often it was told to stand still
	sent      time.Duration
	pending   int // its place in the packet that is being gathered, plus one
}

// item is an update in the packet that is being gathered.
type item struct {
	kind int
	slot *slot
	pdu  []byte
	seq  uint32
}

// outgoing is what goes over the line.
type outgoing struct {
	session, seq uint32
	slots        []*slot
	free         []uint64
	reminded     int
	numbers      []uint64 // of the last reference under each index, which outlives its entity
	of           map[dis.ID]*slot
	items        []item
	count        int           // updates and PDUs in the packet that is being gathered
	bytes        int           // about how large it is
	first, sent  time.Duration // when the packet was begun; when the last was sent
	lasting      [ring][][]byte
	buf          []byte
}

func (w *outgoing) start(session uint32) {
	w.session, w.of = session, map[dis.ID]*slot{}
	w.sent = -time.Hour
}

func (w *outgoing) add(g *Gateway, now time.Duration, clock dis.Stamp, it item, size int) {
	if w.bytes+size > g.o.MaxPacket && len(w.items) > 0 {
		w.flush(g, now, clock)
	}
	if len(w.items) == 0 {
		w.first, w.bytes = now, headBits/8+1
	}
	w.items = append(w.items, it)
	w.bytes += size
	switch it.kind {
	case itemRaw, itemReference, itemDifference, itemGone:
		w.count++
		if it.slot != nil {
			it.slot.pending = len(w.items)
		}
	default:
		w.count++ // an answer does not wait for others longer than they do
	}
}

// raw gathers a PDU as it is.
func (w *outgoing) raw(g *Gateway, now time.Duration, clock dis.Stamp, p dis.PDU) {
	b := p.Append(nil)
	w.add(g, now, clock, item{kind: itemRaw, pdu: b}, len(b)+4)
}

// state gathers an Entity State PDU, in the place of an older one of the same entity that is still
// there.
func (w *outgoing) state(g *Gateway, now time.Duration, clock dis.Stamp, p *dis.EntityState) {
	s := w.of[p.ID]
	if s == nil {
		if s = w.take(p.ID); s == nil {
			g.Counters.Refused++
			return
		}
	}
	b := p.Append(nil)
	still := p.Vel == dis.Vec{} && p.Spin == dis.Vec{} && sameButTime(b, s.last)
	if !still {
		s.still = 0
	} else if s.still++; s.still > quietly && !g.o.Loud {
		g.Counters.Hushed++
		return
	}
	s.last = b
	if s.pending > 0 {
		w.items[s.pending-1].pdu = b
		g.Counters.Replaced++
		return
	}
	g.Counters.Forwarded++
	kind, size := itemDifference, len(b)/2
	if g.o.Plain || s.reference == nil || len(s.reference) != len(b) {
		kind, size = itemReference, len(b)+6
	}
	w.add(g, now, clock, item{kind: kind, slot: s, pdu: b}, size)
}

// take finds a number for an entity, nil if there are too many.
func (w *outgoing) take(id dis.ID) *slot {
	s := &slot{id: id}
	switch n := len(w.free); {
	case n > 0:
		s.index = w.free[n-1]
		w.free = w.free[:n-1]
		w.slots[s.index] = s
	case len(w.slots) < maxSlots:
		s.index = uint64(len(w.slots))
		w.slots, w.numbers = append(w.slots, s), append(w.numbers, 0)
	default:
		return nil
	}
	w.of[id] = s
	return s
}

// gone tells that an entity is no longer told, and frees its number.
func (w *outgoing) gone(g *Gateway, now time.Duration, clock dis.Stamp, id dis.ID) {
	s := w.of[id]
	if s == nil {
		return
	}
	if s.pending > 0 {
		w.items[s.pending-1].kind = itemEnd // not told any more
		s.pending = 0
	}
	w.add(g, now, clock, item{kind: itemGone, slot: s}, 12)
	delete(w.of, id)
	w.slots[s.index] = nil
	w.free = append(w.free, s.index)
}

// Each entity that was not told for a while is named once in so many seconds, so that who has
// missed it asks: what is quiescent would not be heard of again.
const (
	remindEvery = 10
	remindAfter = 3 * time.Second
)

// remind names some of them.
func (w *outgoing) remind(g *Gateway, now time.Duration, clock dis.Stamp) {
	if len(w.slots) == 0 {
		return
	}
	for range min(len(w.slots), len(w.slots)/remindEvery+1) {
		w.reminded = (w.reminded + 1) % len(w.slots)
		if s := w.slots[w.reminded]; s != nil && s.pending == 0 && now-s.sent > remindAfter {
			w.add(g, now, clock, item{kind: itemHeld, slot: s}, 4)
		}
	}
}

// flush sends the packet that is being gathered.
func (w *outgoing) flush(g *Gateway, now time.Duration, clock dis.Stamp) {
	room := headBits/8 + 64
	for i := range w.items {
		room += len(w.items[i].pdu)*2 + 32
		if w.items[i].kind == itemAgain {
			for _, b := range w.lasting[w.items[i].seq%ring] {
				room += len(b) + 16
			}
		}
	}
	if cap(w.buf) < room {
		w.buf = make([]byte, room)
	}
	out := bits.NewWriter(w.buf[:room])
	out.WriteBits(magic, 8)
	out.WriteBits(uint64(w.session), 32)
	out.WriteBits(uint64(w.seq), 32)
	out.WriteBits(uint64(clock), 32)
	lasting := w.lasting[w.seq%ring][:0]
	var before []byte
	for i := range w.items {
		it := &w.items[i]
		if it.slot != nil && it.kind != itemHeld {
			it.slot.pending, it.slot.sent = 0, now
		}
		before = w.write(g, out, clock, it, before)
		if it.kind == itemRaw {
			lasting = append(lasting, it.pdu)
		}
	}
	out.WriteBits(itemEnd, itemBits)
	w.lasting[w.seq%ring] = lasting
	w.seq++
	w.items, w.count, w.sent = w.items[:0], 0, now
	if out.Err() != nil {
		return // cannot be, as there is room
	}
	packet := append([]byte(nil), out.Bytes()...)
	g.ToLine = append(g.ToLine, packet)
	g.Counters.Packets++
	g.Counters.Bytes += uint64(len(packet))
}

// write writes one item, and gives the Entity State PDU that the next may be like.
func (w *outgoing) write(
	g *Gateway, out *bits.Writer, clock dis.Stamp, it *item, before []byte,
) []byte {
	switch it.kind {
	case itemEnd:
		return before
	case itemRaw:
		out.WriteBits(itemRaw, itemBits)
		writePDU(out, it.pdu)
		return before
	case itemReference, itemDifference:
		s := it.slot
		if it.kind == itemDifference && (s.reference == nil || len(s.reference) != len(it.pdu)) {
			it.kind = itemReference
		}
		mark := out.Mark()
		if it.kind == itemDifference {
			start := out.Len()
			out.WriteBits(itemDifference, itemBits)
			out.WriteUvarint(s.index)
			out.WriteBits(s.number, numberBits)
			out.WriteBool(s.still >= quietly)
			writeDifference(out, clock, it.pdu, s.reference)
			if (out.Len()-start)*2 <= len(it.pdu)*8 {
				g.Counters.Differences++
				return it.pdu
			}
			out.Rewind(mark) // it has moved on: a new reference
		}
		out.WriteBits(itemReference, itemBits)
		out.WriteUvarint(s.index)
		w.numbers[s.index] = (w.numbers[s.index] + 1) % (1 << numberBits)
		s.number = w.numbers[s.index]
		out.WriteBits(s.number, numberBits)
		out.WriteBool(s.still >= quietly)
		like := before != nil && len(before) == len(it.pdu) && !g.o.Plain
		out.WriteBool(like)
		if like {
			writeDifference(out, clock, it.pdu, before)
		} else {
			writePDU(out, it.pdu)
		}
		s.reference = append(s.reference[:0], it.pdu...)
		g.Counters.References++
		return it.pdu
	case itemGone:
		out.WriteBits(itemGone, itemBits)
		out.WriteUvarint(it.slot.index)
		writeID(out, it.slot.id)
	case itemHeld:
		if it.slot.reference != nil {
			out.WriteBits(itemHeld, itemBits)
			out.WriteUvarint(it.slot.index)
			out.WriteBits(it.slot.number, numberBits)
		}
	case itemMissing:
		out.WriteBits(itemMissing, itemBits)
		out.WriteBits(uint64(it.seq), 32)
	case itemLacking:
		out.WriteBits(itemLacking, itemBits)
		out.WriteUvarint(uint64(it.seq))
	case itemAgain:
		out.WriteBits(itemAgain, itemBits)
		out.WriteBits(uint64(it.seq), 32)
		list := w.lasting[it.seq%ring]
		out.WriteUvarint(uint64(len(list)))
		for _, b := range list {
			writePDU(out, b)
		}
	}
	return before
}

func writeID(out *bits.Writer, id dis.ID) {
	out.WriteBits(uint64(id.Site), 16)
	out.WriteBits(uint64(id.Application), 16)
	out.WriteBits(uint64(id.Number), 16)
}

func writePDU(out *bits.Writer, b []byte) {
	out.WriteUvarint(uint64(len(b)))
	out.WriteBytes(b)
}

// writeDifference writes a PDU of whole words by those of another of the same length: the time as a
// difference from the packet's, and of each other word whether it differs, from which bit on, and
// those bits. How many parts the entity has says how long it is, so that it can be passed over.
func writeDifference(out *bits.Writer, clock dis.Stamp, b, from []byte) {
	out.WriteUvarint(uint64((len(b) - stateSize) / partSize))
	out.WriteVarint(int64(int32(binary.BigEndian.Uint32(b[4:]) - uint32(clock))))
	for i := 0; i+4 <= len(b); i += 4 {
		if i == 4 {
			continue
		}
		x := binary.BigEndian.Uint32(b[i:]) ^ binary.BigEndian.Uint32(from[i:])
		if x == 0 {
			out.WriteBool(false)
			continue
		}
		n := mathbits.Len32(x) // the highest bit that differs is not said
		out.WriteBool(true)
		out.WriteBits(uint64(n-1), 5)
		out.WriteBits(uint64(x)&(1<<(n-1)-1), n-1)
	}
}

const (
	stateSize = 144
	partSize  = 16
)

// readDifference reads it. Without the other, or with one of another length, it passes it over and
// gives nil.
func readDifference(in *bits.Reader, clock dis.Stamp, from []byte) []byte {
	parts := in.ReadUvarint()
	if parts > 255 || in.Err() != nil {
		return nil
	}
	b := make([]byte, stateSize+partSize*int(parts))
	known := len(from) == len(b)
	if !known {
		from = b
	}
	binary.BigEndian.PutUint32(b[4:], uint32(clock)+uint32(in.ReadVarint()))
	for i := 0; i+4 <= len(b); i += 4 {
		if i == 4 {
			continue
		}
		x := uint32(0)
		if in.ReadBool() {
			n := int(in.ReadBits(5))
			x = 1<<n | uint32(in.ReadBits(n))
		}
		if known {
			binary.BigEndian.PutUint32(b[i:], x^binary.BigEndian.Uint32(from[i:]))
		}
	}
	if !known || in.Err() != nil {
		return nil
	}
	return b
}

// sameButTime says whether two PDUs differ in nothing but when they were sent.
func sameButTime(a, b []byte) bool {
	return len(a) == len(b) && len(a) >= dis.HeaderSize && bytes.Equal(a[:4], b[:4]) &&
		bytes.Equal(a[8:], b[8:])
}

package relay

import (
	"time"

	"github.com/coeval-dev/coeval/bits"
)

// Packets on the turn channel, in bits, the first in the lowest bit of the first byte.
//
// Items, from a member: runs, of which each is
//
//	16 low bits of the number of its first item; in further runs the distance from the end of the
//	   run before, as a Uvarint
//	   1 and an item, for each: its size in 3 bits, or 7 and the size in 8 bits; its bytes
//	1  0: no more items
//	1  whether another run follows
//
// Rows, to a member: how early its items come, in 8 bits, and runs:
//
//	16 low bits of the tick of its first row, or the distance, as above
//	n  of the n seats of the match: which play before the first row
//	1  whether one of those is the receiver's own; and its number, in 4 bits
//	   1 and a row, for each; see packRow
//	1  0: no more rows
//	1  whether another run follows

const (
	// leadUnit is the unit of how early items come, and leadNone says that none came.
	leadUnit = 2 * time.Millisecond
	leadNone = -128
)

// packLead makes a byte of how early items come.
func packLead(d time.Duration, known bool) uint8 {
	if !known {
		return uint8(leadNone & 0xff)
	}
	v := d / leadUnit
	if d < 0 && d%leadUnit != 0 {
		v--
	}
	return uint8(int8(min(max(v, leadNone+1), 127)))
}

func unpackLead(b uint8) (time.Duration, bool) {
	if int8(b) == leadNone {
		return 0, false
	}
	return time.Duration(int8(b)) * leadUnit, true
}

// packStart begins a run: the first of a packet, or one that comes after where the last ended.
func packStart(w *bits.Writer, first bool, from, last uint32) {
	if first {
		w.WriteBits(uint64(from&0xffff), 16)
	} else {
		w.WriteUvarint(uint64(from - last))
	}
}

// unpackStart reads where a run begins. The first is one near a number that is known.
func unpackStart(r *bits.Reader, first bool, near, last uint32) uint32 {
	if first {
		low := uint16(r.ReadBits(16))
		return near + uint32(int32(int16(low-uint16(near))))
	}
	return last + uint32(min(r.ReadUvarint(), 1<<20))
}

// packItems writes a packet of those items of the runs that fit, and makes the runs so short.
func packItems(w *bits.Writer, runs []span, item func(n uint32) []byte) {
	last := uint32(0)
	for i := range runs {
		r := &runs[i]
		if i > 0 {
			w.WriteBool(true)
		}
		packStart(w, i == 0, r.from, last)
		n := r.from
		for ; n != r.to; n++ {
			x := item(n)
			if w.Room() < 1+11+8*len(x)+spareBits {
				break
			}
			w.WriteBool(true)
			packItem(w, x)
		}
		w.WriteBool(false)
		full := n != r.to
		r.to, last = n, n
		if full {
			clearRuns(runs[i+1:])
			break
		}
	}
	w.WriteBool(false)
}

// spareBits is room that is left for what follows the last item or row, and the start of another
// run.
const spareBits = 64

func clearRuns(runs []span) {
	for i := range runs {
		runs[i].to = runs[i].from
	}
}

// packRows does the same with rows, which must be in the history.
func packRows(w *bits.Writer, runs []span, h *history, seats uint8, own func(n uint32) int8,
	s *seating) {
	last := uint32(0)
	for i := range runs {
		r := &runs[i]
		if i > 0 {
			w.WriteBool(true)
		}
		packStart(w, i == 0, r.from, last)
		_, s.mask = h.row(r.from)
		if s.own = own(r.from); s.own >= 0 && s.mask>>uint(s.own)&1 == 0 {
			s.own = -1
		}
		w.WriteBits(uint64(s.mask), int(seats))
		w.WriteBool(s.own >= 0)
		if s.own >= 0 {
			w.WriteBits(uint64(s.own), 4)
		}
		n := r.from
		for ; n != r.to; n++ {
			flat, _ := h.row(n)
			mark, before := w.Mark(), *s
			w.WriteBool(true)
			packRow(w, flat, s)
			if w.Room() < spareBits {
				w.Rewind(mark)
				*s = before
				break
			}
		}
		w.WriteBool(false)
		full := n != r.to
		r.to, last = n, n
		if full {
			clearRuns(runs[i+1:])
			break
		}
	}
	w.WriteBool(false)
}

package relay

import (
	"encoding/binary"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/member"
)

// A row is what counts in one tick: how many items of each stream are taken, and who joins and
// leaves. In memory it is a string of bytes, the same at both ends:
//
//	changes 1, of each: kind 1, seat 1, member 2, and at the relay who had the seat before, 2
//	for each seat that plays, rising: count 1, and of each item: size 1, bytes
//
// At a client the count of its own seat has the bit ownItems set, and no items follow: it has them.

// A ChangeKind says what happens to a seat from a row on.
type ChangeKind uint8

const (
	// Joined: a member begins to play at a seat that was free.
	Joined ChangeKind = iota
	// Returned: the seat plays again after it was absent, with the member that had it or with a new
	// number of the same player.
	Returned
	// Absent: nothing has come from the seat for so long that it has no commands any more. It is
	// kept.
	Absent
	// Left: the player is gone for good, and the seat is free.
	Left
)

var changeNames = [...]string{"joined", "returned", "absent", "left"}

func (k ChangeKind) String() string {
	if int(k) < len(changeNames) {
		return changeNames[k]
	}
	return "unknown change"
}

// A Change is what happens to a seat from a row on.
type Change struct {
	Kind   ChangeKind
	Seat   uint8 // from 0; the player's number is one more
	Member member.ID
}

// Player is the number of the player at the seat.
func (c Change) Player() uint8 { return c.Seat + 1 }

const (
	// MaxItem is how long an item may be.
	MaxItem = 255
	// MaxSeats is how many may play in one match.
	MaxSeats = 16
	// MaxTaken is how many items of a stream one row takes at most.
	MaxTaken = 15

	ownItems   = 0x80
	changeSize = 6
	// rowBytes is how many bytes of items one row takes at most, with one more for each, so that a
	// row fits into any packet.
	rowBytes = 320
)

// seating is what changes from row to row and has to be known to read the next: which seats play,
// and which of them, if any, is the receiver's own.
type seating struct {
	mask uint16
	own  int8 // -1: none
	me   member.ID
}

func (s *seating) apply(c Change) {
	bit := uint16(1) << c.Seat
	switch c.Kind {
	case Joined, Returned:
		s.mask |= bit
		if c.Member == s.me {
			s.own = int8(c.Seat)
		} else if s.own == int8(c.Seat) {
			s.own = -1
		}
	default:
		s.mask &^= bit
	}
}

func appendChange(b []byte, c Change, before member.ID) []byte {
	b = append(b, byte(c.Kind), c.Seat)
	b = binary.BigEndian.AppendUint16(b, uint16(c.Member))
	return binary.BigEndian.AppendUint16(b, uint16(before))
}

func memberBefore(b []byte) member.ID { return member.ID(binary.BigEndian.Uint16(b[4:])) }

func readChange(b []byte) Change {
	return Change{ChangeKind(b[0]), b[1], member.ID(binary.BigEndian.Uint16(b[2:]))}
}

// packRow writes a row for a receiver. The row is one that this end has made, so it is not checked.
func packRow(w *bits.Writer, flat []byte, s *seating) {
	n := int(flat[0])
	flat = flat[1:]
	w.WriteBool(n > 0)
	if n > 0 {
		w.WriteUvarint(uint64(n - 1))
		for ; n > 0; n-- {
			c := readChange(flat)
			flat = flat[changeSize:]
			w.WriteBits(uint64(c.Kind)|uint64(c.Seat)<<2, 6)
			if c.Kind <= Returned {
				w.WriteBits(uint64(c.Member), 16)
			}
			s.apply(c)
		}
	}
	for seat, mask := int8(0), s.mask; mask != 0; seat, mask = seat+1, mask>>1 {
		if mask&1 == 0 {
			continue
		}
		count := int(flat[0])
		flat = flat[1:]
		switch count {
		case 1:
			w.WriteBits(1, 1)
		case 0:
			w.WriteBits(0, 2)
		default:
			w.WriteBits(uint64(count)<<2|2, 6)
		}
		for ; count > 0; count-- {
			size := int(flat[0])
			if seat != s.own {
				packItem(w, flat[1:1+size])
			}
			flat = flat[1+size:]
		}
	}
}

// packItem writes an item behind its size: three bits for up to six bytes.
func packItem(w *bits.Writer, item []byte) {
	n := len(item)
	if n >= 7 {
		w.WriteBits(7|uint64(n)<<3, 11)
		w.WriteBytes(item)
		return
	}
	v := uint64(0)
	for i, b := range item {
		v |= uint64(b) << (8 * i)
	}
	w.WriteBits(uint64(n)|v<<3, 3+8*n)
}

// unpackItem appends an item behind its size in one byte.
func unpackItem(r *bits.Reader, flat []byte) ([]byte, bool) {
	n := int(r.ReadBits(3))
	if n < 7 {
		v := r.ReadBits(8 * n)
		flat = append(flat, byte(n))
		for range n {
			flat = append(flat, byte(v))
			v >>= 8
		}
		return flat, r.Err() == nil
	}
	n = int(r.ReadBits(8))
	if n < 7 || r.Left() < 8*n {
		return flat, false
	}
	flat = append(flat, byte(n))
	for range n {
		flat = append(flat, byte(r.ReadBits(8)))
	}
	return flat, r.Err() == nil
}

// unpackRow reads what packRow wrote, of a match with so many seats, and appends the row to flat.
func unpackRow(r *bits.Reader, seats uint8, s *seating, flat []byte) ([]byte, bool) {
	n := 0
	if r.ReadBool() {
		n = int(min(r.ReadUvarint(), MaxSeats)) + 1
	}
	if n > MaxSeats {
		return flat, false
	}
	flat = append(flat, byte(n))
	for ; n > 0; n-- {
		v := r.ReadBits(6)
		c := Change{Kind: ChangeKind(v & 3), Seat: uint8(v >> 2)}
		if c.Kind <= Returned {
			if c.Member = member.ID(r.ReadBits(16)); c.Member == 0 {
				return flat, false
			}
		}
		if c.Seat >= seats {
			return flat, false
		}
		s.apply(c)
		flat = appendChange(flat, c, 0)
	}
	total := 0
	for seat, mask := int8(0), s.mask; mask != 0; seat, mask = seat+1, mask>>1 {
		if mask&1 == 0 {
			continue
		}
		count := 1
		if r.ReadBits(1) == 0 {
			if count = 0; r.ReadBits(1) == 1 {
				if count = int(r.ReadBits(4)); count < 2 {
					return flat, false
				}
			}
		}
		if seat == s.own {
			flat = append(flat, byte(count)|ownItems)
			continue
		}
		flat = append(flat, byte(count))
		for ; count > 0; count-- {
			before, ok := len(flat), false
			if flat, ok = unpackItem(r, flat); !ok {
				return flat, false
			}
			if total += len(flat) - before; total > rowBytes {
				return flat, false
			}
		}
	}
	return flat, r.Err() == nil
}

// A Row is what counts in one tick, the same for all members of the match. It is good until the
// next one is asked for.
type Row struct {
	Tick    uint32
	Changes []Change
	// Seats are those that play, rising; whoever is absent is not among them.
	Seats []Taken
}

// Taken is what a row takes of the stream of one seat.
type Taken struct {
	Seat   uint8
	Member member.ID
	// Count is how many items: 1 mostly; 0 if none had come in time, so that the last command
	// counts again; and more where late ones are caught up with.
	Count uint8
	items []byte // each behind its size
}

// Player is the number of the player at the seat.
func (t *Taken) Player() uint8 { return t.Seat + 1 }

// Items goes over the items that are taken, in order.
func (t *Taken) Items(yield func(item []byte) bool) {
	for b := t.items; len(b) > 0; {
		n := 1 + int(b[0])
		if !yield(b[1:n:n]) {
			return
		}
		b = b[n:]
	}
}

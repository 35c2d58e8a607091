package bits

import "encoding/binary"

// A Reader takes values of 0 to 64 bits one after the other from data that may come from anyone. It
// never reads beyond the data and never panics; after the first error every value is zero. The zero
// Reader is at its end; Reset gives it data.
type Reader struct {
	buf   []byte
	acc   uint64 // the next bits, as many as have says, zeros above
	have  int    // at most 63
	at    int    // bits taken from the data, those of acc included
	limit int    // bits there are; negative once something failed
	// the last eight bytes, or all when there are fewer: there a whole word cannot be loaded from
	// where the reader stands
	tail   uint64
	tailAt int // where tail starts
	err    error
}

// NewReader makes a Reader of data.
func NewReader(data []byte) *Reader {
	r := new(Reader)
	r.Reset(data)
	return r
}

// Reset starts again at the beginning of data and forgets any error, for reuse from packet to
// packet.
func (r *Reader) Reset(data []byte) {
	*r = Reader{buf: data, limit: len(data) * 8}
	if len(data) >= 8 {
		r.tailAt = len(data) - 8
		r.tail = binary.LittleEndian.Uint64(data[r.tailAt:])
		return
	}
	for i, b := range data {
		r.tail |= uint64(b) << (8 * i)
	}
}

// ReadBits takes the next width bits, as WriteBits wrote them.
func (r *Reader) ReadBits(width int) uint64 {
	if v, ok := r.quick(width); ok {
		return v
	}
	return r.refill(width)
}

// quick takes a value out of the bits at hand, if there are enough: mostly, and then without a
// call.
func (r *Reader) quick(width int) (uint64, bool) {
	if uint(width) > uint(r.have) {
		return 0, false
	}
	v := r.acc & (1<<(width&63) - 1)
	r.acc >>= width & 63
	r.have -= width
	return v, true
}

// refill takes a value for which there are not enough bits at hand, and then lays in as many as can
// be.
func (r *Reader) refill(width int) uint64 {
	at := r.at - r.have
	end := at + width
	if uint(width) > 64 || end > r.limit {
		return r.fail(width)
	}
	v := r.word(at)
	if at&7+width > 64 {
		v |= uint64(r.buf[at>>3+8]) << (64 - at&7)
	}
	r.have = min(64-end&7, r.limit-end, 63)
	r.acc = r.word(end) & (1<<uint(r.have) - 1)
	r.at = end + r.have
	return v & (1<<uint(width) - 1)
}

// word gives the bits from a place on: 57 of them or more, unless the data ends before.
func (r *Reader) word(at int) uint64 {
	if i := at >> 3; i < r.tailAt {
		return binary.LittleEndian.Uint64(r.buf[i:]) >> (at & 7)
	}
	return r.tail >> uint(at-r.tailAt*8) // by 64 at the end, which gives zero
}

func (r *Reader) fail(width int) uint64 {
	if r.err == nil {
		r.err = ErrShort
		if uint(width) > 64 {
			r.err = &FieldError{Detail: "width must be 0 to 64 bits", Err: ErrUse}
		}
	}
	r.stop()
	return 0
}

// stop lets every later read fail by the check that each makes anyway. The place stays, for
// messages.
func (r *Reader) stop() {
	r.at -= r.have
	r.acc, r.have, r.limit = 0, 0, -1
}

// refuse makes the data itself wrong.
func (r *Reader) refuse(detail string) {
	if r.err == nil {
		r.err = &FieldError{Detail: detail, Err: ErrValue}
	}
	r.stop()
}

// ReadBool takes one bit.
func (r *Reader) ReadBool() bool { return r.ReadBits(1) != 0 }

// ReadUvarint takes a number written by WriteUvarint. Every number has exactly one form; a longer
// one is refused.
func (r *Reader) ReadUvarint() uint64 {
	digits := 1
	for r.ReadBits(1) != 0 {
		digits++
		if digits > 16 {
			r.refuse("variable-length number has too many digits")
			return 0
		}
	}
	v := r.ReadBits(4 * digits)
	if digits > 1 && v>>(4*uint(digits-1)) == 0 && r.err == nil {
		r.refuse("variable-length number is longer than it need be")
		return 0
	}
	return v
}

// ReadVarint takes a number written by WriteVarint.
func (r *Reader) ReadVarint() int64 {
	u := r.ReadUvarint()
	return int64(u>>1) ^ -int64(u&1)
}

// ReadBytes fills dst with the next len(dst) bytes, or with zeros when there are not as many.
func (r *Reader) ReadBytes(dst []byte) {
	if r.Len()+len(dst)*8 > r.limit {
		r.fail(0)
		clear(dst)
		return
	}
	for ; len(dst) >= 8; dst = dst[8:] {
		binary.LittleEndian.PutUint64(dst, r.ReadBits(64))
	}
	for i := range dst {
		dst[i] = byte(r.ReadBits(8))
	}
}

// Align skips to the next whole byte; bits skipped that are not zero are refused.
func (r *Reader) Align() {
	if r.ReadBits(-r.Len()&7) != 0 {
		r.refuse("padding is not zero")
	}
}

// Len is the number of bits read so far.
func (r *Reader) Len() int { return r.at - r.have }

// Left is the number of bits still to read, zero once something failed.
func (r *Reader) Left() int { return max(r.limit-r.Len(), 0) }

// Err is the first thing that went wrong, or nil.
func (r *Reader) Err() error { return r.err }

// Finish says whether the data was read without error and to its end, the zero bits that fill the
// last byte aside: a check for after the last value.
func (r *Reader) Finish() error {
	if r.err != nil {
		return r.err
	}
	if r.limit-r.Len() >= 8 {
		return ErrTrailing
	}
	r.Align()
	return r.err
}

package bits

import (
	"encoding/binary"
	"math/bits"
)

// A Writer packs values of 0 to 64 bits one after the other into a buffer that its owner provides.
// It never grows the buffer and never allocates. The zero Writer is full; Reset gives it room.
type Writer struct {
	buf   []byte
	acc   uint64 // the bits of the unfinished 64-bit word
	at    int    // bits written
	limit int    // bits there is room for; negative once something failed
	err   error
}

// NewWriter makes a Writer that fills buf, all of it and nothing beyond.
func NewWriter(buf []byte) *Writer {
	w := new(Writer)
	w.Reset(buf)
	return w
}

// Reset starts again at the beginning of buf and forgets any error, for reuse from packet to
// packet.
func (w *Writer) Reset(buf []byte) {
	*w = Writer{buf: buf, limit: len(buf) * 8}
}

// WriteBits appends the low width bits of v, least significant first. A value that has more bits
// than width is an error, not cut.
func (w *Writer) WriteBits(v uint64, width int) {
	shift := w.at & 63
	end := w.at + width
	if uint(width) > 64 || end > w.limit || v>>uint(width) != 0 {
		w.fail(v, width)
		return
	}
	acc := w.acc | v<<shift
	if shift+width >= 64 {
		binary.LittleEndian.PutUint64(w.buf[w.at>>6<<3:], acc)
		acc = v >> (64 - uint(shift))
	}
	w.acc = acc
	w.at = end
}

// quick writes a value that has no more bits than width, if it leaves the word at hand unfinished
// and there is room: nearly always, and then without a call.
func (w *Writer) quick(v uint64, width int) bool {
	shift := w.at & 63
	if shift+width > 63 || w.at+width > w.limit {
		return false
	}
	w.acc |= v << shift
	w.at += width
	return true
}

// fail keeps the first error and lets every later write fail by the check that each makes anyway.
func (w *Writer) fail(v uint64, width int) {
	if w.err == nil {
		switch {
		case uint(width) > 64:
			w.err = &FieldError{Detail: "width must be 0 to 64 bits", Err: ErrUse}
		case v>>uint(width) != 0:
			w.err = &FieldError{Detail: "value has more bits than its width", Err: ErrValue}
		default:
			w.err = ErrFull
		}
	}
	w.limit = -1
}

// WriteBool appends one bit.
func (w *Writer) WriteBool(v bool) {
	var u uint64
	if v {
		u = 1
	}
	w.WriteBits(u, 1)
}

// WriteUvarint appends a number of any size so that small ones take few bits: 5 bits below 16, 10
// below 256, and so on, 80 at most. The number of hexadecimal digits beyond the first is given as
// that many one bits and a zero bit, then come the digits.
func (w *Writer) WriteUvarint(v uint64) {
	digits := (bits.Len64(v|1) + 3) / 4
	w.WriteBits(1<<(digits-1)-1, digits)
	w.WriteBits(v, 4*digits)
}

// WriteVarint appends a number of any size and sign; small magnitudes take few bits. It is the
// Uvarint of 0, -1, 1, -2, 2 ... counted from 0.
func (w *Writer) WriteVarint(v int64) {
	w.WriteUvarint(uint64(v<<1) ^ uint64(v>>63))
}

// WriteBytes appends b, 8 bits a byte, wherever in a byte the stream stands. Its length is the
// caller's to convey.
func (w *Writer) WriteBytes(b []byte) {
	if w.at+len(b)*8 > w.limit { // all or nothing
		w.fail(0, 0)
		return
	}
	for ; len(b) >= 8; b = b[8:] {
		w.WriteBits(binary.LittleEndian.Uint64(b), 64)
	}
	for _, c := range b {
		w.WriteBits(uint64(c), 8)
	}
}

// Align appends zero bits up to the next whole byte, for what follows to be readable by the byte.
func (w *Writer) Align() {
	w.WriteBits(0, -w.at&7)
}

// Bytes is what was written so far, the last byte filled up with zero bits. Writing may go on
// afterwards. After an error it holds what had been written before.
func (w *Writer) Bytes() []byte {
	done := w.at >> 6 << 3
	n := (w.at + 7) >> 3
	for i, acc := done, w.acc; i < n; i++ {
		w.buf[i] = byte(acc)
		acc >>= 8
	}
	return w.buf[:n]
}

// Len is the number of bits written so far.
func (w *Writer) Len() int { return w.at }

// Room is the number of bits that still fit, zero once something failed.
func (w *Writer) Room() int { return max(w.limit-w.at, 0) }

// Err is the first thing that went wrong, or nil.
func (w *Writer) Err() error { return w.err }

// A Mark is a place in a Writer to go back to.
type Mark struct {
	acc   uint64
	at    int
	limit int
	err   error
}

// Mark remembers the present place, before something is tried that may not fit.
func (w *Writer) Mark() Mark { return Mark{w.acc, w.at, w.limit, w.err} }

// Rewind takes back everything since m, errors included. The mark must come from this Writer since
// its last Reset, and lie behind.
func (w *Writer) Rewind(m Mark) {
	if m.at > w.at {
		w.fail(0, 0)
		return
	}
	w.acc, w.at, w.limit, w.err = m.acc, m.at, m.limit, m.err
}

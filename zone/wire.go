package zone

import "encoding/binary"

// reader takes apart what others wrote. After the first mistake all it gives is zero.
type reader struct {
	b   []byte
	bad bool
}

func (r *reader) fail() {
	r.b, r.bad = nil, true
}

func (r *reader) byte() byte {
	if len(r.b) == 0 {
		r.fail()
		return 0
	}
	v := r.b[0]
	r.b = r.b[1:]
	return v
}

func (r *reader) uint() uint64 {
	v, n := binary.Uvarint(r.b)
	if n <= 0 || n > 1 && r.b[n-1] == 0 {
		r.fail() // a number has one form, so that what is read is written the same again
		return 0
	}
	r.b = r.b[n:]
	return v
}

func (r *reader) id() ID {
	v := r.uint()
	if v == 0 || v > 1<<32-1 {
		r.fail()
		return 0
	}
	return ID(v)
}

func (r *reader) fixed() uint64 {
	if len(r.b) < 8 {
		r.fail()
		return 0
	}
	v := binary.BigEndian.Uint64(r.b)
	r.b = r.b[8:]
	return v
}

// count reads how many things follow, each of a byte at least.
func (r *reader) count(most int) int {
	v := r.uint()
	if v > uint64(most) || v > uint64(len(r.b)) {
		r.fail()
		return 0
	}
	return int(v)
}

// bytes reads a length and as many bytes, which are not copied.
func (r *reader) bytes(most int) []byte {
	n := r.count(most)
	v := r.b[:n:n]
	r.b = r.b[n:]
	return v
}

// done says that all was read, and that it was right.
func (r *reader) done() bool { return !r.bad && len(r.b) == 0 }

func appendUint(b []byte, v uint64) []byte { return binary.AppendUvarint(b, v) }

func appendBytes(b, data []byte) []byte {
	return append(binary.AppendUvarint(b, uint64(len(data))), data...)
}

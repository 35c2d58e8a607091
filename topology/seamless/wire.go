package seamless

import "encoding/binary"

// reader takes apart what zones and servers tell each other. After the first mistake all it gives
// is zero.
type reader struct {
	b   []byte
	bad bool
}

func (r *reader) fail() { r.b, r.bad = nil, true }

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
		r.fail() // a number has one form
		return 0
	}
	r.b = r.b[n:]
	return v
}

// below reads a number that is less than a limit.
func (r *reader) below(limit uint64) uint64 {
	v := r.uint()
	if v >= limit {
		r.fail()
		return 0
	}
	return v
}

func (r *reader) int() int64 {
	v := r.uint()
	return int64(v>>1) ^ -int64(v&1)
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
func (r *reader) count() int { return int(r.below(uint64(len(r.b)) + 1)) }

// bytes reads a length and as many bytes, which are not copied.
func (r *reader) bytes() []byte {
	n := r.count()
	if r.bad || n > len(r.b) {
		r.fail()
		return nil
	}
	v := r.b[:n:n]
	r.b = r.b[n:]
	return v
}

// rest is all that is left.
func (r *reader) rest() []byte {
	v := r.b
	r.b = nil
	return v
}

// done says that all was read, and was right.
func (r *reader) done() bool { return !r.bad && len(r.b) == 0 }

func putUint(b []byte, v uint64) []byte { return binary.AppendUvarint(b, v) }

func putInt(b []byte, v int64) []byte { return putUint(b, uint64(v<<1)^uint64(v>>63)) }

func putFixed(b []byte, v uint64) []byte { return binary.BigEndian.AppendUint64(b, v) }

func putBytes(b, data []byte) []byte { return append(putUint(b, uint64(len(data))), data...) }

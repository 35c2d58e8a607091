package bits

import (
	"math"
	"math/bits"
	"strconv"
	"unsafe"
)

// A Syncer names its networked fields in one method that both reads and writes them. Pointers to a
// game's structs are Syncers.
type Syncer interface{ Sync(*Sync) }

// A Sync goes through the fields of a structure, in whichever direction and form its user started
// it: a Sync method calls one method of it for each field and need not know which.
//
// The zero Sync is ready to be started. One Sync serves any number of structures one after the
// other, allocates nothing once it is warm, and belongs to one goroutine.
type Sync struct {
	w      *Writer
	r      *Reader
	mode   mode
	strict bool

	// Where images are in use: the struct at hand (or the slice element within it), its fields,
	// which is expected next, its numbers.
	base   unsafe.Pointer
	size   uintptr
	fields []field
	next   int
	image  []int32

	layout  *Layout
	within  []element // the slice elements that base lies in, for messages
	enc     UniformEncoder
	dec     UniformDecoder
	def     *definer
	trace   []step
	scratch []byte
	err     error
}

// A mode is what happens to each field. The order matters: from replacing on fields are assigned,
// from reading on to values from outside.
type mode uint8

const (
	idle mode = iota
	writing
	encoding
	packing
	tracingWrite
	replacing
	quantising
	describing
	reading
	decoding
	unpacking
	tracingRead
)

// StartWrite makes the fields that follow go to w, packed to whole bits each, and forgets any
// error.
func (s *Sync) StartWrite(w *Writer) { s.start(writing); s.w = w }

// StartRead makes the fields that follow come from r, and forgets any error. After an error every
// field has some value of its range, so nothing breaks, but the structure is of no use.
func (s *Sync) StartRead(r *Reader) { s.start(reading); s.r = r }

// StartEncode makes the fields that follow go to a coder that wastes no part of a bit, and forgets
// any error.
func (s *Sync) StartEncode(e UniformEncoder) { s.start(encoding); s.enc = e }

// StartDecode makes the fields that follow come from a coder, and forgets any error.
func (s *Sync) StartDecode(d UniformDecoder) { s.start(decoding); s.dec = d }

// StartQuantise makes each field that follows take the nearest value that can be sent, and forgets
// any error. Where the type has a Layout its Quantise does the same and can name fields in errors.
func (s *Sync) StartQuantise() { s.start(quantising) }

func (s *Sync) start(m mode) {
	s.mode, s.err = m, nil
	s.layout, s.base, s.size, s.fields, s.next, s.image = nil, nil, 0, nil, 0, nil
	s.within = s.within[:0]
}

// SetStrict is for development: when a game gives a value that its field cannot hold (a float that
// is not a number, a string too long), it is not only brought into range but also kept as the
// error. It stays set until changed.
func (s *Sync) SetStrict(on bool) { s.strict = on }

// Reading says whether fields are being assigned from outside, for a Sync method that then
// recomputes what it derives from them.
func (s *Sync) Reading() bool { return s.mode >= reading }

// Err is the first thing that went wrong since the Sync was started, with the field's name where a
// Layout is in use.
func (s *Sync) Err() error {
	if s.err != nil {
		return s.err
	}
	switch s.mode {
	case writing, tracingWrite:
		return s.w.Err()
	case reading, tracingRead:
		return s.r.Err()
	case decoding:
		return s.dec.Err()
	}
	return nil
}

// stores says whether the field is to be assigned.
func (s *Sync) stores() bool { return s.mode >= replacing }

// number takes one number k in lo..hi the way of the mode, and gives it back or what came instead
// of it. Everything that has one slot comes by here. p, kind and aux tell the field from others in
// images.
func (s *Sync) number(p unsafe.Pointer, kind Kind, k, lo, hi int32, aux uint64) int32 {
	switch s.mode {
	case writing:
		if width := bits.Len32(uint32(hi - lo)); !s.w.quick(uint64(uint32(k-lo)), width) {
			s.w.WriteBits(uint64(uint32(k-lo)), width)
		}
		return k
	case reading:
		v, ok := s.r.quick(bits.Len32(uint32(hi - lo)))
		if !ok {
			v = s.r.refill(bits.Len32(uint32(hi - lo)))
		}
		u := uint32(v)
		if u > uint32(hi-lo) {
			s.outside(p, kind, int64(lo), int64(hi))
			return lo
		}
		return lo + int32(u)
	case packing, replacing, unpacking:
		// What find does, written out, since this is where the time goes.
		var f *field
		if i := s.next; i < len(s.fields) &&
			s.fields[i].place == place(uintptr(p)-uintptr(s.base), kind) &&
			s.fields[i].bounds == bounds(lo, hi) && s.fields[i].aux == aux {
			f = &s.fields[i]
			s.next = i + 1
		} else if f = s.seekOne(p, kind, lo, hi, aux); f == nil {
			return lo
		}
		if s.mode != unpacking {
			s.image[f.slot] = k
			return k
		}
		k = s.image[f.slot]
		if k < lo || k > hi {
			s.outside(p, kind, int64(lo), int64(hi))
			return lo
		}
		return k
	case quantising:
		return k
	}
	return s.otherwise(p, kind, k, lo, hi, aux)
}

// otherwise is number in the modes that need not be as fast.
func (s *Sync) otherwise(p unsafe.Pointer, kind Kind, k, lo, hi int32, aux uint64) int32 {
	switch s.mode {
	case encoding:
		encodeUniform(s.enc, uint64(uint32(k-lo)), uint64(uint32(hi-lo)))
		return k
	case decoding:
		return lo + int32(uint32(decodeUniform(s.dec, uint64(uint32(hi-lo)))))
	case describing:
		s.def.at.meet(p, kind, 1, [4]int32{lo}, [4]int32{hi}, aux)
		return s.def.value(kind, lo, hi)
	case tracingWrite, tracingRead:
		m := s.traceStep(p, kind, lo, hi, aux)
		k = s.number(p, kind, k, lo, hi, aux)
		s.mode = m
		return k
	}
	s.unstarted()
	return k
}

// numbers does for the n numbers of a vector or quaternion what number does for one, in place.
func (s *Sync) numbers(p unsafe.Pointer, kind Kind, n int, k, lo, hi *[4]int32, aux uint64) {
	switch s.mode {
	case writing:
		// Those that fit into one word go as one: least significant bit first, that is the same as
		// one after the other.
		var all uint64
		var width int
		for i := range n {
			w := bits.Len32(uint32(hi[i&3] - lo[i&3]))
			if width+w > 64 {
				s.w.WriteBits(all, width)
				all, width = 0, 0
			}
			all |= uint64(uint32(k[i&3]-lo[i&3])) << (width & 63)
			width += w
		}
		s.w.WriteBits(all, width)
	case reading:
		for i := range n {
			v, ok := s.r.quick(bits.Len32(uint32(hi[i&3] - lo[i&3])))
			if !ok {
				v = s.r.refill(bits.Len32(uint32(hi[i&3] - lo[i&3])))
			}
			u := uint32(v)
			if u > uint32(hi[i&3]-lo[i&3]) {
				s.outside(p, kind, int64(lo[i&3]), int64(hi[i&3]))
				u = 0
			}
			k[i&3] = lo[i&3] + int32(u)
		}
	case packing, replacing:
		if f := s.find(p, kind, lo, hi, aux); f != nil {
			copy(s.image[f.slot:f.slot+f.slots], k[:n])
		}
	case unpacking:
		f := s.find(p, kind, lo, hi, aux)
		if f == nil {
			*k = *lo
			return
		}
		copy(k[:n], s.image[f.slot:f.slot+f.slots])
		for i := range n {
			if k[i&3] < lo[i&3] || k[i&3] > hi[i&3] {
				s.outside(p, kind, int64(lo[i&3]), int64(hi[i&3]))
				k[i&3] = lo[i&3]
			}
		}
	case quantising:
	case encoding:
		for i := range n {
			encodeUniform(s.enc, uint64(uint32(k[i]-lo[i])), uint64(uint32(hi[i]-lo[i])))
		}
	case decoding:
		for i := range n {
			k[i] = lo[i] + int32(uint32(decodeUniform(s.dec, uint64(uint32(hi[i]-lo[i])))))
		}
	case describing:
		s.def.numbers(p, kind, n, k, lo, hi, aux)
	case tracingWrite, tracingRead:
		m := s.traceStep(p, kind, lo[0], hi[0], aux)
		s.numbers(p, kind, n, k, lo, hi, aux)
		s.mode = m
	default:
		s.unstarted()
	}
}

// wide takes a 64-bit value v, which lies at most span above lo, the way of the mode. Its slots are
// its upper and lower 32 bits, or the lower alone where the upper are the same throughout the
// range.
func (s *Sync) wide(p unsafe.Pointer, kind Kind, v, lo, span uint64) uint64 {
	switch s.mode {
	case writing:
		s.w.WriteBits(v-lo, bits.Len64(span))
	case reading:
		u := s.r.ReadBits(bits.Len64(span))
		if u > span {
			s.outside(p, kind, int64(lo), int64(lo+span))
			u = 0
		}
		v = lo + u
	case encoding:
		encodeUniform(s.enc, v-lo, span)
	case decoding:
		v = lo + decodeUniform(s.dec, span)
	case tracingWrite, tracingRead:
		m := s.traceStep(p, kind, int32(lo>>32), int32((lo+span)>>32), lo)
		v = s.wide(p, kind, v, lo, span)
		s.mode = m
	default:
		return s.words(p, kind, v, lo, span)
	}
	return v
}

// words is what wide and variable-length numbers do where images are in use.
func (s *Sync) words(p unsafe.Pointer, kind Kind, v, lo, span uint64) uint64 {
	if s.mode == quantising {
		return v
	}
	first, last := int32(lo>>32), int32((lo+span)>>32)
	if first > last { // an unsigned range across the middle
		first, last = math.MinInt32, math.MaxInt32
	}
	n := 2
	l, h := [4]int32{first, math.MinInt32}, [4]int32{last, math.MaxInt32}
	k := [4]int32{int32(v >> 32), int32(v)}
	if lo>>32 == (lo+span)>>32 {
		n = 1
		l, h = [4]int32{math.MinInt32}, [4]int32{math.MaxInt32}
		k[0] = k[1]
	}
	s.numbers(p, kind, n, &k, &l, &h, lo)
	if n == 1 {
		v = lo>>32<<32 | uint64(uint32(k[0]))
	} else {
		v = uint64(uint32(k[0]))<<32 | uint64(uint32(k[1]))
	}
	if v-lo > span {
		if s.mode == unpacking {
			s.outside(p, kind, int64(lo), int64(lo+span))
		}
		return lo
	}
	return v
}

// outside reports a number that came from outside and is not in its field's range.
func (s *Sync) outside(p unsafe.Pointer, kind Kind, lo, hi int64) {
	s.refuse(p, kind, "not in "+span(lo, hi))
}

// refuse reports data that no writer makes, and stops reading.
func (s *Sync) refuse(p unsafe.Pointer, kind Kind, detail string) {
	if s.mode == describing {
		return
	}
	if (s.mode == reading || s.mode == tracingRead) && s.r.err != nil {
		return // the data ended; what follows from that is no news
	}
	s.fail(p, kind, ErrValue, detail)
	if s.mode == reading || s.mode == tracingRead {
		s.r.refuse(detail)
	}
}

// note keeps, in strict mode, that the game gave a value that had to be changed. What a field held
// before it is read does not count.
func (s *Sync) note(p unsafe.Pointer, kind Kind, detail string) {
	if s.strict && s.mode < describing {
		s.fail(p, kind, ErrValue, detail)
	}
}

// misuse reports a call that can never work.
func (s *Sync) misuse(p unsafe.Pointer, kind Kind, detail string) {
	s.fail(p, kind, ErrUse, detail)
}

// Refuse ends reading with an error, if there is one: for what reads a value and then finds that
// nobody can have written it. While writing it does nothing.
func (s *Sync) Refuse(err error) {
	if err == nil || !s.Reading() || s.err != nil {
		return
	}
	s.err = err
	if s.mode == reading || s.mode == tracingRead {
		s.r.refuse(err.Error())
	}
}

func (s *Sync) fail(p unsafe.Pointer, kind Kind, err error, detail string) {
	if s.err != nil {
		return
	}
	e := &FieldError{Err: err, Detail: kind.String() + " " + detail}
	if s.layout != nil {
		e.Type, e.Field = s.layout.schema.Name, s.name(p)
	} else if s.mode == describing {
		at := s.def.at
		e.Field = fieldName(at.typ, at.offset(p), kind)
	}
	s.err = e
}

func (s *Sync) unstarted() {
	if s.err == nil {
		s.err = &FieldError{Err: ErrUse, Detail: "the Sync was not started"}
	}
}

// broken says whether going on reading is of no use, for loops whose length came from outside.
func (s *Sync) broken() bool { return s.mode >= reading && s.Err() != nil }

func number(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

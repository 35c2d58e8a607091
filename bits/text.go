package bits

import (
	"math/bits"
	"strconv"
	"unicode/utf8"
	"unsafe"
)

// MaxLimit is the most that a string, byte slice or slice can be allowed to hold.
const MaxLimit = 1<<16 - 1

// String syncs a string of at most limit bytes; a longer one is cut, between characters. Any bytes
// are allowed: whoever shows strings from strangers should see whether they are valid UTF-8. In an
// image every string takes as much room as the longest.
func (s *Sync) String(p *string, limit int) {
	v := *p
	at := unsafe.Pointer(p)
	if !s.limited(at, KindString, limit) {
		return
	}
	if len(v) > limit {
		s.tooLong(at, KindString, len(v), limit)
		cut := limit
		for cut > 0 && !utf8.RuneStart(v[cut]) {
			cut--
		}
		v = v[:cut]
	}
	b := s.text(at, KindString, unsafe.Slice(unsafe.StringData(v), len(v)), limit)
	// a comparison does not allocate; what did not change is left alone
	if s.stores() && string(b) != *p {
		*p = string(b)
	}
}

// Bytes syncs at most limit bytes; what is longer is cut. Reading reuses the slice's memory where
// it suffices. In an image every slice takes as much room as the longest.
func (s *Sync) Bytes(p *[]byte, limit int) {
	v := *p
	at := unsafe.Pointer(p)
	if !s.limited(at, KindBytes, limit) {
		return
	}
	if len(v) > limit {
		s.tooLong(at, KindBytes, len(v), limit)
		v = v[:limit]
	}
	b := s.text(at, KindBytes, v, limit)
	switch {
	case s.Reading() || s.mode == describing:
		*p = append((*p)[:0], b...)
	case s.stores():
		*p = v
	}
}

func (s *Sync) limited(p unsafe.Pointer, kind Kind, limit int) bool {
	if limit >= 0 && limit <= MaxLimit {
		return true
	}
	s.misuse(p, kind, "needs a limit from 0 to "+strconv.Itoa(MaxLimit))
	return false
}

func (s *Sync) tooLong(p unsafe.Pointer, kind Kind, n, limit int) {
	if !s.strict {
		return
	}
	s.note(p, kind, "has length "+strconv.Itoa(n)+", above its limit of "+strconv.Itoa(limit))
}

// text takes bytes the way of the mode, and gives them back or what came instead of them, in memory
// that the next call uses again.
func (s *Sync) text(p unsafe.Pointer, kind Kind, b []byte, limit int) []byte {
	width := bits.Len32(uint32(limit))
	switch s.mode {
	case writing:
		s.w.WriteBits(uint64(len(b)), width)
		s.w.WriteBytes(b)
	case reading:
		n := int(s.r.ReadBits(width))
		if n > limit {
			s.outside(p, kind, 0, int64(limit))
			return nil
		}
		if n*8 > s.r.Left() { // before there is memory for it
			s.r.fail(0)
			return nil
		}
		b = s.room(n)
		s.r.ReadBytes(b)
	case encoding:
		encodeUniform(s.enc, uint64(len(b)), uint64(limit))
		for _, c := range b {
			s.enc.EncodeUniform(uint64(c), 256)
		}
	case decoding:
		n := int(decodeUniform(s.dec, uint64(limit)))
		b = s.room(0)
		for range n {
			if s.dec.Err() != nil {
				break
			}
			b = append(b, byte(s.dec.DecodeUniform(256)))
		}
		s.scratch = b
	case packing, replacing:
		if f := s.find(p, kind, &[4]int32{}, &[4]int32{int32(limit)}, 0); f != nil {
			s.image[f.slot] = int32(len(b))
			packText(s.image[f.slot+1:f.slot+f.slots], b)
		}
	case unpacking:
		return s.unpackText(p, kind, limit)
	case quantising:
	case describing:
		b = s.room(int(s.def.length(p, kind, limit, nil)))
		clear(b)
	case tracingWrite, tracingRead:
		m := s.traceStep(p, kind, 0, int32(limit), 0)
		b = s.text(p, kind, b, limit)
		s.mode = m
	default:
		s.unstarted()
	}
	return b
}

func packText(image []int32, b []byte) {
	for i := range image {
		var word uint32
		for j, c := range b[min(4*i, len(b)):min(4*i+4, len(b))] {
			word |= uint32(c) << (8 * j)
		}
		image[i] = int32(word)
	}
}

func (s *Sync) unpackText(p unsafe.Pointer, kind Kind, limit int) []byte {
	f := s.find(p, kind, &[4]int32{}, &[4]int32{int32(limit)}, 0)
	if f == nil {
		return nil
	}
	n := s.image[f.slot]
	if n < 0 || int(n) > limit {
		s.outside(p, kind, 0, int64(limit))
		return nil
	}
	b := s.room(int(n))
	words := s.image[f.slot+1 : f.slot+f.slots]
	for i := range b {
		b[i] = byte(words[i/4] >> (8 * (i % 4)))
	}
	for i := int(n); i < 4*len(words); i++ {
		if byte(words[i/4]>>(8*(i%4))) != 0 {
			s.refuse(p, kind, "has bytes beyond its length")
			break
		}
	}
	return b
}

// room gives n bytes of memory that is used again and again.
func (s *Sync) room(n int) []byte {
	if cap(s.scratch) < n {
		s.scratch = make([]byte, n)
	}
	s.scratch = s.scratch[:n]
	return s.scratch
}

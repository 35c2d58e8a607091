package bits

import (
	"math"
	"math/bits"
	"strconv"
	"unsafe"
)

// Bool syncs a yes or no, one bit, and returns it, so that fields which only matter then can stand
// in an if.
func (s *Sync) Bool(p *bool) bool {
	switch s.mode {
	case writing:
		s.w.WriteBool(*p)
		return *p
	case reading:
		*p = s.r.ReadBits(1) != 0
		return *p
	}
	k := int32(0)
	if *p {
		k = 1
	}
	k = s.number(unsafe.Pointer(p), KindBool, k, 0, 1, 0)
	if s.stores() {
		*p = k != 0
	}
	return *p
}

// Int syncs a whole number from min to max, in as many bits as max-min has. What is beyond is
// brought to the nearer end.
func (s *Sync) Int(p *int, min, max int) {
	if v, store := s.integer(unsafe.Pointer(p), int64(*p), int64(min), int64(max)); store {
		*p = int(v)
	}
}

// Int8 is Int for an int8.
func (s *Sync) Int8(p *int8, min, max int8) {
	if v, store := s.integer(unsafe.Pointer(p), int64(*p), int64(min), int64(max)); store {
		*p = int8(v)
	}
}

// Int16 is Int for an int16.
func (s *Sync) Int16(p *int16, min, max int16) {
	if v, store := s.integer(unsafe.Pointer(p), int64(*p), int64(min), int64(max)); store {
		*p = int16(v)
	}
}

// Int32 is Int for an int32.
func (s *Sync) Int32(p *int32, min, max int32) {
	if v, store := s.integer(unsafe.Pointer(p), int64(*p), int64(min), int64(max)); store {
		*p = int32(v)
	}
}

// Int64 is Int for an int64. The whole range of an int64 is allowed.
func (s *Sync) Int64(p *int64, min, max int64) {
	if v, store := s.integer(unsafe.Pointer(p), *p, min, max); store {
		*p = v
	}
}

// Uint8 is Int for a uint8.
func (s *Sync) Uint8(p *uint8, min, max uint8) {
	if v, store := s.integer(unsafe.Pointer(p), int64(*p), int64(min), int64(max)); store {
		*p = uint8(v)
	}
}

// Uint16 is Int for a uint16.
func (s *Sync) Uint16(p *uint16, min, max uint16) {
	if v, store := s.integer(unsafe.Pointer(p), int64(*p), int64(min), int64(max)); store {
		*p = uint16(v)
	}
}

// Uint32 is Int for a uint32.
func (s *Sync) Uint32(p *uint32, min, max uint32) {
	if v, store := s.integer(unsafe.Pointer(p), int64(*p), int64(min), int64(max)); store {
		*p = uint32(v)
	}
}

// Uint64 is Int for a uint64. The whole range of a uint64 is allowed.
func (s *Sync) Uint64(p *uint64, min, max uint64) {
	if v, store := s.unsigned(unsafe.Pointer(p), *p, min, max); store {
		*p = v
	}
}

// A Whole is any type made of whole numbers.
type Whole interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 |
		~uintptr
}

// Integer syncs a whole number of a type of the game's own, from min to max. For the built-in types
// the methods Int, Uint8 and so on are shorter.
func Integer[T Whole](s *Sync, p *T, min, max T) {
	if ^T(0) < 0 || uint64(max) <= math.MaxInt64 {
		if v, store := s.integer(unsafe.Pointer(p), saturate(*p), int64(min), int64(max)); store {
			*p = T(v)
		}
		return
	}
	if v, store := s.unsigned(unsafe.Pointer(p), uint64(*p), uint64(min), uint64(max)); store {
		*p = T(v)
	}
}

// saturate is v as an int64, or the greatest there is.
func saturate[T Whole](v T) int64 {
	if v > 0 && int64(v) < 0 {
		return math.MaxInt64
	}
	return int64(v)
}

// Enum syncs one of count named values, 0 to count-1. Unlike an Int's, the values have no order
// that a codec could use.
func Enum[T Whole](s *Sync, p *T, count int) {
	if count < 1 || count > math.MaxInt32 {
		s.misuse(unsafe.Pointer(p), KindEnum, "needs a count from 1 to 2147483647")
		return
	}
	v := saturate(*p)
	if v < 0 || v >= int64(count) {
		if s.strict {
			s.note(unsafe.Pointer(p), KindEnum,
				"was given "+strconv.FormatInt(v, 10)+", not in "+span(0, int64(count-1)))
		}
		v = min(max(v, 0), int64(count-1))
	}
	k := s.number(unsafe.Pointer(p), KindEnum, int32(v), 0, int32(count-1), 0)
	if s.stores() {
		*p = T(k)
	}
}

// integer is what the methods for bounded whole numbers share. It says whether to assign the
// result, which keeps them small enough to inline.
func (s *Sync) integer(p unsafe.Pointer, v, lo, hi int64) (int64, bool) {
	if s.mode == writing && v >= lo && v <= hi { // the shortest way for the commonest cases
		u, width := uint64(v)-uint64(lo), bits.Len64(uint64(hi)-uint64(lo))
		if !s.w.quick(u, width) {
			s.w.WriteBits(u, width)
		}
		return v, false
	}
	if s.mode == reading && lo <= hi {
		most := uint64(hi) - uint64(lo)
		u, ok := s.r.quick(bits.Len64(most))
		if !ok {
			u = s.r.refill(bits.Len64(most))
		}
		if u > most {
			s.outside(p, KindInt, lo, hi)
			u = 0
		}
		return int64(uint64(lo) + u), true
	}
	if v < lo || v > hi {
		if lo > hi {
			s.misuse(p, KindInt, "has its minimum above its maximum")
			return v, false
		}
		if s.strict {
			s.note(p, KindInt, "was given "+strconv.FormatInt(v, 10)+", not in "+span(lo, hi))
		}
		v = min(max(v, lo), hi)
	}
	if int64(int32(lo)) == lo && int64(int32(hi)) == hi {
		return int64(s.number(p, KindInt, int32(v), int32(lo), int32(hi), 0)), s.stores()
	}
	return int64(s.wide(p, KindInt, uint64(v), uint64(lo), uint64(hi)-uint64(lo))), s.stores()
}

// unsigned is integer for ranges that an int64 may not hold.
func (s *Sync) unsigned(p unsafe.Pointer, v, lo, hi uint64) (uint64, bool) {
	if v < lo || v > hi {
		if lo > hi {
			s.misuse(p, KindInt, "has its minimum above its maximum")
			return v, false
		}
		if s.strict {
			s.note(p, KindInt,
				"was given "+strconv.FormatUint(v, 10)+", not in "+strconv.FormatUint(lo, 10)+".."+
					strconv.FormatUint(hi, 10))
		}
		v = min(max(v, lo), hi)
	}
	if hi <= math.MaxInt32 {
		return uint64(s.number(p, KindInt, int32(v), int32(lo), int32(hi), 0)), s.stores()
	}
	return s.wide(p, KindInt, v, lo, hi-lo), s.stores()
}

// Varint syncs a whole number of any size and sign that is mostly small: 5 bits from -8 to 7, 10
// from -128 to 127, and so on.
func (s *Sync) Varint(p *int64) {
	v := *p
	switch s.mode {
	case writing:
		s.w.WriteVarint(v)
	case reading:
		v = s.r.ReadVarint()
	case encoding, decoding:
		u := s.digits(uint64(v<<1) ^ uint64(v>>63))
		v = int64(u>>1) ^ -int64(u&1)
	case tracingWrite, tracingRead:
		m := s.traceStep(unsafe.Pointer(p), KindVarint, 0, 0, 0)
		s.Varint(p)
		s.mode = m
		return
	default:
		v = int64(s.words(unsafe.Pointer(p), KindVarint, uint64(v), 1<<63, math.MaxUint64))
	}
	if s.stores() {
		*p = v
	}
}

// Uvarint syncs a whole number from zero up that is mostly small: 5 bits below 16, 10 below 256,
// and so on.
func (s *Sync) Uvarint(p *uint64) {
	v := *p
	switch s.mode {
	case writing:
		s.w.WriteUvarint(v)
	case reading:
		v = s.r.ReadUvarint()
	case encoding, decoding:
		v = s.digits(v)
	case tracingWrite, tracingRead:
		m := s.traceStep(unsafe.Pointer(p), KindUvarint, 0, 0, 0)
		s.Uvarint(p)
		s.mode = m
		return
	default:
		v = s.words(unsafe.Pointer(p), KindUvarint, v, 0, math.MaxUint64)
	}
	if s.stores() {
		*p = v
	}
}

// digits takes a variable-length number through a coder: how many hexadecimal digits it has, then
// those.
func (s *Sync) digits(v uint64) uint64 {
	if s.mode == encoding {
		n := (bits.Len64(v|1) + 3) / 4
		s.enc.EncodeUniform(uint64(n-1), 16)
		encodeUniform(s.enc, v, 1<<(4*uint(n))-1)
		return v
	}
	n := s.dec.DecodeUniform(16) + 1
	v = decodeUniform(s.dec, 1<<(4*n)-1)
	if n > 1 && v>>(4*(n-1)) == 0 && s.err == nil {
		s.err = &FieldError{
			Detail: "variable-length number is longer than it need be", Err: ErrValue}
	}
	return v
}

package bits

import "unsafe"

// Slice syncs a slice of at most limit elements, each by its own Sync method or a function like it:
//
//	bits.Slice(s, &t.Shells, 8, (*Shell).Sync)
//
// A longer slice is cut. Reading keeps the elements there are and appends or drops at the end;
// memory is reused where it suffices. In an image every slice takes as much room as the longest.
func Slice[T any](s *Sync, p *[]T, limit int, item func(*T, *Sync)) {
	at := unsafe.Pointer(p)
	if !s.limited(at, KindSlice, limit) {
		return
	}
	n := len(*p)
	if n > limit {
		s.tooLong(at, KindSlice, n, limit)
		n = limit
	}
	n, f := s.count(at, n, limit, unsafe.Sizeof(*new(T)))
	if s.stores() && n < len(*p) {
		*p = (*p)[:n]
	}
	for i := 0; i < n && !s.broken(); i++ {
		if i == len(*p) { // one at a time, so that a length from a stranger alone costs no memory
			*p = append(*p, *new(T))
		}
		v := &(*p)[i]
		switch {
		case s.mode == describing:
			if i == 0 {
				out := s.def.enter(unsafe.Pointer(v))
				item(v, s)
				s.def.leave(out)
			}
		case f != nil:
			out := s.enter(f, unsafe.Pointer(v), i)
			item(v, s)
			s.leave(out)
		default:
			item(v, s)
		}
	}
}

// count takes the length of a slice the way of the mode, with the field where images are in use.
func (s *Sync) count(p unsafe.Pointer, n, limit int, size uintptr) (int, *field) {
	switch s.mode {
	case packing, replacing, unpacking:
		f := s.find(p, KindSlice, &[4]int32{}, &[4]int32{int32(limit)}, uint64(size))
		switch {
		case f == nil:
			return 0, nil
		case s.mode != unpacking:
			s.image[f.slot] = int32(n)
		default:
			n = int(s.image[f.slot])
			if n < 0 || n > limit {
				s.outside(p, KindSlice, 0, int64(limit))
				n = 0
			}
		}
		return n, f
	case describing:
		return int(s.def.length(p, KindSlice, limit, &size)), nil
	}
	return int(s.number(p, KindSlice, int32(n), 0, int32(limit), uint64(size))), nil
}

// An Option is a value that may be missing, kept in place: no pointer, so that structs stay plain
// memory to copy and compare.
type Option[T any] struct {
	Value T
	Set   bool // whether there is a value
}

// Some is an Option with a value.
func Some[T any](v T) Option[T] { return Option[T]{v, true} }

// Optional syncs a value that may be missing: one bit, then the value if there is one, by its own
// Sync method or a function like it:
//
//	bits.Optional(s, &t.Target, (*Target).Sync)
//
// The value of one that is missing becomes the zero value, on every machine.
func Optional[T any](s *Sync, p *Option[T], item func(*T, *Sync)) {
	if s.Bool(&p.Set) {
		item(&p.Value, s)
		return
	}
	if s.stores() {
		p.Value = *new(T)
	}
}

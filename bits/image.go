package bits

import (
	"reflect"
	"strconv"
	"unsafe"
)

// A field is one call of a Sync method's, known by where in the struct it points and by its range,
// and the numbers it has in images. Its place in a struct, not the order of calls, is what it is:
// so it keeps its slots whichever branches are taken around it.
type field struct {
	place  uint64 // offset and kind in one
	bounds uint64 // the first of lo and of hi in one
	// what else tells it from others: the resolution of a float, the lower bound of a wide number
	aux    uint64
	slot   int32 // the first of its numbers
	slots  int32 // how many
	offset uintptr
	kind   Kind
	lo, hi [4]int32
	item   *scope // of a slice: what an element is made of
}

func place(offset uintptr, kind Kind) uint64 { return uint64(offset)<<8 | uint64(kind) }

func bounds(lo, hi int32) uint64 { return uint64(uint32(lo))<<32 | uint64(uint32(hi)) }

// apart is the offset of a value that is not in the struct, such as a local variable. Those are
// told apart by kind, range and order.
const apart = ^uintptr(0)

// A scope is the fields of one struct, or of one element of a slice, and what an image holds where
// all are absent.
type scope struct {
	typ    reflect.Type // nil where it cannot be known
	size   uintptr
	fields []field
	absent []int32

	// Of each field:
	names    []string
	optional []bool
}

// An element is a place within a slice.
type element struct {
	field *field
	index int
}

// find gives the field that a call means. Mostly it is the next one; where a branch was left out it
// is further on.
func (s *Sync) find(p unsafe.Pointer, kind Kind, lo, hi *[4]int32, aux uint64) *field {
	if s.next < len(s.fields) {
		f := &s.fields[s.next]
		if f.place == place(uintptr(p)-uintptr(s.base), kind) && f.aux == aux && f.lo == *lo &&
			f.hi == *hi {
			s.next++
			return f
		}
	}
	return s.seek(p, kind, lo, hi, aux)
}

// seek looks on from the expected field, and then, for a Sync that orders its fields differently in
// different branches, from the first. Values apart from the struct must come in order.
func (s *Sync) seek(p unsafe.Pointer, kind Kind, lo, hi *[4]int32, aux uint64) *field {
	offset := uintptr(p) - uintptr(s.base)
	if offset >= s.size {
		offset = apart
	}
	n := len(s.fields)
	end := n
	if offset != apart {
		end += s.next
	}
	for i := s.next; i < end; i++ {
		j := i
		if j >= n {
			j -= n
		}
		f := &s.fields[j]
		if f.offset == offset && f.kind == kind && f.lo == *lo && f.hi == *hi && f.aux == aux {
			s.next = j + 1
			return f
		}
	}
	s.fail(p, kind, ErrPath,
		span(int64(lo[0]), int64(hi[0]))+" was not met when the layout was made; "+
			"let branches depend on synced bools, enumerations and counts only")
	return nil
}

// seekOne is seek for a field of one number.
func (s *Sync) seekOne(p unsafe.Pointer, kind Kind, lo, hi int32, aux uint64) *field {
	return s.seek(p, kind, &[4]int32{lo}, &[4]int32{hi}, aux)
}

// enter makes element i of a slice the struct at hand, and gives what leave needs to go back.
func (s *Sync) enter(f *field, p unsafe.Pointer, i int) frame {
	out := frame{s.base, s.size, s.fields, s.next, s.image}
	n := len(f.item.absent)
	first := int(f.slot) + 1 + i*n
	s.within = append(s.within, element{f, i})
	s.base, s.size, s.fields, s.next = p, f.item.size, f.item.fields, 0
	s.image = s.image[first : first+n]
	return out
}

func (s *Sync) leave(out frame) {
	s.base, s.size, s.fields, s.next, s.image = out.base, out.size, out.fields, out.next, out.image
	s.within = s.within[:len(s.within)-1]
}

type frame struct {
	base   unsafe.Pointer
	size   uintptr
	fields []field
	next   int
	image  []int32
}

// name is the full name of the field that p points at.
func (s *Sync) name(p unsafe.Pointer) string {
	at := s.layout.root
	path := ""
	for _, e := range s.within {
		path += at.fieldName(e.field.offset) + "[" + strconv.Itoa(e.index) + "]."
		at = e.field.item
	}
	return path + at.fieldName(uintptr(p)-uintptr(s.base))
}

func (sc *scope) fieldName(offset uintptr) string {
	for i := range sc.fields {
		if sc.fields[i].offset == offset {
			return sc.names[i]
		}
	}
	if offset >= sc.size {
		offset = apart
	}
	return fieldName(sc.typ, offset, KindNone)
}

package bits

import (
	"reflect"
	"strconv"
	"unsafe"
)

// A sketch is what is known so far of a struct's or slice element's fields, while its Sync method
// is being explored.
type sketch struct {
	typ    reflect.Type // nil where it cannot be known
	size   uintptr
	fields []*draft // in order: a field met between two known ones is put between them
	visits int

	// In the present visit:
	base unsafe.Pointer
	last int // the field met last
	met  map[identity]int
	// Over all visits: how many values apart from the struct look alike.
	alike map[identity]int
}

// A draft is a field in a sketch.
type draft struct {
	identity
	nth    int // of those that look alike, for values apart from the struct
	slots  int32
	item   *sketch
	visits int // in how many visits it was met
	visit  int // the last of them
}

// An identity is what tells a field from others.
type identity struct {
	offset uintptr
	kind   Kind
	aux    uint64
	lo, hi [4]int32
}

func (sk *sketch) begin(p unsafe.Pointer) {
	sk.visits++
	sk.base, sk.last = p, -1
	sk.met = map[identity]int{}
}

// end looks whether values apart from the struct can be told from each other: they can be if, of
// those that look alike, always all are met or none.
func (sk *sketch) end() error {
	if sk.alike == nil {
		sk.alike = map[identity]int{}
	}
	for id, n := range sk.met {
		if sk.alike[id] == 0 {
			sk.alike[id] = n
		}
		if sk.alike[id] != n {
			return &FieldError{Field: fieldName(sk.typ, apart, id.kind), Err: ErrUse,
				Detail: id.kind.String() + " " + span(int64(id.lo[0]), int64(id.hi[0])) +
					" is met " + strconv.Itoa(n) + " times on one path and " +
					strconv.Itoa(sk.alike[id]) +
					" on another, so it cannot be known which is which; sync a field of the " +
					"struct itself instead"}
		}
	}
	return nil
}

func (sk *sketch) offset(p unsafe.Pointer) uintptr {
	if o := uintptr(p) - uintptr(sk.base); o < sk.size {
		return o
	}
	return apart
}

// meet notes that a field was met.
func (sk *sketch) meet(p unsafe.Pointer, kind Kind, slots int32, lo, hi [4]int32,
	aux uint64) *draft {
	id := identity{sk.offset(p), kind, aux, lo, hi}
	nth := 0
	if id.offset == apart {
		nth = sk.met[id]
		sk.met[id]++
	}
	for i, f := range sk.fields {
		if f.identity == id && f.nth == nth {
			sk.last = i
			if f.visit != sk.visits {
				f.visit = sk.visits
				f.visits++
			}
			return f
		}
	}
	f := &draft{identity: id, nth: nth, slots: slots, visits: 1, visit: sk.visits}
	sk.last++
	sk.fields = append(sk.fields, nil)
	copy(sk.fields[sk.last+1:], sk.fields[sk.last:])
	sk.fields[sk.last] = f
	return f
}

// finish numbers the slots.
func (sk *sketch) finish() (*scope, error) {
	sc := &scope{typ: sk.typ, size: sk.size}
	seen := map[string]int{}
	for _, d := range sk.fields {
		f := field{place: place(d.offset, d.kind), bounds: bounds(d.lo[0], d.hi[0]), aux: d.aux,
			slot: int32(len(sc.absent)), slots: d.slots,
			offset: d.offset, kind: d.kind, lo: d.lo, hi: d.hi}
		name := fieldName(sk.typ, d.offset, d.kind)
		if d.item != nil {
			item, err := d.item.finish()
			if err != nil {
				return nil, err
			}
			f.item = item
			if n := int64(len(item.absent)) * int64(d.hi[0]); n < MaxSlots {
				f.slots += int32(n)
			} else {
				f.slots = MaxSlots + 1
			}
		}
		if int(f.slot)+int(f.slots) > MaxSlots {
			return nil, &FieldError{Field: name, Err: ErrUse,
				Detail: "an image would have more than " + strconv.Itoa(MaxSlots) +
					" numbers; lower the limits of strings and slices"}
		}
		absent := make([]int32, f.slots)
		switch {
		case d.item != nil:
			for i := range int(d.hi[0]) {
				copy(absent[1+i*len(f.item.absent):], f.item.absent)
			}
		case d.slots <= 4 && d.kind != KindString && d.kind != KindBytes:
			for i := range absent {
				absent[i] = nearestZero(d.lo[i], d.hi[i])
			}
		}
		seen[name]++
		if seen[name] > 1 { // one place, synced in two ways
			name += "#" + strconv.Itoa(seen[name])
		}
		sc.absent = append(sc.absent, absent...)
		sc.fields = append(sc.fields, f)
		sc.names = append(sc.names, name)
		sc.optional = append(sc.optional, d.visits < sk.visits)
	}
	return sc, nil
}

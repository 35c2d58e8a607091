package bits

import (
	"math"
	"strconv"
)

// A Kind says what the numbers of a field mean, for a codec to predict them and for a person to
// read them.
type Kind uint8

// The kinds, each with the numbers that it keeps in an image.
const (
	KindNone Kind = iota
	KindBool      // one number, 0 or 1
	// one number, the value itself; two, upper and lower 32 bits, where the range does not fit in
	// 32 bits
	KindInt
	KindEnum  // one number, 0 and up, with no order to it
	KindFloat // one number, a multiple of Scale
	// one number that grows with the value: sign times (exponent, mantissa)
	KindSmallFloat
	// one number that grows with the value: the bits of the float32, with those below the sign
	// flipped when it is negative
	KindFullFloat32
	// two numbers: upper and lower 32 bits of the float64, flipped likewise
	KindFullFloat
	KindAngle // one number, a multiple of Scale, that wraps
	KindVec2  // two numbers, multiples of Scale
	KindVec3  // three numbers, multiples of Scale
	// two numbers: where the vector meets an octahedron, unfolded onto a square
	KindDirection
	KindCoarseDirection // three numbers from -3 to 3
	// four numbers: which component is largest (0 to 3 for X, Y, Z, W), then the three others in
	// order, multiples of Scale
	KindQuat
	KindVarint  // two numbers: upper and lower 32 bits
	KindUvarint // two numbers: upper and lower 32 bits
	KindString  // the length, then the bytes, four to a number, the first lowest
	KindBytes   // the same
	KindSlice   // the length; the elements' own fields follow
)

var kindNames = [...]string{
	"none", "bool", "int", "enum", "float", "small float", "full float32", "full float", "angle",
	"vec2", "vec3",
	"direction", "coarse direction", "quat", "varint", "uvarint", "string", "bytes", "slice"}

func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "kind " + strconv.Itoa(int(k))
}

// A Slot describes one number of an image: what a codec needs to know about it. Every number in its
// place is at least Min and at most Max.
type Slot struct {
	Name string // where it is in the struct, such as "Pos.X", "Items[2].Count" or "Items.len"
	Kind Kind   // what the number means
	// which field it belongs to, counted from 0: the slots of a vector or quaternion share one, and
	// stand together
	Field    int
	Part     int   // which of its field's numbers it is, counted from 0
	Parts    int   // how many numbers the field has
	Min, Max int32 // the range
	// what the image holds when a branch left the field out: zero, or the end of the range nearest
	// to zero
	Absent int32
	// what one step is worth, for kinds that are multiples of a step; zero for the others
	Scale    float64
	Wraps    bool // Max is followed by Min, as for angles
	Optional bool // some branch leaves the field out
}

// A Schema describes the images of one type, slot by slot. A Layout makes it from a Sync method; it
// can as well be written by hand for data that comes from elsewhere.
type Schema struct {
	Name  string // the type, such as "tanks.Tank"
	Slots []Slot
}

// Check says whether an image fits the schema: as many numbers, each within its range.
func (s *Schema) Check(image []int32) error {
	if len(image) != len(s.Slots) {
		return &FieldError{Type: s.Name, Err: ErrUse,
			Detail: "image has " + strconv.Itoa(len(image)) + " numbers, the schema " +
				strconv.Itoa(len(s.Slots))}
	}
	for i, v := range image {
		if sl := &s.Slots[i]; v < sl.Min || v > sl.Max {
			return &FieldError{Type: s.Name, Field: sl.Name, Err: ErrValue,
				Detail: strconv.Itoa(int(v)) + " is not in " + span(int64(sl.Min), int64(sl.Max))}
		}
	}
	return nil
}

// Hash is for two programs to find out, before they exchange images, that they mean the same by
// them. It covers everything but the names.
func (s *Schema) Hash() uint64 {
	h := uint64(14695981039346656037) // FNV-1a over 64-bit words
	add := func(v uint64) {
		for range 8 {
			h = (h ^ v&0xff) * 1099511628211
			v >>= 8
		}
	}
	for i := range s.Slots {
		sl := &s.Slots[i]
		flags := uint64(0)
		if sl.Wraps {
			flags |= 1
		}
		if sl.Optional {
			flags |= 2
		}
		add(uint64(sl.Kind) | flags<<8 | uint64(sl.Field)<<16 | uint64(sl.Part)<<40)
		add(uint64(uint32(sl.Min)) | uint64(uint32(sl.Max))<<32)
		add(math.Float64bits(sl.Scale))
	}
	return h
}

// span writes a range for messages.
func span(lo, hi int64) string {
	return strconv.FormatInt(lo, 10) + ".." + strconv.FormatInt(hi, 10)
}

// nearestZero is what stands in for a value that is absent or makes no sense.
func nearestZero(lo, hi int32) int32 { return min(max(0, lo), hi) }

package convert

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/world"
)

// A form is what a value is, whatever numbers it is kept in. Values of one form can become one
// another, and whole numbers and reals can.
type form uint8

const (
	whole     form = iota + 1
	real           // in the units of the game
	angle          // the same, in radians, of which one turn is none
	text           // or bytes
	length         // of a slice
	direction      // on the square of an octahedron, each from -1 to 1
	rotation       // which of four is the largest, and the others
	opaque         // it can only stay as it is
)

func (f form) String() string {
	return [...]string{"nothing", "a whole number", "a number", "an angle", "a text", "a list",
		"a direction", "a rotation", "a number of its own form"}[f]
}

// A value is one that was read.
type value struct {
	form     form
	negative bool // of a whole number,
	size     uint64
	real     float64
	text     []byte
	parts    [4]float64
	absent   bool // a branch left it out
}

func (v value) number() float64 {
	if v.form != whole && v.form != length {
		return v.real
	}
	if v.negative {
		return -float64(v.size)
	}
	return float64(v.size)
}

func (v value) int() int64 {
	switch {
	case v.form != whole && v.form != length:
		return int64(v.real)
	case v.negative:
		return -int64(v.size)
	}
	return int64(v.size)
}

func (v value) String() string {
	switch v.form {
	case whole, length:
		if v.negative {
			return "-" + strconv.FormatUint(v.size, 10)
		}
		return strconv.FormatUint(v.size, 10)
	case text:
		return strconv.QuoteToASCII(string(v.text[:min(len(v.text), 40)]))
	}
	return strconv.FormatFloat(v.number(), 'g', 6, 64)
}

func signed(n int64) value {
	if n < 0 {
		return value{form: whole, negative: true, size: -uint64(n)}
	}
	return value{form: whole, size: uint64(n)}
}

// An atom is the smallest thing that is converted: a value in one slot or in several that are
// nothing alone, or a server-only value. A vector is several, one for each axis.
type atom struct {
	path   string
	slots  []bits.Slot // nil for a server-only value
	first  int         // of the slots, or of the server-only values
	typ    string      // of the plain value, where it is known
	form   form
	server bool
}

// atoms takes fields apart.
func atoms(f *world.DeclaredFields, server []world.DeclaredValue) (out []atom) {
	types := make(map[string]string, len(f.Values))
	for _, v := range f.Values {
		types[v.Path] = v.Type
	}
	for _, x := range f.Fields() {
		slots := f.Slots[x.First:x.Last]
		if k := slots[0].Kind; k == bits.KindVec2 || k == bits.KindVec3 {
			for i := range slots {
				out = append(out, atom{path: slots[i].Name, slots: slots[i : i+1],
					first: x.First + i, typ: types[slots[i].Name], form: real})
			}
			continue
		}
		out = append(out, atom{path: x.Path, slots: slots, first: x.First, typ: x.Type,
			form: formOf(slots)})
	}
	for i, v := range server {
		a := atom{path: v.Path, first: i, typ: v.Type, form: whole, server: true}
		switch v.Type {
		case "string":
			a.form = text
		case "float32", "float64":
			a.form = real
		}
		out = append(out, a)
	}
	return out
}

func formOf(slots []bits.Slot) form {
	n := len(slots)
	switch k := slots[0].Kind; {
	case (k == bits.KindBool || k == bits.KindEnum) && n == 1,
		k == bits.KindInt && n <= 2, (k == bits.KindVarint || k == bits.KindUvarint) && n == 2:
		return whole
	case k == bits.KindFloat && n == 1 && slots[0].Scale > 0, k == bits.KindFullFloat32 && n == 1,
		k == bits.KindFullFloat && n == 2:
		return real
	case k == bits.KindAngle && n == 1 && slots[0].Scale > 0:
		return angle
	case k == bits.KindString || k == bits.KindBytes:
		return text
	case k == bits.KindSlice && n == 1:
		return length
	case k == bits.KindDirection && n == 2 && slots[0].Max > 0:
		return direction
	case k == bits.KindQuat && n == 4 && slots[1].Scale > 0:
		return rotation
	}
	return opaque
}

// unsigned says that the bits of a whole number have no sign.
func (a *atom) unsigned() bool {
	return strings.HasPrefix(a.typ, "uint") || a.typ == typeID ||
		!a.server && a.slots[0].Kind == bits.KindUvarint
}

// typeID is how world.Declared calls identifiers.
const typeID = "ID"

// read takes a value out of an image or out of what is server-only.
func (a *atom) read(image []int32, server []world.SavedValue) value {
	if a.server {
		return a.readServer(server[a.first])
	}
	k := image[a.first : a.first+len(a.slots)]
	s := &a.slots[0]
	v := value{form: a.form, absent: s.Optional && k[0] == s.Absent}
	for i := range k {
		v.absent = v.absent && k[i] == a.slots[i].Absent
	}
	switch a.form {
	case whole, length:
		w := signed(int64(k[0]))
		switch {
		case len(k) == 2 && a.unsigned():
			w.negative, w.size = false, uint64(uint32(k[0]))<<32|uint64(uint32(k[1]))
		case len(k) == 2:
			w = signed(int64(k[0])<<32 | int64(uint32(k[1])))
		case a.bitwise():
			w.negative, w.size = false, uint64(uint32(k[0]))
		}
		v.negative, v.size = w.negative, w.size
	case real, angle:
		v.real = readReal(s, k)
	case text:
		n := min(int(k[0]), 4*(len(k)-1))
		v.text = make([]byte, max(n, 0))
		for i := range v.text {
			v.text[i] = byte(k[1+i/4] >> (8 * (i % 4)))
		}
	case direction:
		v.parts[0], v.parts[1] = float64(k[0])/float64(s.Max), float64(k[1])/float64(s.Max)
	case rotation:
		v.parts[0] = float64(k[0])
		for i := 1; i < 4; i++ {
			v.parts[i] = float64(k[i]) * a.slots[i].Scale
		}
	}
	return v
}

// bitwise says that a slot has the bits of an unsigned number of 32 bits, as its range does not
// fit.
func (a *atom) bitwise() bool {
	s := &a.slots[0]
	return s.Kind == bits.KindInt && len(a.slots) == 1 && s.Min == math.MinInt32 &&
		s.Max == math.MaxInt32 && a.unsigned()
}

func readReal(s *bits.Slot, k []int32) float64 {
	switch s.Kind {
	case bits.KindFullFloat32:
		b := uint32(k[0])
		return float64(math.Float32frombits(b ^ uint32(int32(b)>>31)>>1))
	case bits.KindFullFloat:
		b := uint64(uint32(k[0]))<<32 | uint64(uint32(k[1]))
		return math.Float64frombits(b ^ uint64(int64(b)>>63)>>1)
	}
	return float64(float64(k[0]) * s.Scale)
}

func (a *atom) readServer(v world.SavedValue) value {
	switch {
	case a.form == text:
		return value{form: text, text: []byte(v.Text)}
	case a.form == real:
		return value{form: real, real: math.Float64frombits(v.Word)}
	case a.unsigned() || a.typ == "bool":
		return value{form: whole, size: v.Word}
	}
	return signed(int64(v.Word))
}

// sameAs says that a value stays as it is when it is copied, number by number.
func (a *atom) sameAs(b *atom) bool {
	if a.server != b.server || a.typ != b.typ && a.unsigned() != b.unsigned() ||
		len(a.slots) != len(b.slots) {
		return false
	}
	if a.server {
		return a.typ == b.typ
	}
	for i := range a.slots {
		x, y := a.slots[i], b.slots[i]
		if x.Kind != y.Kind || x.Min != y.Min || x.Max != y.Max || x.Scale != y.Scale ||
			x.Wraps != y.Wraps {
			return false
		}
	}
	return true
}

// becomes says whether values of one form can be put into another.
func becomes(from, to form) bool {
	number := []form{whole, real, angle}
	return from == to && from != opaque ||
		slices.Contains(number, from) && slices.Contains(number, to)
}

// describe says what a field is, for people.
func (a *atom) describe() string {
	if a.server {
		return a.typ + ", server-only"
	}
	s := &a.slots[0]
	switch {
	case s.Kind == bits.KindBool:
		return "bool"
	case a.form == text || a.form == length:
		return fmt.Sprintf("%v of at most %d", s.Kind, s.Max)
	case a.form == real && s.Scale > 0:
		return fmt.Sprintf("%v %s..%s in steps of %s", s.Kind, decimal(float64(s.Min)*s.Scale),
			decimal(float64(s.Max)*s.Scale), decimal(s.Scale))
	case len(a.slots) == 1:
		return fmt.Sprintf("%v %d..%d", s.Kind, s.Min, s.Max)
	}
	return s.Kind.String()
}

func decimal(x float64) string { return strconv.FormatFloat(x, 'g', 6, 64) }

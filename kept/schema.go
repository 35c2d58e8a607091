package kept

import (
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unsafe"

	"github.com/coeval-dev/coeval/bits"
)

// A Schema says what the rows of a class hold, and in which order. It is written as text:
//
//	coeval kept 1
//	class "Trader" of account
//	field Gold int 0..1000000
//	field Bag[0] uint 0..255
//
// Two classes with the same text have the same rows. The hash of the text is the schema's version,
// which each row carries.
type Schema struct {
	Class string
	Scope Scope

	leaves []leaf // those of a schema that was read have no offset
}

const schemaHead = "coeval kept 1"

// MaxSchema is how long a schema's text may be.
const MaxSchema = 1 << 20

var errSchema = errors.New("not a schema of what is kept")

// Text writes the schema.
func (s *Schema) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\nclass %q of %v\n", schemaHead, s.Class, s.Scope)
	for i := range s.leaves {
		l := &s.leaves[i]
		b.WriteString(strings.TrimRight(fmt.Sprintf("field %s %v %s", l.path, l.kind,
			l.limits.text(l.kind)), " ") + "\n")
	}
	return b.String()
}

// Hash is the number of the schema's version: the FNV-1a hash of its text.
func (s *Schema) Hash() uint64 { return hashOf(s.Text()) }

func hashOf(text string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(text)) // never fails
	return h.Sum64()
}

// ParseSchema reads what Text writes.
func ParseSchema(text string) (*Schema, error) {
	if len(text) > MaxSchema {
		return nil, errSchema
	}
	lines := strings.Split(text, "\n")
	if len(lines) < 3 || lines[0] != schemaHead || lines[len(lines)-1] != "" {
		return nil, errSchema
	}
	s := new(Schema)
	class, ok := strings.CutPrefix(lines[1], "class ")
	name, err := strconv.QuotedPrefix(class)
	if !ok || err != nil {
		return nil, errSchema
	}
	if s.Class, err = strconv.Unquote(name); err != nil {
		return nil, errSchema
	}
	for s.Scope = Account; " of "+s.Scope.String() != class[len(name):]; s.Scope++ {
		if s.Scope == Thing {
			return nil, errSchema
		}
	}
	known := map[string]bool{}
	for _, line := range lines[2 : len(lines)-1] {
		l, err := parseLeaf(line)
		if err != nil || known[l.path] {
			return nil, fmt.Errorf("%w: line %q", errSchema, line)
		}
		known[l.path] = true
		s.leaves = append(s.leaves, l)
	}
	if s.Text() != text {
		return nil, fmt.Errorf("%w: in a form that nobody writes", errSchema)
	}
	return s, nil
}

func parseLeaf(line string) (l leaf, err error) {
	parts := strings.Split(line, " ")
	if len(parts) < 3 || len(parts) > 4 || parts[0] != "field" || parts[1] == "" {
		return l, errSchema
	}
	k := slices.Index(kindNames[:], parts[2])
	if k < 0 {
		return l, errSchema
	}
	l.path, l.kind = parts[1], kind(k)
	rest := ""
	if len(parts) == 4 {
		rest = parts[3]
	}
	l.limits, err = parseLimits(l.kind, rest)
	return l, err
}

// append writes a row of a struct.
func (s *Schema) append(dst []byte, from unsafe.Pointer) []byte {
	for i := range s.leaves {
		dst = s.leaves[i].get(from).append(dst)
	}
	return dst
}

// read reads the values of a row, which may be damaged.
func (s *Schema) read(data []byte) ([]value, error) {
	out := make([]value, 0, min(len(s.leaves), len(data)))
	for i := range s.leaves {
		v, rest, err := readValue(s.leaves[i].kind, data)
		if err != nil {
			return nil, fmt.Errorf("%w: at field %s", err, s.leaves[i].path)
		}
		out, data = append(out, v), rest
	}
	if len(data) > 0 {
		return nil, fmt.Errorf("%w: %d bytes are left over", errRow, len(data))
	}
	return out, nil
}

// walk lists the plain values of a type.
func walk(t reflect.Type, path string, offset uintptr, skip func(reflect.StructField) bool,
	yield func(path string, t reflect.Type, offset uintptr)) {
	switch t.Kind() {
	case reflect.Struct:
		for i := range t.NumField() {
			f := t.Field(i)
			if f.Name == "_" || skip(f) {
				continue
			}
			name := f.Name
			if path != "" {
				name = path + "." + name
			}
			walk(f.Type, name, offset+f.Offset, skip, yield)
		}
	case reflect.Array:
		for i := range t.Len() {
			walk(t.Elem(), path+"["+strconv.Itoa(i)+"]", offset+uintptr(i)*t.Elem().Size(), skip,
				yield)
		}
	default:
		yield(path, t, offset)
	}
}

// leafOf makes a leaf of a plain value. It is not ok for what cannot be in a row.
func leafOf(path string, t reflect.Type, offset uintptr) (l leaf, ok bool) {
	l = leaf{path: path, offset: offset, size: t.Size(), of: t.Kind()}
	b := uint(8 * t.Size())
	switch t.Kind() {
	case reflect.Bool:
		l.kind = kindBool
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		l.kind = kindInt
		l.limits.lo, l.limits.hi = math.MinInt64>>(64-b), math.MaxInt64>>(64-b)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		l.kind, l.limits.most = kindUint, math.MaxUint64>>(64-b)
	case reflect.Float32, reflect.Float64:
		l.kind, l.limits.bound = kindFloat, math.MaxFloat64
		if t.Kind() == reflect.Float32 {
			l.limits.bound = math.MaxFloat32
		}
		l.limits.least = -l.limits.bound
	case reflect.String:
		l.kind, l.limits.hi = kindText, maxText
	default:
		return l, false
	}
	return l, true
}

// narrow takes over the range that Sync says of a field.
func (l *leaf) narrow(slots []bits.Slot) {
	for i := range slots {
		s := &slots[i]
		switch {
		case s.Kind == bits.KindString && l.kind == kindText && s.Name == l.path+".len":
			l.limits.hi = min(l.limits.hi, int64(s.Max))
		case s.Name != l.path:
		case l.kind == kindInt && whole(s):
			l.limits.lo, l.limits.hi = int64(s.Min), int64(s.Max)
		case l.kind == kindUint && whole(s) && s.Min >= 0:
			l.limits.lo, l.limits.most = int64(s.Min), uint64(s.Max)
		case l.kind == kindFloat && s.Scale > 0 && !s.Wraps:
			l.limits.least = float64(float64(s.Min) * s.Scale)
			l.limits.bound = float64(float64(s.Max) * s.Scale)
		}
	}
}

// whole says that a slot is a whole number by itself.
func whole(s *bits.Slot) bool {
	return s.Parts == 1 && (s.Kind == bits.KindInt || s.Kind == bits.KindEnum)
}

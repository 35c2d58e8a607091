package bits

import (
	"cmp"
	"math"
	"reflect"
	"strconv"

	"github.com/coeval-dev/coeval/det"
)

// describe appends the slots of a scope to a schema.
func (sc *scope) describe(schema *Schema, prefix string, optional bool) {
	for i := range sc.fields {
		f := &sc.fields[i]
		slot := Slot{
			Name:     prefix + sc.names[i],
			Kind:     f.kind,
			Parts:    int(f.slots),
			Scale:    f.scale(),
			Wraps:    f.kind == KindAngle,
			Optional: optional || sc.optional[i],
		}
		if n := len(schema.Slots); n > 0 {
			slot.Field = schema.Slots[n-1].Field + 1
		}
		if f.item != nil {
			slot.Parts = 1
		}
		for part := range slot.Parts {
			sl := slot
			sl.Part = part
			sl.Name += f.partName(part)
			sl.Min, sl.Max = f.limits(part)
			sl.Absent = sc.absent[int(f.slot)+part]
			if f.kind == KindQuat && part == 0 {
				sl.Scale = 0
			}
			schema.Slots = append(schema.Slots, sl)
		}
		if f.item != nil {
			for j := range int(f.hi[0]) {
				f.item.describe(schema, slot.Name+"["+strconv.Itoa(j)+"].", true)
			}
		}
	}
}

// limits is the range of one of a field's numbers.
func (f *field) limits(part int) (lo, hi int32) {
	if f.text() && part > 0 {
		return math.MinInt32, math.MaxInt32
	}
	return f.lo[part], f.hi[part]
}

func (f *field) text() bool { return f.kind == KindString || f.kind == KindBytes }

// scale is what one step of a field's numbers is worth.
func (f *field) scale() float64 {
	switch f.kind {
	case KindFloat, KindVec2, KindVec3:
		return math.Float64frombits(f.aux)
	case KindAngle:
		return 2 * math.Pi / (-2 * float64(f.lo[0]))
	case KindQuat:
		return 1 / (float64(f.hi[1]) * math.Sqrt2)
	}
	return 0
}

var partNames = [...][4]string{
	KindInt:             {".hi", ".lo"},
	KindFullFloat:       {".hi", ".lo"},
	KindVarint:          {".hi", ".lo"},
	KindUvarint:         {".hi", ".lo"},
	KindVec2:            {".X", ".Y"},
	KindVec3:            {".X", ".Y", ".Z"},
	KindDirection:       {".u", ".v"},
	KindCoarseDirection: {".X", ".Y", ".Z"},
	KindQuat:            {".largest", ".a", ".b", ".c"},
}

func (f *field) partName(part int) string {
	switch {
	case f.item != nil || f.text() && part == 0:
		return ".len"
	case f.text():
		return "[" + strconv.Itoa(4*part-4) + ":" + strconv.Itoa(min(4*part, int(f.hi[0]))) + "]"
	case f.slots > 1:
		return partNames[f.kind][part]
	}
	return ""
}

// fieldName is the name of what lies at an offset in a type, such as "Body.Pos" or "Ammo[3]".
func fieldName(t reflect.Type, offset uintptr, kind Kind) string {
	if offset == apart {
		return "a value outside the struct"
	}
	whole := reflect.Type(nil) // the type to stop at, where that is not a plain value
	switch kind {
	case KindVec2:
		whole = reflect.TypeFor[det.Vec2]()
	case KindVec3, KindDirection, KindCoarseDirection:
		whole = reflect.TypeFor[det.Vec3]()
	case KindQuat:
		whole = reflect.TypeFor[det.Quat]()
	}
	path, _ := descend(t, offset, whole)
	return cmp.Or(path, "value")
}

// elementType is the type of the elements of the slice at an offset, or nil.
func elementType(t reflect.Type, offset uintptr) reflect.Type {
	if offset == apart {
		return nil
	}
	if _, t = descend(t, offset, nil); t != nil && t.Kind() == reflect.Slice {
		return t.Elem()
	}
	return nil
}

// descend goes through structs and arrays to what lies at an offset, no further than a value of
// type whole. It returns the path, and the type of what is there: nil where there is nothing.
func descend(t reflect.Type, offset uintptr, whole reflect.Type) (string, reflect.Type) {
	path := ""
	for t != nil && t != whole {
		switch t.Kind() {
		case reflect.Struct:
			f, ok := fieldAt(t, offset)
			if !ok {
				return path + "?", nil
			}
			if path != "" {
				path += "."
			}
			path += f.Name
			offset -= f.Offset
			t = f.Type
		case reflect.Array:
			t = t.Elem()
			path += "[" + strconv.Itoa(int(offset/t.Size())) + "]"
			offset %= t.Size()
		default:
			return path, t
		}
	}
	return path, t
}

func fieldAt(t reflect.Type, offset uintptr) (reflect.StructField, bool) {
	for i := range t.NumField() {
		if f := t.Field(i); offset >= f.Offset && offset < f.Offset+f.Type.Size() {
			return f, true
		}
	}
	return reflect.StructField{}, false
}

package world

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/coeval-dev/coeval/bits"
)

// A Field is a synced field of a class or event, and where it is in an image.
type Field struct {
	Path  string      // where it is in the struct, such as "Pos" or "Pos.X"
	Slots []int       // the numbers of the image that it is made of, as indices into Schema.Slots
	Kinds []bits.Kind // what each of them means
}

// New makes an empty value of the class's type and gives a pointer to it: for Field, and for
// programs that have images and need their fields.
func (c *ClassInfo) New() any { return reflect.New(c.typ).Interface() }

// Field finds the field of a value that a pointer leads to: with t from New, &t.Pos is the field
// Pos. So a program can be told of fields without their names. The error names what is not a synced
// field.
func (c *ClassInfo) Field(of, field any) (Field, error) {
	return fieldOf(c.typ, c.layout.Schema(), of, field)
}

// FieldNamed finds a synced field by its path in the struct. It is not ok for one that Field would
// not take.
func (c *ClassInfo) FieldNamed(path string) (f Field, ok bool) {
	f, err := slotsOf(c.typ.Name(), path, c.layout.Schema())
	return f, err == nil
}

// Field finds the field of an event that a pointer leads to, as ClassInfo.Field does.
func (e *EventInfo) Field(of, field any) (Field, error) {
	return fieldOf(e.typ, e.layout.Schema(), of, field)
}

// fieldOf tells fields apart by their offset and type: a struct begins where its first field does.
func fieldOf(typ reflect.Type, schema *bits.Schema, of, field any) (Field, error) {
	path, err := pathOf(typ, of, field)
	if err != nil {
		return Field{}, err
	}
	return slotsOf(typ.Name(), path, schema)
}

// pathOf is where a field is in a struct.
func pathOf(typ reflect.Type, of, field any) (string, error) {
	class := typ.Name()
	value, pointer := reflect.ValueOf(of), reflect.ValueOf(field)
	if !value.IsValid() || value.Type() != reflect.PointerTo(typ) || value.IsNil() {
		return "", fmt.Errorf("a %T is not what New of %s gives", of, class)
	}
	if pointer.Kind() != reflect.Pointer || pointer.IsNil() {
		return "", fmt.Errorf("a %T, and not a pointer to a field of %s; write &t.Name",
			field, class)
	}
	start, at := uintptr(value.UnsafePointer()), uintptr(pointer.UnsafePointer())
	path := ""
	if at >= start && at-start < max(typ.Size(), 1) {
		path = pathAt(typ, at-start, pointer.Type().Elem(), "")
	}
	if path == "" {
		return "", fmt.Errorf("a %T that is no field of %s; "+
			"a hint runs on a zero value of the class, take pointers to its own fields", field,
			class)
	}
	return path, nil
}

// pathAt finds what has a type at an offset of a struct or array, or gives the empty path.
func pathAt(t reflect.Type, offset uintptr, want reflect.Type, path string) string {
	if offset == 0 && t == want {
		return path
	}
	switch t.Kind() {
	case reflect.Struct:
		for i := range t.NumField() {
			f := t.Field(i)
			if f.Name == "_" || offset < f.Offset || offset-f.Offset >= f.Type.Size() {
				continue
			}
			return pathAt(f.Type, offset-f.Offset, want, member(path, f.Name))
		}
	case reflect.Array:
		if size := t.Elem().Size(); size > 0 && offset < t.Size() {
			return pathAt(t.Elem(), offset%size, want, path+"["+strconv.Itoa(int(offset/size))+"]")
		}
	}
	return ""
}

// slotsOf lists the numbers of an image that belong to a field, or to what it consists of.
func slotsOf(class, path string, schema *bits.Schema) (Field, error) {
	f := Field{Path: path}
	whole := "" // a field that it is a part of
	for i := range schema.Slots {
		s := &schema.Slots[i]
		switch b := base(s); {
		case within(b, path):
			if s.Kind == bits.KindSlice {
				return Field{},
					fmt.Errorf("field %s of %s is a slice, whose elements come and go; "+
						"use an array", path, class)
			}
		case within(path, b):
			name, _, _ := strings.Cut(s.Name, "#") // one place, synced in two ways
			if whole = b; name != path {
				continue
			}
		default:
			continue
		}
		if s.Optional {
			return Field{}, fmt.Errorf("field %s of %s is synced only in a branch; "+
				"choose one that every image has, or sync it always", path, class)
		}
		f.Slots, f.Kinds = append(f.Slots, i), append(f.Kinds, s.Kind)
	}
	switch {
	case len(f.Slots) > 0:
		return f, nil
	case whole != "":
		return Field{}, fmt.Errorf("field %s of %s is synced only as a part of %s; "+
			"take a pointer to that", path, class, whole)
	}
	return Field{}, fmt.Errorf("field %s of %s is not synced; "+
		"choose one that its Sync method names", path, class)
}

// within says whether a path is that of a field, or of something in it.
func within(path, field string) bool {
	rest, ok := strings.CutPrefix(path, field)
	return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

// Value gives an entity as a pointer to its struct, or nil if it is not there: for programs that
// ask it for methods it may have, without knowing its type. It allocates nothing, and the pointer
// is good until the end of the tick.
func (w Host) Value(id ID) any {
	if pg, s := w.find(id); pg != nil {
		t := w.tables[id.Class()]
		return t.class.kind.value(t.at(pg, s))
	}
	if t := w.findLocal(id); t != nil {
		return t.value(id)
	}
	return nil
}

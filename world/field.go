package world

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/coeval-dev/coeval/bits"
)

// A Field is a field of a class or event that someone pointed to: where it stands in the image.
type Field struct {
	Path  string // as in the struct, such as "Pos"
	Slots []int  // its numbers in the image
}

// New makes an empty value of the class, as a pointer to its type: for programs that ask a class what
// it has to say before there is an entity.
func (c *ClassInfo) New() any { return reflect.New(c.typ).Interface() }

// Field finds the field of a value that New made by a pointer to it. Fields are told apart by where
// they are and of what type. The error names what cannot be pointed to: what is no field of the value,
// or not synced, or synced only at times.
func (c *ClassInfo) Field(of, field any) (Field, error) {
	return fieldAt(c.typ, c.layout.Schema(), of, field)
}

// FieldNamed finds a field by its path in the struct. It is not ok if it is not synced, or not always.
func (c *ClassInfo) FieldNamed(path string) (Field, bool) {
	f, err := fieldSlots(c.typ, c.layout.Schema(), path)
	return f, err == nil
}

// Field finds the field of a value that New made by a pointer to it, as ClassInfo.Field does.
func (e *EventInfo) Field(of, field any) (Field, error) {
	return fieldAt(e.typ, e.layout.Schema(), of, field)
}

func fieldAt(t reflect.Type, schema *bits.Schema, of, field any) (Field, error) {
	base, p := reflect.ValueOf(of), reflect.ValueOf(field)
	if base.Kind() != reflect.Pointer || base.Type().Elem() != t || base.IsNil() {
		return Field{}, fmt.Errorf("%T is not a pointer to a %s", of, t.Name())
	}
	if p.Kind() != reflect.Pointer || p.IsNil() {
		return Field{}, fmt.Errorf("a field of %s is named by a pointer to it, such as &x.Pos, not by a %T", t.Name(), field)
	}
	at, start := p.Pointer(), base.Pointer()
	path, ok := "", false
	if at >= start && at-start+p.Type().Elem().Size() <= t.Size() {
		path, ok = pathAt(t, at-start, p.Type().Elem())
	}
	if !ok || path == "" {
		return Field{}, fmt.Errorf("the %s is no field of %s: take a pointer to one of its own fields, not to a copy, nor into a slice", p.Type(), t.Name())
	}
	return fieldSlots(t, schema, path)
}

// pathAt finds the field of a type at an offset in a struct.
func pathAt(t reflect.Type, offset uintptr, want reflect.Type) (string, bool) {
	if offset == 0 && t == want {
		return "", true
	}
	switch t.Kind() {
	case reflect.Struct:
		for i := range t.NumField() {
			f := t.Field(i)
			if offset < f.Offset || offset-f.Offset >= f.Type.Size() {
				continue
			}
			if rest, ok := pathAt(f.Type, offset-f.Offset, want); ok {
				return join(f.Name, rest), true
			}
		}
	case reflect.Array:
		if size := t.Elem().Size(); size > 0 && t.Len() > 0 {
			if rest, ok := pathAt(t.Elem(), offset%size, want); ok {
				return join("["+strconv.Itoa(int(offset/size))+"]", rest), true
			}
		}
	}
	return "", false
}

func join(name, rest string) string {
	if rest == "" || rest[0] == '[' {
		return name + rest
	}
	return name + "." + rest
}

// fieldSlots finds the numbers of a field in an image.
func fieldSlots(t reflect.Type, schema *bits.Schema, path string) (Field, error) {
	f := Field{Path: path}
	for i := range schema.Slots {
		name := schema.Slots[i].Name
		if j := strings.LastIndexByte(name, '#'); j >= 0 { // one place, synced in two ways
			name = name[:j]
		}
		if name != path && !strings.HasPrefix(name, path+".") && !strings.HasPrefix(name, path+"[") {
			continue
		}
		if schema.Slots[i].Optional {
			return Field{}, fmt.Errorf("field %s of %s is synced only in a branch of Sync, so it is not always there; name one that is", path, t.Name())
		}
		f.Slots = append(f.Slots, i)
	}
	if len(f.Slots) == 0 {
		return Field{}, fmt.Errorf("field %s of %s is not synced, so other machines do not have it; sync it, or name another", path, t.Name())
	}
	return f, nil
}

// Value is an entity as a pointer to its type, for hosts that ask it optional methods; nil if it is
// not there. It is good until the end of the tick.
func (w *World) Value(id ID) any {
	pg, s := w.find(id)
	if pg == nil {
		return nil
	}
	t := w.tables[id.Class()]
	return t.class.kind.value(t.at(pg, s))
}

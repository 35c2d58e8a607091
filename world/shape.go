package world

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unsafe"

	"github.com/coeval-dev/coeval/bits"
)

// A role is why a field of a struct need not be in its Sync method, as its tag says.
type role string

const (
	roleSynced  role = "synced"  // it is, but by way of another value
	roleDerived role = "derived" // Derive sets it from those that are
	roleServer  role = "server"  // only machines that hold the whole world have it
	roleEdge    role = "edge"    // of a command: it is not repeated when a command is missing
	rolePrivate role = "private" // of a command: it is for who decides, and never relayed
)

// A leaf is one plain value in a struct: a number, bool or string, or something that holds a
// pointer.
type leaf struct {
	path   string
	offset uintptr
	kind   reflect.Kind
	size   uintptr
	role   role
	id     bool // of type ID
}

// A blank says how a field looks in a struct when a branch of Sync leaves it out. Every machine
// sets it so after every tick, as those who hold only the image could not know what was there.
type blank struct {
	offset, size uintptr
	// for strings and slices, the slot of their length: they are emptied if that is zero
	length int
	kind   reflect.Kind
}

// A shape is what examine finds out about a struct.
type shape struct {
	fields   []leaf
	server   []leaf
	blanks   []blank
	edges    []leaf
	private  []leaf
	derived  string // one derived field
	deep     bool
	deepPath string
	deepKind reflect.Kind
}

// examine lists the values in a struct and sees that each is synced or says by its tag why not.
func examine(t reflect.Type, schema *bits.Schema, allowed ...role) (*shape, error) {
	sh := new(shape)
	if err := sh.walk(t, "", 0, "", allowed); err != nil {
		return nil, err
	}
	bases := make([]string, len(schema.Slots))
	known := make(map[string]bool, len(schema.Slots))
	for i := range schema.Slots {
		bases[i] = base(&schema.Slots[i])
		known[bases[i]] = true
	}
	for i := range sh.fields {
		l := &sh.fields[i]
		synced := covered(l.path, known)
		switch {
		case synced && (l.role == roleDerived || l.role == roleServer):
			return nil, fmt.Errorf(
				"field %s is synced and also tagged %s; take away one of the two", l.path, l.role)
		case synced:
			if l.role != roleEdge && l.role != rolePrivate {
				l.role = roleSynced
			}
		case l.role == "" || l.role == roleEdge || l.role == rolePrivate:
			return nil, fmt.Errorf("field %s is not synced; sync it, or say why not by a tag: %s",
				l.path, advice(allowed))
		}
		switch l.role {
		case roleDerived:
			sh.derived = l.path
		case roleServer:
			if holdsPointer(l.kind) && l.kind != reflect.String {
				return nil, fmt.Errorf(
					"field %s is server-only and holds a %s, which cannot be saved; use an array "+
						"or a plain value", l.path, l.kind)
			}
			sh.server = append(sh.server, *l)
		case roleEdge:
			sh.edges = append(sh.edges, *l)
		case rolePrivate:
			sh.private = append(sh.private, *l)
		}
		if holdsPointer(l.kind) && l.kind != reflect.String && !sh.deep {
			sh.deep, sh.deepPath, sh.deepKind = true, l.path, l.kind
		}
	}
	sh.branches(schema, bases)
	return sh, nil
}

func advice(allowed []role) string {
	var parts []string
	for _, r := range allowed {
		switch r {
		case roleDerived:
			parts = append(parts,
				"`world:\"derived\"` if the method Derive sets it from synced fields")
		case roleServer:
			parts = append(parts, "`world:\"server\"` if clients do without it")
		}
	}
	parts = append(parts, "`world:\"synced\"` if Sync handles it through another value")
	return strings.Join(parts, ", ")
}

func (sh *shape) walk(t reflect.Type, path string, offset uintptr, r role, allowed []role) error {
	switch t.Kind() {
	case reflect.Struct:
		for i := range t.NumField() {
			f := t.Field(i)
			if f.Name == "_" {
				continue
			}
			name, fr := member(path, f.Name), r
			if tag, ok := f.Tag.Lookup("world"); ok {
				fr = role(tag)
				if fr != roleSynced && !slices.Contains(allowed, fr) {
					return fmt.Errorf("field %s has the tag `world:%q`; here there are %q", name,
						tag, append(slices.Clone(allowed), roleSynced))
				}
			}
			if err := sh.walk(f.Type, name, offset+f.Offset, fr, allowed); err != nil {
				return err
			}
		}
		return nil
	case reflect.Array:
		for i := range t.Len() {
			if err := sh.walk(t.Elem(), path+"["+strconv.Itoa(i)+"]",
				offset+uintptr(i)*t.Elem().Size(), r, allowed); err != nil {
				return err
			}
		}
		return nil
	case reflect.Complex64, reflect.Complex128:
		return fmt.Errorf("field %s is a %s; use two floats", path, t.Kind())
	}
	sh.fields = append(sh.fields,
		leaf{path: path, offset: offset, kind: t.Kind(), size: t.Size(), role: r,
			id: t == idType})
	return nil
}

// member is the path of a field of the struct that has a path.
func member(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// base is the name of the field that a slot belongs to, such as "Pos" for "Pos.X".
func base(s *bits.Slot) string {
	name := s.Name
	switch {
	case s.Kind == bits.KindSlice:
		name = strings.TrimSuffix(name, ".len")
	case s.Kind == bits.KindString || s.Kind == bits.KindBytes:
		name = strings.TrimSuffix(name, ".len")
		if i := strings.LastIndexByte(name, '['); strings.HasSuffix(name, "]") && s.Part > 0 &&
			i >= 0 {
			name = name[:i]
		}
	case s.Parts > 1:
		if i := strings.LastIndexByte(name, '.'); i >= 0 {
			name = name[:i]
		}
	}
	if i := strings.LastIndexByte(name, '#'); i >= 0 { // one place, synced in two ways
		name = name[:i]
	}
	return name
}

// covered says whether a field, or what it is a part of, is known by name.
func covered(path string, known map[string]bool) bool {
	if known[path] {
		return true
	}
	for i, c := range path {
		if (c == '.' || c == '[') && known[path[:i]] {
			return true
		}
	}
	return false
}

// branches lists what Sync leaves out at times. Elements of slices are not listed: what is beyond
// the length is gone.
func (sh *shape) branches(schema *bits.Schema, bases []string) {
	for i := range schema.Slots {
		s := &schema.Slots[i]
		if !s.Optional || s.Part > 0 {
			continue
		}
		only := map[string]bool{bases[i]: true}
		for _, l := range sh.fields {
			if !covered(l.path, only) {
				continue
			}
			c := blank{offset: l.offset, size: l.size, kind: l.kind, length: -1}
			if s.Kind == bits.KindString || s.Kind == bits.KindBytes || s.Kind == bits.KindSlice {
				c.length = i
			} else if holdsPointer(l.kind) {
				continue
			}
			if !slices.Contains(sh.blanks, c) {
				sh.blanks = append(sh.blanks, c)
			}
		}
	}
}

// holdsPointer says whether a value of the kind is more than its own memory.
func holdsPointer(k reflect.Kind) bool {
	switch k {
	case reflect.String, reflect.Slice, reflect.Map, reflect.Pointer, reflect.Interface,
		reflect.Func, reflect.Chan, reflect.UnsafePointer:
		return true
	}
	return false
}

// apply blanks the field in the struct at p, whose image is given.
func (c *blank) apply(p unsafe.Pointer, image []int32) {
	at := unsafe.Add(p, c.offset)
	switch {
	case c.length < 0:
		clear(unsafe.Slice((*byte)(at), c.size))
	case image[c.length] != 0:
	case c.kind == reflect.String:
		*(*string)(at) = ""
	case c.kind == reflect.Slice: // every slice has the same header
		s := (*[]struct{})(at)
		*s = (*s)[:0]
	}
}

package kept

import (
	"encoding/binary"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unsafe"

	"github.com/coeval-dev/coeval/world"
)

// A Keeper is a class of which something outlives the match. Its method says what, beside the
// class:
//
//	type Trader struct {
//		kept.Mark `world:"server"`
//		Gold      int
//	}
//
//	func (t *Trader) Kept(k *kept.Fields) {
//		k.Account()
//		k.Keep(&t.Gold)
//	}
//
// It is called once, on a zero value.
type Keeper interface{ Kept(k *Fields) }

// Fields are what a class says of what is kept of it.
type Fields struct {
	info  *world.ClassInfo
	value any
	typ   reflect.Type
	class *class
	all   []leaf // all that could be kept
	bad   map[string]reflect.Kind
	wrong []error
}

// class is what a Kept method comes to.
type class struct {
	Schema
	info    *world.ClassInfo
	typ     reflect.Type
	hash    uint64
	mark    uintptr       // where its Mark is
	convert reflect.Value // a func(Values, *T) error, or invalid
	spans   []span        // what is compared
	texts   []uintptr     // the strings, which are compared apart
	memory  int           // how many bytes the spans have
}

// A span is some of the memory of a struct.
type span struct{ offset, size uintptr }

// Account says that an entity belongs to its owner's account: the person, whoever plays.
func (k *Fields) Account() { k.scope(Account) }

// Character says that an entity belongs to a character, which the game names by LoadAs.
func (k *Fields) Character() { k.scope(Character) }

// Thing says that an entity is a thing of the world, which the game names by LoadAs. Of a State
// there is one, and it needs no other name than that of its class.
func (k *Fields) Thing() { k.scope(Thing) }

func (k *Fields) scope(s Scope) {
	if k.class.Scope != 0 {
		k.fail(errors.New("it calls two of Account, Character and Thing, or one twice; choose one"))
	}
	k.class.Scope = s
}

// Keep says which fields are kept: pointers to fields of the value that Kept is called on. A field
// that is a struct or an array is kept with all that is in it.
func (k *Fields) Keep(fields ...any) {
	for _, field := range fields {
		found, err := k.find(field)
		if err != nil {
			k.fail(err)
		}
		k.add(found)
	}
}

// All says that all fields are kept that the class does not derive from others.
func (k *Fields) All() {
	for path, kind := range k.bad {
		k.fail(fmt.Errorf("field %s is a %v, which is not kept; use an array, or name the fields "+
			"to keep by Keep", path, kind))
	}
	k.add(k.all)
}

// Was says what a field was called before, so that rows of then are understood: the path in the
// struct, such as "Coins". Of a field that is a struct or array it is the path of the whole.
func (k *Fields) Was(field any, names ...string) {
	found, err := k.find(field)
	if err != nil {
		k.fail(err)
		return
	}
	whole := common(found)
	for _, f := range found {
		i := slices.IndexFunc(k.class.leaves, func(l leaf) bool { return l.path == f.path })
		if i < 0 {
			k.fail(fmt.Errorf("Was names %s, which is not kept; call Keep before", f.path))
			return
		}
		for _, name := range names {
			k.class.leaves[i].was = append(k.class.leaves[i].was, name+f.path[len(whole):])
		}
	}
}

// common is the path of what all leaves of a field are in.
func common(list []leaf) string {
	path := list[0].path
	for _, l := range list[1:] {
		for !strings.HasPrefix(l.path, path) {
			path = path[:max(strings.LastIndexAny(path, ".["), 0)]
		}
	}
	return path
}

// Convert gives a function that completes what the rules make of rows of other versions: a
// func(old kept.Values, now *T) error, where T is the class. It is called with what the rules have
// made of the row, and may change it; a field of the old row that cannot be converted is no error
// if the function has asked for it.
func (k *Fields) Convert(f any) {
	v := reflect.ValueOf(f)
	want := reflect.FuncOf([]reflect.Type{reflect.TypeFor[Values](), reflect.PointerTo(k.typ)},
		[]reflect.Type{reflect.TypeFor[error]()}, false)
	if !v.IsValid() || v.Type() != want {
		k.fail(fmt.Errorf("Convert is given a %T; give a %v", f, want))
		return
	}
	k.class.convert = v
}

func (k *Fields) fail(err error) { k.wrong = append(k.wrong, err) }

// find lists what can be kept of a field.
func (k *Fields) find(field any) ([]leaf, error) {
	p := reflect.ValueOf(field)
	if p.Kind() != reflect.Pointer || p.IsNil() {
		return nil, fmt.Errorf("Keep is given a %T; give a pointer to a field, such as &t.Gold",
			field)
	}
	start, at := uintptr(reflect.ValueOf(k.value).UnsafePointer()), uintptr(p.UnsafePointer())
	size := p.Type().Elem().Size()
	if at < start || at-start+size > k.typ.Size() {
		return nil,
			fmt.Errorf("Keep is given a %T that is no field of %s; take pointers to fields "+
				"of the value that Kept is called on", field, k.typ.Name())
	}
	at -= start
	var out []leaf
	for _, l := range k.all {
		if l.offset >= at && l.offset+l.size <= at+size {
			out = append(out, l)
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("a %T of %s has nothing that can be kept: it is derived, or a "+
			"slice, map or pointer; use arrays and plain values", field, k.typ.Name())
	}
	return out, nil
}

func (k *Fields) add(list []leaf) {
	for _, l := range list {
		if !slices.ContainsFunc(k.class.leaves, func(o leaf) bool { return o.path == l.path }) {
			k.class.leaves = append(k.class.leaves, l)
		}
	}
}

var markType = reflect.TypeFor[Mark]()

// readClass asks a class what is kept of it. It is nil if nothing is.
func readClass(info *world.ClassInfo) (*class, []error) {
	v := info.New()
	keeper, ok := v.(Keeper)
	if !ok {
		if m := reflect.ValueOf(v).MethodByName("Kept"); m.IsValid() {
			return nil, []error{fmt.Errorf("method Kept is a %v; it is called only if it is a "+
				"func(*kept.Fields)", m.Type())}
		}
		return nil, nil
	}
	typ := reflect.TypeOf(v).Elem()
	c := &class{info: info, typ: typ}
	c.Class = info.Name()
	k := &Fields{info: info, value: v, typ: typ, class: c, bad: map[string]reflect.Kind{}}
	marks := k.list()
	keeper.Kept(k)
	switch {
	case marks != 1:
		k.fail(errors.New("it needs one field that says whose an entity is: kept.Mark " +
			"`world:\"server\"`"))
	case c.Scope == 0:
		k.fail(errors.New("its method Kept says not whose it is; call Account, Character or Thing"))
	case len(c.leaves) == 0:
		k.fail(errors.New("its method Kept names no field; call Keep or All"))
	}
	c.hash = c.Hash()
	c.measure()
	return c, k.wrong
}

// list finds all that can be kept, and how many marks there are.
func (k *Fields) list() (marks int) {
	skip := func(f reflect.StructField) bool { return f.Tag.Get("world") == "derived" }
	walk(k.typ, "", 0, func(f reflect.StructField) bool { return skip(f) || f.Type == markType },
		func(path string, t reflect.Type, offset uintptr) {
			l, ok := leafOf(path, t, offset)
			if !ok {
				k.bad[path] = t.Kind()
				return
			}
			l.narrow(k.info.Schema().Slots)
			k.all = append(k.all, l)
		})
	for i := range k.typ.NumField() {
		if f := k.typ.Field(i); f.Type == markType && f.Tag.Get("world") == "server" {
			k.class.mark = f.Offset
			marks++
		}
	}
	return marks
}

// measure finds which memory is compared.
func (c *class) measure() {
	leaves := slices.Clone(c.leaves)
	slices.SortFunc(leaves, func(a, b leaf) int { return int(a.offset) - int(b.offset) })
	for _, l := range leaves {
		n := len(c.spans)
		switch {
		case l.kind == kindText:
			c.texts = append(c.texts, l.offset)
		case n > 0 && c.spans[n-1].offset+c.spans[n-1].size == l.offset:
			c.spans[n-1].size += l.size
		default:
			c.spans = append(c.spans, span{l.offset, l.size})
		}
	}
	for _, s := range c.spans {
		c.memory += int(s.size)
	}
}

// markOf is the mark of an entity.
func (c *class) markOf(at unsafe.Pointer) *Mark { return (*Mark)(unsafe.Add(at, c.mark)) }

// appendPatch adds a change of a field to a patch: what is to be changed in a struct.
func appendPatch(dst []byte, index int, v value) []byte {
	return v.append(binary.AppendUvarint(dst, uint64(index)))
}

// patch changes a struct. On an error nothing is changed.
func (c *class) patch(to unsafe.Pointer, patch []byte) error {
	for _, at := range []unsafe.Pointer{reflect.New(c.typ).UnsafePointer(), to} {
		for rest := patch; len(rest) > 0; {
			i, n := binary.Uvarint(rest)
			if n <= 0 || i >= uint64(len(c.leaves)) {
				return errRow
			}
			v, after, err := readValue(c.leaves[i].kind, rest[n:])
			if err == nil {
				err = c.leaves[i].set(at, v)
			}
			if err != nil {
				return err
			}
			rest = after
		}
	}
	return nil
}

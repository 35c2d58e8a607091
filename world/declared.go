package world

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unsafe"

	"github.com/coeval-dev/coeval/bits"
)

// Declared is what a game declares, as data: all that is needed to read what it has saved without
// the program that did. It goes along with a saved world that another version of the game may have
// to load; package convert does that.
type Declared struct {
	Game     string // its name
	Hash     uint64 // Game.Hash
	Rate     int    // ticks a second
	Rewinds  Tick   `json:",omitempty"` // Game.Rewinds
	Classes  []DeclaredClass
	Commands *DeclaredFields `json:",omitempty"` // nil if there are none
	Events   []DeclaredEvent `json:",omitempty"`
}

// A DeclaredClass is a class or state as it was declared.
type DeclaredClass struct {
	Name   string
	State  bool `json:",omitempty"`
	Limit  int
	Fields DeclaredFields
	Server []DeclaredValue `json:",omitempty"` // what only whole worlds have
	Place  []int           `json:",omitempty"` // the slots that are remembered, if it is rewound
}

// A DeclaredEvent is a kind of event as it was declared.
type DeclaredEvent struct {
	Name   string
	Saved  bool `json:",omitempty"` // worlds keep such events
	Limit  int
	Fields DeclaredFields
}

// DeclaredFields are what Sync names.
type DeclaredFields struct {
	Slots []bits.Slot
	// Values are the plain values of the struct, with their types: what a slot alone does not say,
	// such as whether a number has a sign.
	Values []DeclaredValue `json:",omitempty"`
}

// A DeclaredValue is a plain value in a struct.
type DeclaredValue struct {
	Path string
	Type string // as Go's kinds are called: uint32, float64, bool, string; or "ID" for an ID
}

// typeID is how the type ID is called, whose values change if classes come and go.
const typeID = "ID"

// Declared describes the game as data.
func (g *Game) Declared() *Declared {
	g.prepare()
	d := &Declared{Game: g.name, Hash: g.hash, Rate: g.rate, Rewinds: g.rewinds}
	for _, c := range g.classes {
		x := DeclaredClass{Name: c.name, State: c.state, Limit: c.limit,
			Fields: DeclaredFields{c.layout.Schema().Slots, declaredValues(c.fields, roleSynced)},
			Server: declaredValues(c.server, roleServer)}
		if c.rewind != nil {
			x.Place = c.rewind.slots
		}
		d.Classes = append(d.Classes, x)
	}
	if c := g.commands; c != nil {
		d.Commands = &DeclaredFields{Slots: c.layout.Schema().Slots,
			Values: declaredValues(c.fields, "")}
	}
	for _, e := range g.events {
		d.Events = append(d.Events, DeclaredEvent{
			Name: e.name, Saved: e.delivery == Saved, Limit: e.limit,
			Fields: DeclaredFields{e.layout.Schema().Slots, declaredValues(e.fields, "")}})
	}
	return d
}

// declaredValues lists the values that have a role, or all.
func declaredValues(list []leaf, r role) (out []DeclaredValue) {
	for i := range list {
		if l := &list[i]; r == "" || l.role == r {
			out = append(out, DeclaredValue{l.path, l.typeName()})
		}
	}
	return out
}

var idType = reflect.TypeFor[ID]()

// typeName is what a value's type is called in a Declared.
func (l *leaf) typeName() string {
	if l.id {
		return typeID
	}
	return l.kind.String()
}

// The bounds of a Declared that comes from outside.
const (
	maxDeclared = 16 << 20
	maxDepth    = 1 << 20 // slots and values of all that it declares
)

// Text writes it for a file.
func (d *Declared) Text() []byte {
	text, err := json.Marshal(d)
	if err != nil { // a resolution that is not finite, which no Layout has
		return nil
	}
	return append(text, '\n')
}

// ParseDeclared reads what Text has written. It may come from a stranger.
func ParseDeclared(text []byte) (*Declared, error) {
	if len(text) > maxDeclared {
		return nil, fmt.Errorf("world: declarations of %d bytes: %w", len(text), ErrDamaged)
	}
	d := new(Declared)
	err := json.Unmarshal(text, d)
	if err == nil {
		err = d.check()
	}
	if err != nil {
		return nil, fmt.Errorf("world: declarations are %w: %w", ErrDamaged, err)
	}
	return d, nil
}

// check sees that it is one that a game can have.
func (d *Declared) check() error {
	size := 0
	var all []error
	count := func(of string, f *DeclaredFields, server []DeclaredValue) {
		size += len(f.Slots) + len(f.Values) + len(server)
		if err := f.check(); err != nil {
			all = append(all, fmt.Errorf("%s: %w", of, err))
		}
	}
	switch {
	case d.Rate < 1 || d.Rate > 1000 || d.Rewinds > maxRewind:
		return errors.New("no rate, or one that cannot be")
	case len(d.Classes) > maxClasses || len(d.Events) > 1<<16:
		return errors.New("more classes or events than a game has")
	}
	for i := range d.Classes {
		c := &d.Classes[i]
		count("class "+c.Name, &c.Fields, c.Server)
		if c.Limit < 1 || c.Limit > MaxEntities || len(c.Place) > 3 {
			all = append(all, fmt.Errorf("class %s makes no sense", c.Name))
		}
		for _, slot := range c.Place {
			if slot < 0 || slot >= len(c.Fields.Slots) {
				all = append(all, fmt.Errorf("class %s has no place", c.Name))
			}
		}
	}
	if d.Commands != nil {
		count("commands", d.Commands, nil)
	}
	for i := range d.Events {
		count("event "+d.Events[i].Name, &d.Events[i].Fields, nil)
		if d.Events[i].Limit < 1 {
			all = append(all, fmt.Errorf("event %s makes no sense", d.Events[i].Name))
		}
	}
	if size > maxDepth {
		return errors.New("more fields than a game has")
	}
	if double, ok := twice(d.Classes, func(c *DeclaredClass) string { return c.Name }); ok {
		all = append(all, fmt.Errorf("class %s is there twice", double))
	}
	if double, ok := twice(d.Events, func(e *DeclaredEvent) string { return e.Name }); ok {
		all = append(all, fmt.Errorf("event %s is there twice", double))
	}
	return errors.Join(all...)
}

// check sees that the slots of each field stand together.
func (f *DeclaredFields) check() error {
	for i := range f.Slots {
		s := &f.Slots[i]
		bad := s.Min > s.Max || s.Absent < s.Min || s.Absent > s.Max || s.Name == "" ||
			!(s.Scale >= 0) || s.Part < 0 || s.Part >= s.Parts || s.Part > i || s.Parts > 1<<16 ||
			i-s.Part+s.Parts > len(f.Slots) || s.Parts > 1 && !strings.ContainsAny(s.Name, ".[")
		if !bad {
			first := &f.Slots[i-s.Part]
			bad = first.Part != 0 || first.Kind != s.Kind || first.Parts != s.Parts ||
				first.Field != s.Field || i > 0 && s.Part == 0 && f.Slots[i-1].Field == s.Field
		}
		if bad {
			return fmt.Errorf("field %q makes no sense", s.Name)
		}
	}
	return nil
}

// twice finds a name that two of a list have.
func twice[T any](list []T, name func(*T) string) (string, bool) {
	names := make([]string, len(list))
	for i := range list {
		names[i] = name(&list[i])
	}
	slices.SortFunc(names, cmp.Compare[string])
	for i := 1; i < len(names); i++ {
		if names[i] == names[i-1] {
			return names[i], true
		}
	}
	return "", false
}

// A DeclaredField is one field of DeclaredFields: some slots that stand together.
type DeclaredField struct {
	Path        string // with #2 and so on for one place that is synced in several ways
	First, Last int    // the slots of it, Last excluded
	Type        string // of the plain value, or nothing if the field is not one
}

// Fields lists the fields.
func (f *DeclaredFields) Fields() (out []DeclaredField) {
	types := make(map[string]string, len(f.Values))
	for _, v := range f.Values {
		types[v.Path] = v.Type
	}
	for i := 0; i < len(f.Slots); {
		n := 1
		for i+n < len(f.Slots) && f.Slots[i+n].Field == f.Slots[i].Field {
			n++
		}
		s := &f.Slots[i]
		path := base(s)
		typ := types[path]
		if j := strings.LastIndexByte(s.Name, '#'); j >= 0 {
			path += s.Name[j:]
		}
		out = append(out, DeclaredField{Path: path, First: i, Last: i + n, Type: typ})
		i += n
	}
	return out
}

// PathOf finds the path of any field of the class by a pointer to it, synced or not: with t from
// New, that of &t.Pos is Pos.
func (c *ClassInfo) PathOf(of, field any) (string, error) { return pathOf(c.typ, of, field) }

// PathOf finds the path of a field of the event by a pointer to it.
func (e *EventInfo) PathOf(of, field any) (string, error) { return pathOf(e.typ, of, field) }

// ServerValues are the server-only values of a value of the class, as Declared lists them.
func (c *ClassInfo) ServerValues(of any) (out []SavedValue, err error) {
	at, err := c.address(of)
	if err != nil {
		return nil, err
	}
	for i := range c.server {
		l := &c.server[i]
		if l.kind == reflect.String {
			out = append(out, SavedValue{Text: *(*string)(unsafe.Add(at, l.offset))})
		} else {
			out = append(out, SavedValue{Word: l.word(at)})
		}
	}
	return out, nil
}

// SetServerValues sets them.
func (c *ClassInfo) SetServerValues(of any, values []SavedValue) error {
	at, err := c.address(of)
	if err != nil {
		return err
	}
	if len(values) != len(c.server) {
		return fmt.Errorf("world: %d server-only values for class %s, which has %d", len(values),
			c.name, len(c.server))
	}
	for i := range c.server {
		l := &c.server[i]
		if l.kind == reflect.String {
			*(*string)(unsafe.Add(at, l.offset)) = values[i].Text
		} else {
			l.setWord(at, values[i].Word)
		}
	}
	return nil
}

// address is where a value of the class is, which New has made.
func (c *ClassInfo) address(of any) (unsafe.Pointer, error) {
	v := reflect.ValueOf(of)
	if !v.IsValid() || v.Type() != reflect.PointerTo(c.typ) || v.IsNil() {
		return nil, fmt.Errorf("world: a %T is not what New of %s gives", of, c.name)
	}
	return v.UnsafePointer(), nil
}

// CommandImage is the image of a command in the form that the game itself gives it, or of one at
// rest for nil.
func (g *Game) CommandImage(image []int32) ([]int32, error) {
	if g.prepare(); g.commands == nil {
		return nil, errNoCommands
	}
	var s bits.Sync
	t, l := g.commands.newTable(), g.commands.layout
	t.resize(1)
	if image != nil {
		if err := l.Unpack(&s, t.syncer(0), image); err != nil {
			return nil, err
		}
	}
	out := make([]int32, l.Len())
	return out, l.Pack(&s, t.syncer(0), out)
}

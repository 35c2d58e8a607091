package world

import (
	"fmt"
	"reflect"
	"strconv"
)

// A FieldValue is one plain value of an entity, for tools to show.
type FieldValue struct {
	Name  string // where it is in the struct, such as "Pos.X" or "Items[2].Count"
	Value any    // a bool, int64, uint64, float64 or string
	Role  string // "synced", "derived" or "server"
}

// String writes the value so that different values look different.
func (f FieldValue) String() string {
	switch v := f.Value.(type) {
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	case string:
		return strconv.Quote(v)
	}
	return fmt.Sprint(f.Value)
}

// Fields lists the values of an entity by name, or nothing if it is not there. It is for tools: it
// takes its time.
func (w Host) Fields(id ID) []FieldValue {
	pg, s := w.find(id)
	if pg == nil {
		return nil
	}
	t := w.tables[id.Class()]
	c := t.class
	v := reflect.ValueOf(c.kind.value(t.at(pg, s))).Elem()
	roles := make(map[string]role, len(c.fields))
	for _, l := range c.fields {
		roles[l.path] = l.role
	}
	var out []FieldValue
	list(v, "", "", roles, &out)
	return out
}

// Field reads one value of an entity by its name.
func (w Host) Field(id ID, name string) (FieldValue, error) {
	for _, f := range w.Fields(id) {
		if f.Name == name {
			return f, nil
		}
	}
	return FieldValue{}, fmt.Errorf("world: entity %v has no field %s", id, name)
}

func list(v reflect.Value, path string, r role, roles map[string]role, out *[]FieldValue) {
	if known, ok := roles[path]; ok {
		r = known
	}
	add := func(x any) { *out = append(*out, FieldValue{Name: path, Value: x, Role: string(r)}) }
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.Name != "_" {
				list(v.Field(i), member(path, f.Name), r, roles, out)
			}
		}
	case reflect.Array, reflect.Slice:
		for i := range v.Len() {
			list(v.Index(i), path+"["+strconv.Itoa(i)+"]", r, roles, out)
		}
	case reflect.Bool:
		add(v.Bool())
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		add(v.Int())
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64,
		reflect.Uintptr:
		add(v.Uint())
	case reflect.Float32, reflect.Float64:
		add(v.Float())
	case reflect.String:
		add(v.String())
	}
	// What is behind pointers and in maps has no order or no end; an author who needs to see it
	// syncs it.
}

// A Difference is the first thing in which two worlds differ.
type Difference struct {
	Tick   Tick
	Class  string // empty where it is not an entity that differs
	Entity ID
	Field  string // or what else: "owner", "presence", "players"
	A, B   string // what each has
}

func (d *Difference) String() string {
	where := fmt.Sprintf("tick %d", d.Tick)
	if d.Class != "" {
		where += fmt.Sprintf(", %s %v", d.Class, d.Entity)
	}
	return fmt.Sprintf("%s, %s: %s against %s", where, d.Field, d.A, d.B)
}

// Differ finds the first entity and field in which two worlds of a game differ, in order of
// identifier, or gives nil if their hashes agree.
func Differ(a, b *World) *Difference {
	if a.Hash() == b.Hash() {
		return nil
	}
	d := &Difference{Tick: a.tick}
	if a.tick != b.tick {
		d.Field, d.A, d.B = "tick", fmt.Sprint(a.tick), fmt.Sprint(b.tick)
		return d
	}
	for i, t := range a.tables {
		if i >= len(b.tables) || a.Host().HashClass(i) == b.Host().HashClass(i) {
			continue
		}
		d.Class = t.class.name
		if d.inClass(a, b, i) {
			return d
		}
		d.Entity, d.Field, d.A, d.B = None, "free identifiers",
			fmt.Sprintf("hash %016x", a.Host().HashClass(i)),
			fmt.Sprintf("hash %016x", b.Host().HashClass(i))
		return d
	}
	d.Field = "seeds, players, commands, sights, saved events or where things were"
	d.A, d.B = fmt.Sprintf("hash %016x", a.Hash()), fmt.Sprintf("hash %016x", b.Hash())
	return d
}

func (d *Difference) inClass(a, b *World, class int) bool {
	for id := range a.Host().Of(class) {
		if !b.Has(id) {
			d.Entity, d.Field, d.A, d.B = id, "presence", "there", "not there"
			return true
		}
		if a.Host().HashEntity(id) != b.Host().HashEntity(id) {
			d.Entity = id
			d.inEntity(a, b, id)
			return true
		}
	}
	for id := range b.Host().Of(class) {
		if !a.Has(id) {
			d.Entity, d.Field, d.A, d.B = id, "presence", "not there", "there"
			return true
		}
	}
	return false
}

func (d *Difference) inEntity(a, b *World, id ID) {
	x, y := a.Host().Fields(id), b.Host().Fields(id)
	for i := range min(len(x), len(y)) {
		if x[i].Role != string(roleDerived) &&
			(x[i].Name != y[i].Name || x[i].String() != y[i].String()) {
			d.Field, d.A, d.B = x[i].Name, x[i].String(), y[i].String()
			return
		}
	}
	// The memory is the same and the images are not: two copies share what one of them changed.
	slots := a.game.classes[id.Class()].Schema().Slots
	p, q := a.Host().Image(id), b.Host().Image(id)
	for i := range slots {
		if p[i] != q[i] {
			d.Field, d.A, d.B = slots[i].Name, fmt.Sprint(p[i], " in the image"),
				fmt.Sprint(q[i], " in the image (is the memory shared between copies?)")
			return
		}
	}
	d.Field, d.A, d.B = "owner or origin", fmt.Sprint(a.Host().Entry(id)),
		fmt.Sprint(b.Host().Entry(id))
}

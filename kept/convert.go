package kept

import (
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/coeval-dev/coeval/world"
)

// Values are those of a row of another version, by the paths that fields had then.
type Values struct {
	schema *Schema
	values []value
	asked  []bool // by index
}

// Schema is how the row was written.
func (v Values) Schema() *Schema { return v.schema }

// Names are the paths of the fields.
func (v Values) Names() []string {
	out := make([]string, len(v.schema.leaves))
	for i := range out {
		out[i] = v.schema.leaves[i].path
	}
	return out
}

// find looks up a value as one of a kind, and notes that it was asked for.
func (v Values) find(name string, k kind) (value, bool) {
	i := slices.IndexFunc(v.schema.leaves, func(l leaf) bool { return l.path == name })
	if i < 0 {
		return value{}, false
	}
	v.asked[i] = true
	x, err := v.values[i].as(k)
	return x, err == nil
}

// Int is a whole number. It is not ok if the row has no such field, or it is none.
func (v Values) Int(name string) (int64, bool) { x, ok := v.find(name, kindInt); return x.i, ok }

// Float is a number.
func (v Values) Float(name string) (float64, bool) {
	x, ok := v.find(name, kindFloat)
	return x.f, ok
}

// Bool says whether something was so.
func (v Values) Bool(name string) (is, ok bool) {
	x, ok := v.find(name, kindBool)
	return x.u != 0, ok
}

// Text is a string.
func (v Values) Text(name string) (string, bool) { x, ok := v.find(name, kindText); return x.s, ok }

// source is the index of the field of an old schema that a leaf is read from, or -1.
func (l *leaf) source(old *Schema) int {
	for _, name := range append([]string{l.path}, l.was...) {
		if i := slices.IndexFunc(old.leaves, func(o leaf) bool { return o.path == name }); i >= 0 {
			return i
		}
	}
	return -1
}

// load makes of a row's data what is to be changed in an entity. Fields that the row does not know
// stay as they are.
func (c *class) load(old *Schema, data []byte) (patch []byte, err error) {
	values, err := old.read(data)
	if err != nil {
		return nil, err
	}
	if old.Scope != c.Scope {
		return nil, fmt.Errorf("%w: class %s was kept by %v and is by %v now", ErrOther, c.Class,
			old.Scope, c.Scope)
	}
	now := reflect.New(c.typ)
	known, failed := make([]bool, len(c.leaves)), make([]error, len(old.leaves))
	for i := range c.leaves {
		from := c.leaves[i].source(old)
		if from < 0 {
			continue
		}
		if failed[from] = c.leaves[i].set(now.UnsafePointer(), values[from]); failed[from] == nil {
			known[i] = true
		}
	}
	before := c.values(now)
	if c.convert.IsValid() && old.Text() != c.Text() {
		v := Values{old, values, make([]bool, len(values))}
		if e := c.convert.Call([]reflect.Value{reflect.ValueOf(v), now})[0]; !e.IsNil() {
			return nil, fmt.Errorf("class %s: %w", c.Class, e.Interface().(error))
		}
		for i, asked := range v.asked {
			if asked {
				failed[i] = nil
			}
		}
	}
	if err := errors.Join(failed...); err != nil {
		return nil, fmt.Errorf("class %s: %w; a rule in its Kept method, by Convert, can make "+
			"something else of it", c.Class, err)
	}
	for i, v := range c.values(now) {
		if !c.leaves[i].limits.in(v) {
			return nil, fmt.Errorf("class %s: Convert made %v of field %s, which is not within %s",
				c.Class, v, c.leaves[i].path, c.leaves[i].limits.text(v.kind))
		}
		if known[i] || v != before[i] {
			patch = appendPatch(patch, i, v)
		}
	}
	return patch, nil
}

// values are those of a struct.
func (c *class) values(of reflect.Value) []value {
	out := make([]value, len(c.leaves))
	for i := range out {
		out[i] = c.leaves[i].get(of.UnsafePointer())
	}
	return out
}

// A Finding is something about rows of another version that Check has found.
type Finding struct {
	Class, Field string
	Schema       uint64
	Text         string
	Fatal        bool // rows do not load; otherwise they may not, or something is left out
}

func (f Finding) String() string {
	what := fmt.Sprintf("class %s, schema %016x: ", f.Class, f.Schema)
	if f.Field != "" {
		what += "field " + f.Field + ": "
	}
	return what + f.Text
}

// Check says what would not load of rows that were written with some schemas, given by their texts,
// if a game took over: before it is released. The error is that the game's own declarations are
// wrong, or that a text is no schema.
func Check(g *world.Game, schemas map[uint64]string) ([]Finding, error) {
	p, err := planOf(g)
	if err != nil {
		return nil, err
	}
	hashes := make([]uint64, 0, len(schemas))
	for hash := range schemas {
		hashes = append(hashes, hash)
	}
	slices.Sort(hashes)
	var out []Finding
	for _, hash := range hashes {
		old, err := ParseSchema(schemas[hash])
		if err == nil && hashOf(schemas[hash]) != hash {
			err = errors.New("the text is not that of the number")
		}
		if err != nil {
			return nil, fmt.Errorf("schema %016x: %w", hash, err)
		}
		out = append(out, p.compare(hash, old)...)
	}
	return out, nil
}

// compare says what is lost between a schema and the class as it is.
func (p *plan) compare(hash uint64, old *Schema) (out []Finding) {
	find := func(field, text string, fatal bool) {
		out = append(out, Finding{old.Class, field, hash, text, fatal})
	}
	c := p.named(old.Class)
	switch {
	case old.Class == sessionClass || old.Class == prunedClass:
		return nil
	case c == nil:
		find("", "nothing is kept of such a class any more; its rows are not read", false)
		return out
	case c.hash == hash:
		return nil
	case c.Scope != old.Scope:
		find("", fmt.Sprintf("it was kept by %v and is by %v now", old.Scope, c.Scope), true)
		return out
	}
	rule := c.convert.IsValid()
	used := map[int]bool{}
	for i := range c.leaves {
		l := &c.leaves[i]
		from := l.source(old)
		if from < 0 {
			find(l.path, "the rows do not have it; it stays as a new entity has it", false)
			continue
		}
		used[from] = true
		o := &old.leaves[from]
		switch {
		case !o.kind.becomes(l.kind):
			find(l.path, fmt.Sprintf("it was %v and is %v now%s", o.kind, l.kind, left(rule)),
				!rule)
		case !l.holds(o):
			find(l.path, fmt.Sprintf("it was within %s and is within %s now: rows beyond do not "+
				"load%s", o.limits.text(o.kind), l.limits.text(l.kind), left(rule)), false)
		}
	}
	for i := range old.leaves {
		if !used[i] {
			find(old.leaves[i].path, "the class does not have it any more; it is left out", false)
		}
	}
	return out
}

func left(rule bool) string {
	if rule {
		return ", unless Convert asks for it"
	}
	return ""
}

// becomes says whether values of a kind can be of another.
func (k kind) becomes(to kind) bool {
	return k == to || k != kindText && to != kindText && to != kindBool
}

// holds says whether all that was within the limits of an old field is within those of this.
func (l *leaf) holds(o *leaf) bool {
	if o.kind == kindBool {
		return true
	}
	var ends []value
	switch o.kind {
	case kindInt:
		ends = []value{{kind: kindInt, i: o.limits.lo}, {kind: kindInt, i: o.limits.hi}}
	case kindUint:
		ends = []value{{kind: kindUint, u: uint64(o.limits.lo)}, {kind: kindUint, u: o.limits.most}}
	case kindFloat:
		ends = []value{{kind: kindFloat, f: o.limits.least}, {kind: kindFloat, f: o.limits.bound}}
	default:
		return l.limits.hi >= o.limits.hi
	}
	for _, e := range ends {
		v, err := e.as(l.kind)
		if err != nil || !l.limits.in(v) {
			return false
		}
	}
	return l.kind == kindFloat || o.kind != kindFloat // fractions
}

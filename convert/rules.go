package convert

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/coeval-dev/coeval/world"
)

// A Converter is a class, or a kind of event, that says how it is made of older data. Convert runs
// once, on a zero value; fields are named by pointers to them.
type Converter interface{ Convert(r *Rules) }

// Rules collect what a class says.
type Rules struct {
	of      string
	value   any
	path    func(of, field any) (string, error)
	class   []string // what it was called
	renamed []rename
	clamped []string
	fresh   []string
	then    func(v any, old Values) error
	wrong   []error
}

// rename is that a path began otherwise.
type rename struct{ was, is string }

// Class says what the class was called before. It may be called for several names, of which the
// first that the saved world has counts.
func (r *Rules) Class(was string) { r.class = append(r.class, was) }

// Renamed says what a field was called: its path in the struct of then, such as "HP" or "Body.HP".
// What is in the field follows.
func (r *Rules) Renamed(was string, field any) {
	if is, ok := r.field("Renamed", field); ok {
		r.renamed = append(r.renamed, rename{was, is})
	}
}

// RenamedPath is Renamed for what no pointer leads to, elements of slices: "Items[].HP" became
// "Items[].Life".
func (r *Rules) RenamedPath(was, is string) { r.renamed = append(r.renamed, rename{was, is}) }

// Clamp says that values beyond the range of a field become the nearest that it has, and that a
// text or a list that is too long is cut. Without, they are refused.
func (r *Rules) Clamp(field any) {
	if is, ok := r.field("Clamp", field); ok {
		r.clamped = append(r.clamped, is)
	}
}

// Fresh says that a field takes nothing from before, whatever was called so: it has the value of a
// new entity, or what Then gives it.
func (r *Rules) Fresh(field any) {
	if is, ok := r.field("Fresh", field); ok {
		r.fresh = append(r.fresh, is)
	}
}

// Then has a function finish each entity, after its fields were converted. What it cannot convert
// it says by an error, and the world is refused.
func Then[T any](r *Rules, f func(v *T, old Values) error) {
	if _, ok := r.value.(*T); !ok {
		r.fail(fmt.Errorf("Then is for a %T, and this is a %T", new(T), r.value))
		return
	}
	if r.then != nil {
		r.fail(errors.New("Then is called twice; call both from one function"))
		return
	}
	r.then = func(v any, old Values) error { return f(v.(*T), old) }
}

func (r *Rules) fail(err error) { r.wrong = append(r.wrong, err) }

func (r *Rules) field(what string, field any) (string, bool) {
	path, err := r.path(r.value, field)
	if err != nil {
		r.fail(fmt.Errorf("%s: %w", what, err))
	}
	return path, err == nil
}

// rulesOf asks a class or event for its rules.
func rulesOf(
	of string, value any, path func(of, field any) (string, error),
) (*Rules, error) {
	r := &Rules{of: of, value: value, path: path}
	switch c := value.(type) {
	case Converter:
		c.Convert(r)
	default:
		if m, ok := reflect.TypeOf(value).MethodByName("Convert"); ok {
			r.fail(fmt.Errorf("its method Convert is %s; it is called only if it takes a "+
				"*convert.Rules and returns nothing", m.Type))
		}
	}
	if err := errors.Join(r.wrong...); err != nil {
		return nil, fmt.Errorf("convert: %s: %w", of, err)
	}
	return r, nil
}

// was is what the path of a field of now was called.
func (r *Rules) was(path string) string {
	if r == nil {
		return path
	}
	plain, at := indices(path)
	for _, x := range r.renamed {
		if rest, ok := cutPath(path, x.is); ok {
			return x.was + rest
		}
		if rest, ok := cutPath(plain, x.is); ok {
			return fillIn(x.was+rest, at)
		}
	}
	return path
}

// indices takes the numbers out of a path: "Items[2].Count" is "Items[].Count" and "2".
func indices(path string) (plain string, at []string) {
	var b strings.Builder
	for {
		before, after, ok := strings.Cut(path, "[")
		b.WriteString(before)
		if !ok {
			return b.String(), at
		}
		number, rest, _ := strings.Cut(after, "]")
		if number != "" {
			at = append(at, number)
		}
		b.WriteString("[]")
		path = rest
	}
}

// fillIn puts the numbers back.
func fillIn(plain string, at []string) string {
	for _, n := range at {
		plain = strings.Replace(plain, "[]", "["+n+"]", 1)
	}
	return plain
}

// cutPath is the rest of a path that is in another.
func cutPath(path, in string) (rest string, ok bool) {
	rest, ok = strings.CutPrefix(path, in)
	return rest, ok && (rest == "" || rest[0] == '.' || rest[0] == '[' || rest[0] == '#')
}

// among says whether a path is one of those that a rule names, or is in one.
func among(path string, list []string) bool {
	for _, x := range list {
		if _, ok := cutPath(path, x); ok {
			return true
		}
	}
	return false
}

// Values are an entity, command or event as it was saved, by the paths of then.
type Values struct {
	fields *Fields
	image  []int32
	server []world.SavedValue
}

// Has says whether there was a value at a path, such as "HP" or "Pos.X".
func (v Values) Has(path string) bool { _, ok := v.value(path); return ok }

// Number is a number, and 0 if there was none: in the units of then.
func (v Values) Number(path string) float64 { x, _ := v.value(path); return x.number() }

// Int is a whole number, a bool or a length, and 0 if there was none.
func (v Values) Int(path string) int64 { x, _ := v.value(path); return x.int() }

// Text is a text or bytes, and empty if there was none.
func (v Values) Text(path string) string { x, _ := v.value(path); return string(x.text) }

func (v Values) value(path string) (value, bool) {
	a, ok := v.fields.old[path]
	if !ok {
		return value{}, false
	}
	return a.read(v.image, v.server), true
}

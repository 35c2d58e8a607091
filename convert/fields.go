package convert

import (
	"errors"
	"fmt"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/world"
)

// Fields are how the fields of one struct become those of another: of a class, an event or a
// command, or of a row of a store. They are worked out once and used for each.
type Fields struct {
	of      string
	old     map[string]*atom
	pairs   []pair
	changes []Change
	wrong   []Problem
}

// A pair is a value of before and where it is now.
type pair struct {
	from, to *atom
	copy     bool // its numbers stay as they are
	clamp    bool
	id       bool // it names an entity
}

// Side is one side of a conversion: fields that Sync names, and those that only whole worlds have.
type Side struct {
	Fields world.DeclaredFields
	Server []world.DeclaredValue
}

// NewFields works out how data of a struct as it was becomes data as it is. Rules may be nil. What
// cannot be is in Problems.
func NewFields(of string, was, is *Side, r *Rules) *Fields {
	f := &Fields{of: of, old: map[string]*atom{}}
	before, now := atoms(&was.Fields, was.Server), atoms(&is.Fields, is.Server)
	for i := range before {
		f.old[before[i].path] = &before[i]
	}
	used := map[string]bool{}
	for i := range now {
		a := &now[i]
		name := r.was(a.path)
		b := f.old[name]
		if b == nil && name != a.path && !used[a.path] {
			name, b = a.path, f.old[a.path] // data that is newer than the rule
		}
		if b == nil || r != nil && among(a.path, r.fresh) {
			f.change(a.path, Gained, "", a.describe())
			continue
		}
		used[name] = true
		f.match(b, a, r)
	}
	for i := range before {
		if b := &before[i]; !used[b.path] {
			f.change(b.path, Lost, b.describe(), "")
		}
	}
	return f
}

// match pairs two values.
func (f *Fields) match(b, a *atom, r *Rules) {
	p := pair{from: b, to: a, copy: b.sameAs(a), id: b.typ == typeID || a.typ == typeID}
	if r != nil {
		p.clamp = among(a.path, r.clamped)
	}
	if b.path != a.path {
		f.change(a.path, Renamed, b.path, a.path)
	}
	if !p.copy {
		if !becomes(b.form, a.form) {
			f.wrong = append(f.wrong, Problem{Class: f.of, Field: a.path, Why: fmt.Sprintf(
				"was %v (%s) and is %v (%s): say by Fresh and Then how it is made", b.form,
				b.describe(), a.form, a.describe())})
			return
		}
		f.change(a.path, Changed, b.describe(), a.describe())
	}
	p.copy = p.copy && !p.id
	f.pairs = append(f.pairs, p)
}

func (f *Fields) change(field string, what What, was, is string) {
	f.changes = append(f.changes, Change{Class: f.of, Field: field, What: what, Was: was, Is: is})
}

// Changes are what is different between the two.
func (f *Fields) Changes() []Change { return f.changes }

// Problems are what cannot be converted, whatever the values are.
func (f *Fields) Problems() []Problem { return f.wrong }

// Convert puts what was saved over an image, and server-only values, that begin as those of a new
// entity. IDs become what the function makes of them, or stay if it is nil. The problems are values
// that do not fit.
func (f *Fields) Convert(
	image []int32, server []world.SavedValue, from []int32, fromServer []world.SavedValue,
	ids func(world.ID) world.ID,
) (wrong []Problem) {
	for i := range f.pairs {
		p := &f.pairs[i]
		if p.copy && !p.to.server {
			copy(image[p.to.first:p.to.first+len(p.to.slots)], from[p.from.first:])
			continue
		}
		if p.copy {
			server[p.to.first] = fromServer[p.from.first]
			continue
		}
		v := p.from.read(from, fromServer)
		if p.id && ids != nil && v.form == whole && !v.negative {
			v.size = uint64(ids(world.ID(v.size)))
		}
		if err := p.to.write(v, image, server, p.clamp); err != nil {
			wrong = append(wrong, Problem{Class: f.of, Field: p.to.path, Count: 1,
				Why: fmt.Sprintf("%v %v: widen it, or say Clamp", v, err)})
		}
	}
	return wrong
}

// settle brings an image into the one form that the game itself gives it.
func settle(l *bits.Layout, v bits.Syncer, image []int32) error {
	var s bits.Sync
	if err := l.Unpack(&s, v, image); err != nil {
		return err
	}
	if err := l.Pack(&s, v, image); err != nil {
		return err
	}
	again := make([]int32, len(image))
	for range 3 { // what was rounded may be rounded once more
		if err := l.Unpack(&s, v, image); err != nil {
			return err
		}
		if err := l.Pack(&s, v, again); err != nil {
			return err
		}
		same := true
		for i := range image {
			same = same && image[i] == again[i]
		}
		if same {
			return nil
		}
		copy(image, again)
	}
	return errors.New("its Sync method does not come to rest")
}

// misfit is the problem that an error of a layout means.
func misfit(of string, err error) Problem {
	p := Problem{Class: of, Count: 1, Why: err.Error()}
	var f *bits.FieldError
	if errors.As(err, &f) {
		p.Field, p.Why = f.Field, f.Detail
	}
	return p
}

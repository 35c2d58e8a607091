package knob

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Values are what knobs are set to, by their names.
type Values map[string]string

// String lists them in the order of their names, as NAME=VALUE with spaces between.
func (v Values) String() string {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(v)) {
		list = append(list, name+"="+v[name])
	}
	return strings.Join(list, " ")
}

// ParseValues reads what String has written.
func ParseValues(text string) (Values, error) {
	out := Values{}
	for word := range strings.FieldsSeq(text) {
		name, value, ok := strings.Cut(word, "=")
		if !ok {
			return nil, fmt.Errorf("%q is no value of a knob: write NAME=VALUE", word)
		}
		out[name] = value
	}
	return out, nil
}

// With is a copy in which one knob is set to something else.
func (v Values) With(name, value string) Values {
	out := maps.Clone(v)
	if out == nil {
		out = Values{}
	}
	out[name] = value
	return out
}

// Find looks for a knob by its name.
func Find(list []Knob, name string) (*Knob, bool) {
	for i := range list {
		if list[i].Name == name {
			return &list[i], true
		}
	}
	return nil, false
}

// Names are those of knobs, for people.
func Names(list []Knob) string {
	var names []string
	for i := range list {
		names = append(names, list[i].Name)
	}
	return strings.Join(names, ", ")
}

// Defaults are what knobs are set to if nobody sets them.
func Defaults(list []Knob) Values {
	out := Values{}
	for i := range list {
		out[list[i].Name] = list[i].Default
	}
	return out
}

// Read looks at values for knobs, of whom they are is for errors, and gives each in its one form.
func Read(of string, list []Knob, values Values) (Values, error) {
	out := Values{}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		k, ok := Find(list, name)
		if !ok && len(list) == 0 {
			return nil, fmt.Errorf("%s has no knob %q: there is nothing to set", of, name)
		}
		if !ok {
			return nil, fmt.Errorf("%s has no knob %q; there are %s", of, name, Names(list))
		}
		v, err := k.Parse(values[name])
		if err != nil {
			return nil, err
		}
		out[name] = v.Text
	}
	return out, nil
}

// An Of is a knob of something that is made from a T, and Set what it does there. Set is not called
// for auto.
type Of[T any] struct {
	Knob
	Set func(o *T, v Value)
}

// List are the knobs alone.
func List[T any](list []Of[T]) (out []Knob) {
	for i := range list {
		out = append(out, list[i].Knob)
	}
	return out
}

// Apply sets those knobs of a list that values are given for. Values of other knobs are left to
// others.
func Apply[T any](o *T, list []Of[T], values Values) error {
	for i := range list {
		k := &list[i]
		text, ok := values[k.Name]
		if !ok {
			continue
		}
		v, err := k.Parse(text)
		if err != nil {
			return err
		}
		if !v.Auto() {
			k.Set(o, v)
		}
	}
	return nil
}

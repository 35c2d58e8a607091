package codeclab

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/coeval-dev/coeval/codec"
)

// A Layout is what a schema file says: the codec's schema, and how recordings of it are laid out
// and played.
type Layout struct {
	Schema  *codec.Schema
	Classes []int // the class of each entity
	Rate    int   // frames a second
	BaseAge int   // how old the newest acknowledged frame is when one is encoded
	Skip    int   // frames at the start that do not count
	Refer   int   // the entity that others may be carried by, or -1
}

// schemaFile is the form on disk. What must be there is a pointer or a slice, so that its absence
// shows.
type schemaFile struct {
	Name     *string       `json:"name"`
	Entities *int          `json:"entities"`
	Rate     *int          `json:"rate_hz"`
	BaseAge  *int          `json:"base_age"`
	Skip     *int          `json:"skip"`
	Fields   []schemaField `json:"fields"`
	Classes  []schemaClass `json:"classes"`
	Hints    schemaHints   `json:"hints"`
}

type schemaField struct {
	Name string `json:"name"`
	Min  *int32 `json:"min"`
	Max  *int32 `json:"max"`
}

type schemaClass struct {
	Name  string `json:"name"`
	First *int   `json:"first"`
	Count *int   `json:"count"`
}

type schemaHints struct {
	Position   []string `json:"position"`
	Velocity   []string `json:"velocity"` // of the position at the same place
	Angles     []string `json:"angles"`
	Quaternion []string `json:"quaternion"` // largest, and the three others
	Reference  *int     `json:"reference_entity"`
}

// MaxEntities bounds what a schema file can ask for.
const MaxEntities = 1<<16 - 1

// ParseSchema reads a schema file. Errors say what is wrong and where; put the file's name in
// front.
func ParseSchema(data []byte) (*Layout, error) {
	var f schemaFile
	if err := json.Unmarshal(data, &f); err != nil {
		return nil, jsonError(data, err)
	}
	if missing := f.missing(); missing != "" {
		return nil, fmt.Errorf("%s is missing", missing)
	}
	switch {
	case *f.Entities < 1 || *f.Entities > MaxEntities:
		return nil, fmt.Errorf("entities is %d; it must be 1 to %d", *f.Entities, MaxEntities)
	case *f.Rate < 1 || *f.Rate > 1000:
		return nil, fmt.Errorf("rate_hz is %d; it must be 1 to 1000", *f.Rate)
	case *f.BaseAge < 1 || *f.BaseAge > maxBaseAge:
		return nil, fmt.Errorf("base_age is %d; it must be 1 to %d", *f.BaseAge, maxBaseAge)
	case *f.Skip < 0:
		return nil, fmt.Errorf("skip is %d; it must not be negative", *f.Skip)
	}
	fields, err := f.fields()
	if err != nil {
		return nil, err
	}
	l := &Layout{
		Schema: &codec.Schema{Name: *f.Name}, Rate: *f.Rate, BaseAge: *f.BaseAge, Skip: *f.Skip,
		Refer: -1}
	if r := f.Hints.Reference; r != nil {
		if *r < 0 || *r >= *f.Entities {
			return nil, fmt.Errorf("hints.reference_entity is %d; entities are numbered 0 to %d",
				*r, *f.Entities-1)
		}
		l.Refer = *r
	}
	if l.Classes, err = f.assign(); err != nil {
		return nil, err
	}
	for i, c := range f.Classes {
		l.Schema.Classes = append(l.Schema.Classes, codec.Class{
			Name:      c.Name,
			Fields:    slices.Clone(fields),
			Reference: l.Refer >= 0 && l.Classes[l.Refer] != i,
		})
	}
	return l, l.Schema.Validate()
}

// jsonError says on which line the trouble is.
func jsonError(data []byte, err error) error {
	at := int64(-1)
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		at = syntax.Offset
		err = fmt.Errorf("not a JSON file: %w", err)
	case errors.As(err, &kind):
		at = kind.Offset
		err = fmt.Errorf("%s cannot be a %s", kind.Field, kind.Value)
	}
	if at < 0 || at > int64(len(data)) {
		return err
	}
	return fmt.Errorf("line %d: %w", 1+strings.Count(string(data[:at]), "\n"), err)
}

// missing names the first thing that must be there and is not.
func (f *schemaFile) missing() string {
	first := absent(*f)
	for i, x := range f.Fields {
		first = cmp.Or(first, absentOf("fields", "field", i, x.Name, absent(x)))
	}
	for i, x := range f.Classes {
		first = cmp.Or(first, absentOf("classes", "class", i, x.Name, absent(x)))
	}
	return first
}

// absent is the name of a struct's first pointer, list or text with nothing in it.
func absent(x any) string {
	v := reflect.ValueOf(x)
	for i := range v.NumField() {
		f, k := v.Field(i), v.Field(i).Kind()
		if k != reflect.Struct && (f.IsZero() || k == reflect.Slice && f.Len() == 0) {
			return v.Type().Field(i).Tag.Get("json")
		}
	}
	return ""
}

func absentOf(list, of string, i int, name, what string) string {
	switch {
	case what == "":
		return ""
	case name == "":
		return fmt.Sprintf("%s[%d].%s", list, i, what)
	}
	return fmt.Sprintf("%s[%d].%s (of %s %s)", list, i, what, of, name)
}

// fields turns the fields and the hints about them into the codec's.
func (f *schemaFile) fields() ([]codec.Field, error) {
	fields := make([]codec.Field, len(f.Fields))
	at := make(map[string]int)
	for i, x := range f.Fields {
		if _, twice := at[x.Name]; twice {
			return nil, fmt.Errorf("fields[%d]: there are two fields of the name %s", i, x.Name)
		}
		at[x.Name] = i
		fields[i] = codec.Field{Name: x.Name, Min: *x.Min, Max: *x.Max, Rate: -1}
	}
	hinted := make(map[string]string)
	for _, h := range []struct {
		name  string
		names []string
		kind  codec.Kind
	}{
		{"position", f.Hints.Position, codec.Position},
		{"velocity", f.Hints.Velocity, codec.Velocity},
		{"angles", f.Hints.Angles, codec.Angle},
		{"quaternion", f.Hints.Quaternion, codec.QuaternionPart},
	} {
		for _, name := range h.names {
			i, ok := at[name]
			if !ok {
				return nil, fmt.Errorf("hints.%s names %q, which is none of the fields", h.name,
					name)
			}
			if other := hinted[name]; other != "" {
				return nil, fmt.Errorf("hints.%s and hints.%s both name %s", other, h.name, name)
			}
			hinted[name] = h.name
			fields[i].Kind = h.kind
		}
	}
	if p, v := f.Hints.Position, f.Hints.Velocity; len(v) > 0 {
		if len(p) != len(v) {
			return nil, fmt.Errorf(
				"hints.velocity has %d fields and hints.position %d; they are paired by place",
				len(v), len(p))
		}
		for i, name := range p {
			fields[at[name]].Rate = at[v[i]]
		}
	}
	q := f.Hints.Quaternion
	if len(q)%4 != 0 {
		return nil, fmt.Errorf("hints.quaternion has %d fields; each rotation takes 4", len(q))
	}
	for i := 0; i < len(q); i += 4 {
		fields[at[q[i]]].Kind = codec.Quaternion
	}
	return fields, nil
}

// assign gives every entity its class.
func (f *schemaFile) assign() ([]int, error) {
	classes := make([]int, *f.Entities)
	for i := range classes {
		classes[i] = -1
	}
	for i, c := range f.Classes {
		first, count := *c.First, *c.Count
		if first < 0 || count < 1 || count > len(classes) || first > len(classes)-count {
			return nil, fmt.Errorf(
				"class %s has %d entities from number %d; entities are numbered 0 to %d", c.Name,
				count, first, len(classes)-1)
		}
		for e := first; e < first+count; e++ {
			if other := classes[e]; other >= 0 {
				return nil, fmt.Errorf("classes %s and %s overlap: entity %d is in both",
					f.Classes[other].Name, c.Name, e)
			}
			classes[e] = i
		}
	}
	if e := slices.Index(classes, -1); e >= 0 {
		return nil, fmt.Errorf("entity %d is in none of the classes", e)
	}
	return classes, nil
}

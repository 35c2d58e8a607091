package admin

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/world"
)

// A Knob is a field of a knob that a game declares by world.Knob, as people read and set it.
type Knob struct {
	Name  string `json:"name"` // such as Gravity.Pull; case does not matter
	Value string `json:"value"`
	Type  string `json:"type"` // bool, int, float or text
	// Least and Most are its range and Step the finest difference, where the game declares them.
	Least *float64 `json:"least,omitempty"`
	Most  *float64 `json:"most,omitempty"`
	Step  *float64 `json:"step,omitempty"`
}

// knobClasses are the classes of a game that are knobs.
func knobClasses(g *world.Game) (list []*world.ClassInfo) {
	for _, in := range g.Inputs() {
		if in.Source() != world.FromOperator {
			continue
		}
		for _, c := range g.Classes() {
			if c.State() && c.Name() == in.Name() {
				list = append(list, c)
			}
		}
	}
	return list
}

// knobValue is a copy of a knob as it is in a world.
func knobValue(w *world.World, c *world.ClassInfo) (bits.Syncer, error) {
	for id := range w.Host().Of(c.Number()) {
		from := reflect.ValueOf(w.Host().Value(id))
		to := reflect.New(from.Type().Elem())
		to.Elem().Set(from.Elem()) // a knob has neither slices, maps nor pointers
		if v, ok := to.Interface().(bits.Syncer); ok {
			return v, nil
		}
	}
	return nil, fmt.Errorf("the world has no %s", c.Name())
}

// A leaf is a plain value in a knob.
type leaf struct {
	path string
	at   reflect.Value
}

// leaves lists the plain values in a struct, in order.
func leaves(v reflect.Value, path string, out []leaf) []leaf {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			f := v.Type().Field(i)
			if f.Name == "_" {
				continue
			}
			name := f.Name
			if path != "" {
				name = path + "." + name
			}
			// by its address, as a field whose name begins in lower case is none of ours otherwise
			field := reflect.NewAt(f.Type, v.Field(i).Addr().UnsafePointer()).Elem()
			out = leaves(field, name, out)
		}
	case reflect.Array:
		for i := range v.Len() {
			out = leaves(v.Index(i), fmt.Sprintf("%s[%d]", path, i), out)
		}
	case reflect.Bool, reflect.String, reflect.Float32, reflect.Float64,
		reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		out = append(out, leaf{path, v})
	}
	return out
}

// synced lists the plain values of a knob that its Sync method names: others are not told to
// anyone, so they cannot be set.
func synced(c *world.ClassInfo, v bits.Syncer) []leaf {
	return slices.DeleteFunc(leaves(reflect.ValueOf(v).Elem(), "", nil), func(l leaf) bool {
		return !slices.ContainsFunc(c.Schema().Slots, func(s bits.Slot) bool {
			name, _, _ := strings.Cut(s.Name, "#")
			return name == l.path || strings.HasPrefix(name, l.path+".") ||
				strings.HasPrefix(name, l.path+"[") || strings.HasPrefix(l.path, name+".")
		})
	})
}

// describe says what a value is, and its range where the schema has one.
func (l leaf) describe(c *world.ClassInfo) Knob {
	k := Knob{Name: c.Name() + "." + l.path, Value: l.text(), Type: "int"}
	switch l.at.Kind() {
	case reflect.Bool:
		k.Type = "bool"
		return k
	case reflect.String:
		k.Type = "text"
		return k
	case reflect.Float32, reflect.Float64:
		k.Type = "float"
	}
	for i := range c.Schema().Slots {
		s := &c.Schema().Slots[i]
		if s.Name != l.path {
			continue
		}
		step := 1.0
		switch s.Kind {
		case bits.KindFloat, bits.KindAngle, bits.KindVec2, bits.KindVec3:
			step = s.Scale
		case bits.KindInt, bits.KindEnum:
			if s.Parts > 1 {
				continue
			}
		default:
			continue
		}
		least, most := float64(s.Min)*step, float64(s.Max)*step
		k.Least, k.Most, k.Step = &least, &most, &step
	}
	return k
}

func (l leaf) text() string {
	switch l.at.Kind() {
	case reflect.Bool:
		return strconv.FormatBool(l.at.Bool())
	case reflect.Float32, reflect.Float64:
		return strconv.FormatFloat(l.at.Float(), 'g', -1, 64)
	case reflect.String:
		return l.at.String()
	}
	return fmt.Sprint(l.at.Interface())
}

// set reads a text into a value.
func (l leaf) set(text string) (err error) {
	size := 0
	if l.at.Kind() != reflect.String && l.at.Kind() != reflect.Bool {
		size = l.at.Type().Bits()
	}
	switch l.at.Kind() {
	case reflect.Bool:
		var v bool
		switch strings.ToLower(text) {
		case "true", "on", "yes", "1":
			v = true
		case "false", "off", "no", "0":
		default:
			return errors.New("it is on or off")
		}
		l.at.SetBool(v)
	case reflect.Float32, reflect.Float64:
		v, err := strconv.ParseFloat(text, size)
		if err != nil || v != v {
			return errors.New("it is a number")
		}
		l.at.SetFloat(v)
	case reflect.String:
		l.at.SetString(text)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v, err := strconv.ParseUint(text, 10, size)
		if err != nil {
			return errors.New("it is a whole number, and not below zero")
		}
		l.at.SetUint(v)
	default:
		v, err := strconv.ParseInt(text, 10, size)
		if err != nil {
			return errors.New("it is a whole number")
		}
		l.at.SetInt(v)
	}
	return nil
}

// within says whether a value is in the range that the game declares.
func (k *Knob) within(v reflect.Value) bool {
	if k.Least == nil {
		return true
	}
	x := 0.0
	switch v.Kind() {
	case reflect.Float32, reflect.Float64:
		x = v.Float()
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		x = float64(v.Uint())
	default:
		x = float64(v.Int())
	}
	return x >= *k.Least-*k.Step/2 && x <= *k.Most+*k.Step/2
}

// ListKnobs lists all that can be set of a world while it runs.
func ListKnobs(w *world.World) ([]Knob, error) {
	out := []Knob{}
	for _, c := range knobClasses(w.Game()) {
		v, err := knobValue(w, c)
		if err != nil {
			return nil, err
		}
		out = append(out, list(c, v)...)
	}
	return out, nil
}

func list(c *world.ClassInfo, v bits.Syncer) (out []Knob) {
	for _, l := range synced(c, v) {
		out = append(out, l.describe(c))
	}
	return out
}

// A Setting is the name of a knob and what it is to be.
type Setting struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// ParseSetting reads a setting as people write it: gravity.pull=3.
func ParseSetting(text string) (s Setting, err error) {
	name, value, ok := strings.Cut(text, "=")
	s = Setting{strings.TrimSpace(name), strings.TrimSpace(value)}
	if !ok || s.Name == "" {
		return s, fmt.Errorf("%.80q is no setting: write NAME=VALUE, such as gravity.pull=3", text)
	}
	return s, nil
}

// mostSettings is how many there may be at once.
const mostSettings = 256

// A knobChange is a knob that is to be set, whole.
type knobChange struct {
	class *world.ClassInfo
	value bits.Syncer
}

// changeKnobs works out what knobs become by settings: those that change, whole, from what they
// are. The function says what a knob is. A name that there is not, a value of another type or out
// of range is an error that says what there is; then nothing is changed.
func changeKnobs(
	g *world.Game, is func(*world.ClassInfo) (bits.Syncer, error), settings []Setting,
) (changed []knobChange, set []Knob, err error) {
	if len(settings) == 0 || len(settings) > mostSettings {
		return nil, nil, fmt.Errorf("give 1 to %d settings", mostSettings)
	}
	type knob struct {
		knobChange
		used bool
	}
	var all []knob
	var names []string
	for _, c := range knobClasses(g) {
		v, err := is(c)
		if err != nil {
			return nil, nil, err
		}
		all = append(all, knob{knobChange: knobChange{c, v}})
		for _, k := range list(c, v) {
			names = append(names, k.Name)
		}
	}
	for _, s := range settings {
		found := false
		for i := range all {
			k := &all[i]
			for _, l := range synced(k.class, k.value) {
				if !strings.EqualFold(k.class.Name()+"."+l.path, s.Name) {
					continue
				}
				d := l.describe(k.class)
				if err := l.set(s.Value); err != nil {
					return nil, nil, fmt.Errorf("%s cannot be %.60q: %w%s", d.Name, s.Value, err,
						d.span())
				}
				if !d.within(l.at) {
					return nil, nil, fmt.Errorf("%s cannot be %.60q%s", d.Name, s.Value, d.span())
				}
				k.used, found = true, true
			}
		}
		if !found {
			return nil, nil, fmt.Errorf("there is no knob %.80q; %s", s.Name, offer(g, names))
		}
	}
	for _, k := range all {
		if !k.used {
			continue
		}
		var sync bits.Sync
		sync.SetStrict(true)
		if err := k.class.Layout().Quantise(&sync, k.value); err != nil {
			return nil, nil, err
		}
		changed, set = append(changed, k.knobChange), append(set, list(k.class, k.value)...)
	}
	return changed, set, nil
}

// offer says which names there are.
func offer(g *world.Game, names []string) string {
	if len(names) == 0 {
		return fmt.Sprintf("%s declares none (an author does by world.Knob)", g.Name())
	}
	return "there are " + strings.Join(names, ", ")
}

// span says the range, as the end of a sentence.
func (k *Knob) span() string {
	if k.Least == nil {
		return ""
	}
	return fmt.Sprintf(", from %v to %v", *k.Least, *k.Most)
}

package federation

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/bits"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The numbers by which a model's parts are named. A number is never used for anything else, also
// when the model grows.
type (
	ClassID       uint16 // a class of objects; 0 is the root, of which all are
	AttributeID   uint16 // an attribute, the same in the class that declares it and all below
	InteractionID uint16 // a class of interactions; 0 is the root
	ParameterID   uint16 // a parameter of an interaction, the same in all below
	DimensionID   uint8  // an axis of regions
)

const (
	// Root is the class that all others descend from.
	Root ClassID = 0
	// Privilege is an attribute of every object: who owns it may delete the object.
	Privilege AttributeID = 0
)

// Limits of a model, whatever a file says.
const (
	MaxClasses      = 2048
	MaxInteractions = 2048
	MaxAttributes   = 64 // of one class, inherited ones included
	MaxParameters   = 64 // of one interaction, inherited ones included
	MaxDimensions   = 16
	MaxName         = 64      // bytes
	MaxModel        = 1 << 20 // bytes of a file
	maxDeclared     = 1 << 14 // attributes of all classes, and parameters of all interactions
	maxDepth        = 64      // classes between the root and a leaf
	maxPriority     = 15
)

// A Set is some attributes of one class, or parameters of one interaction, by their slots.
type Set uint64

func (s Set) has(slot int) bool { return s&(1<<slot) != 0 }
func (s Set) len() int          { return bits.OnesCount64(uint64(s)) }

// A ModelFile is what a model's file says, as JSON: classes, interactions and dimensions. The same
// form extends a model while a federation runs.
type ModelFile struct {
	Dimensions   []DimensionFile   `json:"dimensions,omitempty"`
	Classes      []ClassFile       `json:"classes,omitempty"`
	Interactions []InteractionFile `json:"interactions,omitempty"`
}

// A DimensionFile declares an axis of regions.
type DimensionFile struct {
	Name string `json:"name"`
	// Upper is the first value beyond the axis, which begins at 0.
	Upper int64 `json:"upper"`
}

// A ClassFile declares a class, or adds attributes to one.
type ClassFile struct {
	Name string `json:"name"`
	// Parent is the class that this one is a kind of. Empty is the root.
	Parent     string          `json:"parent,omitempty"`
	Attributes []AttributeFile `json:"attributes,omitempty"`
}

// An AttributeFile declares an attribute.
type AttributeFile struct {
	Name string `json:"name"`
	// Order is how it is delivered: "receive" (or empty), "time", or "priority".
	Order string `json:"order,omitempty"`
	// Priority is, of those by priority, which goes first: the higher one, up to 15.
	Priority int `json:"priority,omitempty"`
	// Kept has its last value be told to those who discover the object later.
	Kept bool `json:"kept,omitempty"`
	// Dimensions are the axes of the regions that it may be associated with.
	Dimensions []string `json:"dimensions,omitempty"`
}

// An InteractionFile declares a class of interactions, or adds parameters to one.
type InteractionFile struct {
	Name       string   `json:"name"`
	Parent     string   `json:"parent,omitempty"`
	Order      string   `json:"order,omitempty"`
	Priority   int      `json:"priority,omitempty"`
	Dimensions []string `json:"dimensions,omitempty"`
	Parameters []string `json:"parameters,omitempty"`
}

// An Order is how something is delivered.
type Order uint8

const (
	// ByReceipt is as the federation takes it in. There is one such order for all, so it is
	// causal as well.
	ByReceipt Order = iota
	// ByTime is in order of time stamps, to those who are constrained by time.
	ByTime
	// ByPriority is by receipt, but what has a higher priority overtakes what waits.
	ByPriority
)

func (o Order) String() string { return [...]string{"receive", "time", "priority"}[o] }

// A Class is a class of objects as the model has it.
type Class struct {
	Name   string
	Parent ClassID
	// Attributes are all that its objects have: a class's slots. They begin with the parent's as
	// they were when the class was made; what was added since follows.
	Attributes []AttributeID
	depth      int
	times      Set // attributes by time
}

// An Attribute is one as the model has it.
type Attribute struct {
	Name     string
	Class    ClassID // where it is declared
	Order    Order
	Priority uint8
	Kept     bool
	dims     uint16
}

// An Interaction is a class of interactions as the model has it.
type Interaction struct {
	Name       string
	Parent     InteractionID
	Order      Order
	Priority   uint8
	Parameters []ParameterID
	dims       uint16
	depth      int
}

// A Model is the classes of objects and interactions that a federation shares. It grows, and
// nothing of it ever changes or goes.
type Model struct {
	Classes      []Class
	Attributes   []Attribute
	Interactions []Interaction
	Parameters   []string
	Dimensions   []DimensionFile
}

// ErrModel is what is wrong with a model's file, or with an extension.
var ErrModel = errors.New("object model")

// ReadModel reads a model's file.
func ReadModel(data []byte) (*ModelFile, error) {
	if len(data) > MaxModel {
		return nil, fmt.Errorf("%w: %d bytes are more than %d", ErrModel, len(data), MaxModel)
	}
	d := json.NewDecoder(strings.NewReader(string(data)))
	d.DisallowUnknownFields()
	f := &ModelFile{}
	if err := d.Decode(f); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrModel, err)
	}
	if d.More() {
		return nil, fmt.Errorf("%w: there is more after its end", ErrModel)
	}
	return f, nil
}

// NewModel makes a model of what a file declares. Without one it has the two roots alone.
func NewModel(f *ModelFile) (*Model, error) {
	m := &Model{
		Classes:      []Class{{Name: "object", Attributes: []AttributeID{Privilege}}},
		Attributes:   []Attribute{{Name: "privilege"}},
		Interactions: []Interaction{{Name: "interaction"}},
	}
	if f == nil {
		return m, nil
	}
	return m.Extended(f)
}

// Extended returns a model that has what a file declares besides what this one has. What is
// declared again in the same way stays as it is; what clashes is refused, with the whole file.
func (m *Model) Extended(f *ModelFile) (*Model, error) {
	n := m.clone()
	for i := range f.Dimensions {
		if err := n.addDimension(&f.Dimensions[i]); err != nil {
			return nil, err
		}
	}
	for i := range f.Classes {
		if err := n.addClass(&f.Classes[i]); err != nil {
			return nil, err
		}
	}
	for i := range f.Interactions {
		if err := n.addInteraction(&f.Interactions[i]); err != nil {
			return nil, err
		}
	}
	return n, nil
}

func (m *Model) clone() *Model {
	n := &Model{Classes: append([]Class(nil), m.Classes...),
		Attributes:   append([]Attribute(nil), m.Attributes...),
		Interactions: append([]Interaction(nil), m.Interactions...),
		Parameters:   append([]string(nil), m.Parameters...),
		Dimensions:   append([]DimensionFile(nil), m.Dimensions...)}
	for i := range n.Classes {
		n.Classes[i].Attributes = append([]AttributeID(nil), n.Classes[i].Attributes...)
	}
	for i := range n.Interactions {
		n.Interactions[i].Parameters = append([]ParameterID(nil), n.Interactions[i].Parameters...)
	}
	return n
}

func clash(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrModel}, args...)...)
}

func checkName(what, name string) error {
	if name == "" || len(name) > MaxName || !utf8.ValidString(name) ||
		strings.ContainsFunc(name, func(r rune) bool {
			return !unicode.IsPrint(r) || unicode.IsSpace(r)
		}) {
		return clash("%s %.80q needs a name of 1 to %d bytes, without spaces", what, name, MaxName)
	}
	return nil
}

func (m *Model) addDimension(f *DimensionFile) error {
	if err := checkName("a dimension", f.Name); err != nil {
		return err
	}
	if f.Upper < 1 {
		return clash("dimension %q: its upper bound must be above 0, not %d", f.Name, f.Upper)
	}
	if d, ok := m.Dimension(f.Name); ok {
		if m.Dimensions[d].Upper != f.Upper {
			return clash("dimension %q goes to %d already, and not to %d", f.Name,
				m.Dimensions[d].Upper, f.Upper)
		}
		return nil
	}
	if len(m.Dimensions) == MaxDimensions {
		return clash("more than %d dimensions", MaxDimensions)
	}
	m.Dimensions = append(m.Dimensions, *f)
	return nil
}

func (m *Model) addClass(f *ClassFile) error {
	if err := checkName("a class", f.Name); err != nil {
		return err
	}
	parent, ok := Root, true
	if f.Parent != "" {
		if parent, ok = m.Class(f.Parent); !ok {
			return clash("class %q: there is no class %q that it could be a kind of; declare that "+
				"first", f.Name, f.Parent)
		}
	}
	id, ok := m.Class(f.Name)
	switch {
	case ok && id != Root && f.Parent != "" && m.Classes[id].Parent != parent,
		ok && id == Root && f.Parent != "":
		return clash("class %q is a kind of %q already, and not of %q", f.Name,
			m.Classes[m.Classes[id].Parent].Name, f.Parent)
	case !ok && len(m.Classes) == MaxClasses:
		return clash("more than %d classes", MaxClasses)
	case !ok && m.Classes[parent].depth == maxDepth:
		return clash("class %q is more than %d below the root", f.Name, maxDepth)
	case !ok:
		id = ClassID(len(m.Classes))
		p := &m.Classes[parent]
		m.Classes = append(m.Classes, Class{Name: f.Name, Parent: parent, depth: p.depth + 1,
			Attributes: append([]AttributeID(nil), p.Attributes...), times: p.times})
	}
	for i := range f.Attributes {
		if err := m.addAttribute(id, &f.Attributes[i]); err != nil {
			return err
		}
	}
	return nil
}

func (m *Model) addAttribute(c ClassID, f *AttributeFile) error {
	name := m.Classes[c].Name
	if err := checkName("an attribute of "+name, f.Name); err != nil {
		return err
	}
	a := Attribute{Name: f.Name, Class: c, Kept: f.Kept}
	var err error
	if a.Order, a.Priority, err = readOrder(f.Order, f.Priority); err != nil {
		return clash("attribute %q of %q: %w", f.Name, name, err)
	}
	if a.dims, err = m.readDimensions(f.Dimensions); err != nil {
		return clash("attribute %q of %q: %w", f.Name, name, err)
	}
	if old, ok := m.Attribute(c, f.Name); ok {
		b := m.Attributes[old]
		if a.Class = b.Class; a != b {
			return clash("attribute %q of %q is declared otherwise already", f.Name, name)
		}
		return nil
	}
	if len(m.Attributes) == maxDeclared {
		return clash("more than %d attributes", maxDeclared)
	}
	id := AttributeID(len(m.Attributes))
	for k := range m.Classes {
		if !m.Is(ClassID(k), c) {
			continue
		}
		class := &m.Classes[k]
		if _, ok := m.Attribute(ClassID(k), f.Name); ok {
			return clash("attribute %q of %q: class %q below has one of that name", f.Name, name,
				class.Name)
		}
		if len(class.Attributes) == MaxAttributes {
			return clash("class %q has more than %d attributes", class.Name, MaxAttributes)
		}
		if a.Order == ByTime {
			class.times |= 1 << len(class.Attributes)
		}
		class.Attributes = append(class.Attributes, id)
	}
	m.Attributes = append(m.Attributes, a)
	return nil
}

func (m *Model) addInteraction(f *InteractionFile) error {
	if err := checkName("an interaction", f.Name); err != nil {
		return err
	}
	parent, ok := InteractionID(0), true
	if f.Parent != "" {
		if parent, ok = m.Interaction(f.Parent); !ok {
			return clash("interaction %q: there is no interaction %q that it could be a kind of; "+
				"declare that first", f.Name, f.Parent)
		}
	}
	n := Interaction{Name: f.Name, Parent: parent}
	var err error
	if n.Order, n.Priority, err = readOrder(f.Order, f.Priority); err != nil {
		return clash("interaction %q: %w", f.Name, err)
	}
	if n.dims, err = m.readDimensions(f.Dimensions); err != nil {
		return clash("interaction %q: %w", f.Name, err)
	}
	p := &m.Interactions[parent]
	id, ok := m.Interaction(f.Name)
	switch {
	case ok:
		b := &m.Interactions[id]
		if f.Parent != "" && b.Parent != parent || b.Order != n.Order || b.Priority != n.Priority ||
			b.dims != n.dims {
			return clash("interaction %q is declared otherwise already", f.Name)
		}
	case len(m.Interactions) == MaxInteractions:
		return clash("more than %d interactions", MaxInteractions)
	case p.depth == maxDepth:
		return clash("interaction %q is more than %d below the root", f.Name, maxDepth)
	default:
		id, n.depth = InteractionID(len(m.Interactions)), p.depth+1
		n.Parameters = append([]ParameterID(nil), p.Parameters...)
		m.Interactions = append(m.Interactions, n)
	}
	for _, name := range f.Parameters {
		if err := m.addParameter(id, name); err != nil {
			return err
		}
	}
	return nil
}

func (m *Model) addParameter(i InteractionID, name string) error {
	if err := checkName("a parameter of "+m.Interactions[i].Name, name); err != nil {
		return err
	}
	if _, ok := m.Parameter(i, name); ok {
		return nil
	}
	if len(m.Parameters) == maxDeclared {
		return clash("more than %d parameters", maxDeclared)
	}
	id := ParameterID(len(m.Parameters))
	for k := range m.Interactions {
		if !m.IsInteraction(InteractionID(k), i) {
			continue
		}
		n := &m.Interactions[k]
		if _, ok := m.Parameter(InteractionID(k), name); ok {
			return clash("parameter %q of %q: interaction %q below has one of that name", name,
				m.Interactions[i].Name, n.Name)
		}
		if len(n.Parameters) == MaxParameters {
			return clash("interaction %q has more than %d parameters", n.Name, MaxParameters)
		}
		n.Parameters = append(n.Parameters, id)
	}
	m.Parameters = append(m.Parameters, name)
	return nil
}

func readOrder(name string, priority int) (Order, uint8, error) {
	switch name {
	case "", "receive":
		if priority != 0 {
			return 0, 0, errors.New(`a priority needs the order "priority"`)
		}
		return ByReceipt, 0, nil
	case "time":
		if priority != 0 {
			return 0, 0, errors.New(`a priority needs the order "priority"`)
		}
		return ByTime, 0, nil
	case "priority":
		if priority < 0 || priority > maxPriority {
			return 0, 0, fmt.Errorf("a priority is from 0 to %d, not %d", maxPriority, priority)
		}
		return ByPriority, uint8(priority), nil
	}
	return 0, 0, fmt.Errorf(`an order is "receive", "time" or "priority", not %.80q`, name)
}

func (m *Model) readDimensions(names []string) (set uint16, err error) {
	for _, name := range names {
		d, ok := m.Dimension(name)
		if !ok {
			return 0, fmt.Errorf("there is no dimension %.80q", name)
		}
		set |= 1 << d
	}
	return set, nil
}

// Class finds a class by its name.
func (m *Model) Class(name string) (ClassID, bool) {
	for i := range m.Classes {
		if m.Classes[i].Name == name {
			return ClassID(i), true
		}
	}
	return 0, false
}

// Attribute finds an attribute of a class by its name, inherited ones included.
func (m *Model) Attribute(c ClassID, name string) (AttributeID, bool) {
	for _, a := range m.Classes[c].Attributes {
		if m.Attributes[a].Name == name {
			return a, true
		}
	}
	return 0, false
}

// Interaction finds a class of interactions by its name.
func (m *Model) Interaction(name string) (InteractionID, bool) {
	for i := range m.Interactions {
		if m.Interactions[i].Name == name {
			return InteractionID(i), true
		}
	}
	return 0, false
}

// Parameter finds a parameter of an interaction by its name, inherited ones included.
func (m *Model) Parameter(i InteractionID, name string) (ParameterID, bool) {
	for _, p := range m.Interactions[i].Parameters {
		if m.Parameters[p] == name {
			return p, true
		}
	}
	return 0, false
}

// Dimension finds a dimension by its name.
func (m *Model) Dimension(name string) (DimensionID, bool) {
	for i := range m.Dimensions {
		if m.Dimensions[i].Name == name {
			return DimensionID(i), true
		}
	}
	return 0, false
}

// Is says whether a class is another, or a kind of it.
func (m *Model) Is(c, of ClassID) bool {
	for m.Classes[c].depth > m.Classes[of].depth {
		c = m.Classes[c].Parent
	}
	return c == of
}

// IsInteraction says whether a class of interactions is another, or a kind of it.
func (m *Model) IsInteraction(i, of InteractionID) bool {
	for m.Interactions[i].depth > m.Interactions[of].depth {
		i = m.Interactions[i].Parent
	}
	return i == of
}

// slot is where an attribute stands in a class.
func (m *Model) slot(c ClassID, a AttributeID) (int, bool) {
	for i, b := range m.Classes[c].Attributes {
		if a == b {
			return i, true
		}
	}
	return 0, false
}

// translate makes of a set of one class's slots the same attributes' slots in another class.
func (m *Model) translate(s Set, from, to ClassID) (out Set) {
	if from == to {
		return s
	}
	for r := s; r != 0; r &= r - 1 {
		slot := bits.TrailingZeros64(uint64(r))
		if i, ok := m.slot(to, m.Classes[from].Attributes[slot]); ok {
			out |= 1 << i
		}
	}
	return out
}

package dis

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/coeval-dev/coeval/det"
)

// ID names an entity, an event, or a simulator of an exercise. The site and application are the
// simulator's, which numbers what is its own.
type ID struct{ Site, Application, Number uint16 }

// Numbers with a meaning of their own, in any part of an ID.
const (
	NoOne      = 0
	Everyone   = 0xFFFF
	AssignToMe = 0xFFFE // a number is asked for
)

func (id ID) String() string {
	return fmt.Sprintf("%d:%d:%d", id.Site, id.Application, id.Number)
}

// Proper says whether an ID can be that of one entity.
func (id ID) Proper() bool {
	for _, n := range [...]uint16{id.Site, id.Application, id.Number} {
		if n == NoOne || n >= AssignToMe {
			return false
		}
	}
	return true
}

// From says whether an ID is of a simulator's entities or events.
func (id ID) From(site, application uint16) bool {
	return id.Site == site && id.Application == application
}

// Match says whether a request to id is for one: zero is no one, and 0xFFFF anyone.
func (id ID) Match(one ID) bool {
	match := func(to, is uint16) bool { return to == is || to == Everyone }
	return match(id.Site, one.Site) && match(id.Application, one.Application) &&
		match(id.Number, one.Number)
}

// ParseID reads "site:application:number".
func ParseID(text string) (ID, error) {
	n, err := numbers(text, 3, math.MaxUint16)
	if err != nil {
		return ID{}, fmt.Errorf("dis: %q is no name of an entity: %w; write one such as 1:2:3",
			text, err)
	}
	return ID{uint16(n[0]), uint16(n[1]), uint16(n[2])}, nil
}

// Type is what kind of thing an entity is, by the enumerations of SISO-REF-010. A number that is
// zero leaves that part open.
type Type struct {
	Kind, Domain                           uint8
	Country                                uint16
	Category, Subcategory, Specific, Extra uint8
}

// Kinds and domains of entities that programs decide by.
const (
	Platform        = 1
	Munition        = 2
	LifeForm        = 3
	Environmental   = 4
	CulturalFeature = 5
	Expendable      = 8

	Land       = 1
	Air        = 2
	Surface    = 3
	Subsurface = 4
	Space      = 5
)

func (t Type) String() string {
	return fmt.Sprintf("%d.%d.%d.%d.%d.%d.%d", t.Kind, t.Domain, t.Country, t.Category,
		t.Subcategory, t.Specific, t.Extra)
}

// ParseType reads "kind.domain.country.category.subcategory.specific.extra", as the standard's
// lists print it. What is left away at the end is zero.
func ParseType(text string) (Type, error) {
	for strings.Count(text, ".") < 6 {
		text += ".0"
	}
	n, err := numbers(strings.ReplaceAll(text, ".", ":"), 7, math.MaxUint16)
	if err != nil {
		return Type{}, fmt.Errorf("dis: %q is no type of entity: %w; write one such as "+
			"1.2.225.1.9.0.0", text, err)
	}
	for i, x := range n {
		if i != 2 && x > math.MaxUint8 {
			return Type{}, fmt.Errorf("dis: %q is no type of entity: %d is more than 255", text, x)
		}
	}
	return Type{uint8(n[0]), uint8(n[1]), uint16(n[2]), uint8(n[3]), uint8(n[4]), uint8(n[5]),
		uint8(n[6])}, nil
}

// Within says whether a type is one that a wider type, with zeros in it, stands for.
func (t Type) Within(wide Type) bool {
	open := func(w, x uint16) bool { return w == 0 || w == x }
	return open(uint16(wide.Kind), uint16(t.Kind)) &&
		open(uint16(wide.Domain), uint16(t.Domain)) && open(wide.Country, t.Country) &&
		open(uint16(wide.Category), uint16(t.Category)) &&
		open(uint16(wide.Subcategory), uint16(t.Subcategory)) &&
		open(uint16(wide.Specific), uint16(t.Specific)) &&
		open(uint16(wide.Extra), uint16(t.Extra))
}

func numbers(text string, n int, most uint64) ([]uint64, error) {
	parts := strings.Split(text, ":")
	if len(parts) != n {
		return nil, errors.New("it has " + strconv.Itoa(len(parts)) + " parts, not " +
			strconv.Itoa(n))
	}
	all := make([]uint64, n)
	for i, p := range parts {
		x, err := strconv.ParseUint(p, 10, 64)
		if err != nil || x > most {
			return nil, fmt.Errorf("%q is not a number up to %d", p, most)
		}
		all[i] = x
	}
	return all, nil
}

// Vec is three numbers as the wire has them.
type Vec [3]float32

// VecOf is the nearest Vec.
func VecOf(v det.Vec3) Vec { return Vec{float32(v.X), float32(v.Y), float32(v.Z)} }

// Vec3 is a Vec to compute with.
func (v Vec) Vec3() det.Vec3 {
	return det.Vec3{X: float64(v[0]), Y: float64(v[1]), Z: float64(v[2])}
}

func (v Vec) finite() bool {
	for _, x := range v {
		if x-x != 0 {
			return false
		}
	}
	return true
}

// Marking is the name of an entity that people read.
type Marking struct {
	Set  uint8 // 1 is ASCII
	Text [11]byte
}

// Mark makes a marking in ASCII. What is too long is cut, and other letters become question marks.
func Mark(text string) Marking {
	m := Marking{Set: 1}
	i := 0
	for _, r := range text {
		if i == len(m.Text) {
			break
		}
		if r < ' ' || r > '~' {
			r = '?'
		}
		m.Text[i] = byte(r)
		i++
	}
	return m
}

// String is the text, for people: what is not printable ASCII becomes a question mark, so that a
// name can do no harm to a terminal.
func (m Marking) String() string {
	text := m.Text[:]
	for i, c := range text {
		if c == 0 {
			text = text[:i]
			break
		}
	}
	out := make([]byte, len(text))
	for i, c := range text {
		if c < ' ' || c > '~' {
			c = '?'
		}
		out[i] = c
	}
	return string(out)
}

// Parameter is a record about a part of an entity, as on the wire. Its first byte says of which
// kind.
type Parameter [16]byte

// Kinds of parameters. Those from Separation on are of version 7.
const (
	ArticulatedPart = 0
	AttachedPart    = 1
	Separation      = 2
	OtherType       = 3
	Association     = 4
)

// Articulated is a part that moves, such as a turret: to which part it is attached (0: the entity),
// what of it is told and its value.
func Articulated(change uint8, attached uint16, what uint32, value float32) (p Parameter) {
	p[0], p[1] = ArticulatedPart, change
	binary.BigEndian.PutUint16(p[2:], attached)
	binary.BigEndian.PutUint32(p[4:], what)
	binary.BigEndian.PutUint32(p[8:], math.Float32bits(value))
	return p
}

// Attached is a part that can be taken off, such as a missile at a station.
func Attached(detached uint8, attached uint16, station uint32, t Type) (p Parameter) {
	p[0], p[1] = AttachedPart, detached
	binary.BigEndian.PutUint16(p[2:], attached)
	binary.BigEndian.PutUint32(p[4:], station)
	putType(p[8:], t)
	return p
}

// Kind is of which kind the record is.
func (p *Parameter) Kind() uint8 { return p[0] }

// Value is what Articulated was given, for a part that moves.
func (p *Parameter) Value() (change uint8, attached uint16, what uint32, value float32) {
	return p[1], binary.BigEndian.Uint16(p[2:]), binary.BigEndian.Uint32(p[4:]),
		math.Float32frombits(binary.BigEndian.Uint32(p[8:]))
}

// Part is what Attached was given, for a part that can be taken off.
func (p *Parameter) Part() (detached uint8, attached uint16, station uint32, t Type) {
	return p[1], binary.BigEndian.Uint16(p[2:]), binary.BigEndian.Uint32(p[4:]), getType(p[8:])
}

// The records on the wire.

func putID(b []byte, id ID) {
	_ = b[5]
	binary.BigEndian.PutUint16(b, id.Site)
	binary.BigEndian.PutUint16(b[2:], id.Application)
	binary.BigEndian.PutUint16(b[4:], id.Number)
}

func getID(b []byte) ID {
	_ = b[5]
	return ID{binary.BigEndian.Uint16(b), binary.BigEndian.Uint16(b[2:]),
		binary.BigEndian.Uint16(b[4:])}
}

func putType(b []byte, t Type) {
	_ = b[7]
	b[0], b[1] = t.Kind, t.Domain
	binary.BigEndian.PutUint16(b[2:], t.Country)
	b[4], b[5], b[6], b[7] = t.Category, t.Subcategory, t.Specific, t.Extra
}

func getType(b []byte) Type {
	_ = b[7]
	return Type{b[0], b[1], binary.BigEndian.Uint16(b[2:]), b[4], b[5], b[6], b[7]}
}

func putVec(b []byte, v *Vec) {
	_ = b[11]
	binary.BigEndian.PutUint32(b, math.Float32bits(v[0]))
	binary.BigEndian.PutUint32(b[4:], math.Float32bits(v[1]))
	binary.BigEndian.PutUint32(b[8:], math.Float32bits(v[2]))
}

func getVec(b []byte) Vec {
	_ = b[11]
	return Vec{math.Float32frombits(binary.BigEndian.Uint32(b)),
		math.Float32frombits(binary.BigEndian.Uint32(b[4:])),
		math.Float32frombits(binary.BigEndian.Uint32(b[8:]))}
}

func putPlace(b []byte, v *det.Vec3) {
	_ = b[23]
	binary.BigEndian.PutUint64(b, math.Float64bits(v.X))
	binary.BigEndian.PutUint64(b[8:], math.Float64bits(v.Y))
	binary.BigEndian.PutUint64(b[16:], math.Float64bits(v.Z))
}

func getPlace(b []byte) det.Vec3 {
	_ = b[23]
	return det.Vec3{X: math.Float64frombits(binary.BigEndian.Uint64(b)),
		Y: math.Float64frombits(binary.BigEndian.Uint64(b[8:])),
		Z: math.Float64frombits(binary.BigEndian.Uint64(b[16:]))}
}

// compare orders IDs: by site, application and number.
func (id ID) compare(other ID) int {
	return cmp.Or(cmp.Compare(id.Site, other.Site),
		cmp.Compare(id.Application, other.Application), cmp.Compare(id.Number, other.Number))
}

func finite(v det.Vec3) bool {
	s := v.X + v.Y + v.Z
	return s-s == 0
}

package world

import (
	"slices"
	"strings"
	"testing"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/det"
)

type crate struct {
	Armor [3]uint8
	Tilt  det.Angle
}

func (h *crate) Sync(s *bits.Sync) {
	for i := range h.Armor {
		s.Uint8(&h.Armor[i], 0, 200)
	}
	s.Angle(&h.Tilt, 8)
}

type barge struct {
	Crate   crate
	Pos     det.Vec2
	Facing  det.Vec3
	Ready   int `world:"server"`
	Level   int `world:"synced"`
	Burning bool
	Heat    int
	Cargo   []crate
	Name    string
	Big     uint64
}

func (b *barge) Sync(s *bits.Sync) {
	b.Crate.Sync(s)
	s.Vec2(&b.Pos, 0, 64, 1.0/16)
	s.Direction(&b.Facing, 8)
	level := b.Level
	s.Int(&level, 0, 9)
	b.Level = level
	if s.Bool(&b.Burning) {
		s.Int(&b.Heat, 0, 100)
	}
	bits.Slice(s, &b.Cargo, 4, (*crate).Sync)
	s.String(&b.Name, 8)
	s.Uint64(&b.Big, 0, 1<<63)
}

func (b *barge) CopyFrom(from *barge) {
	cargo := append(b.Cargo[:0], from.Cargo...)
	*b = *from
	b.Cargo = cargo
}

type splash struct {
	At   det.Vec2
	Loud int `world:"synced"`
}

func (e *splash) Sync(s *bits.Sync) { s.Vec2(&e.At, 0, 64, 1) }

var barges = Define("barges", Class[barge](), Event[splash](), Local[dust](),
	OnStart(func(w *World) { Spawn(w, barge{}) }))

func TestFieldsByPointer(t *testing.T) {
	if err := barges.Err(); err != nil {
		t.Fatal(err)
	}
	c := barges.Classes()[0]
	b := c.New().(*barge)
	for _, x := range []struct {
		field any
		name  string
		slots []string
		kind  bits.Kind
	}{
		{&b.Pos, "Pos", []string{"Pos.X", "Pos.Y"}, bits.KindVec2},
		{&b.Pos.X, "Pos.X", []string{"Pos.X"}, bits.KindVec2},
		{&b.Pos.Y, "Pos.Y", []string{"Pos.Y"}, bits.KindVec2},
		{&b.Crate.Armor, "Crate.Armor",
			[]string{"Crate.Armor[0]", "Crate.Armor[1]", "Crate.Armor[2]"}, bits.KindInt},
		{&b.Crate.Armor[0], "Crate.Armor[0]", []string{"Crate.Armor[0]"}, bits.KindInt},
		{&b.Crate.Armor[2], "Crate.Armor[2]", []string{"Crate.Armor[2]"}, bits.KindInt},
		{&b.Crate.Tilt, "Crate.Tilt", []string{"Crate.Tilt"}, bits.KindAngle},
		{&b.Burning, "Burning", []string{"Burning"}, bits.KindBool},
		{&b.Name, "Name", nil, bits.KindString},
		{&b.Facing, "Facing", nil, bits.KindDirection},
		{&b.Big, "Big", nil, bits.KindInt},
	} {
		f, err := c.Field(b, x.field)
		if err != nil || f.Path != x.name || len(f.Slots) == 0 || len(f.Kinds) != len(f.Slots) {
			t.Errorf("%s: %+v, %v", x.name, f, err)
			continue
		}
		var names []string
		for i, s := range f.Slots {
			slot := &c.Schema().Slots[s]
			names = append(names, slot.Name)
			if slot.Kind != f.Kinds[i] || f.Kinds[i] != x.kind {
				t.Errorf("%s: slot %s is a %v, and Field says %v", x.name, slot.Name, slot.Kind,
					f.Kinds[i])
			}
		}
		if x.slots != nil && !slices.Equal(names, x.slots) || len(names) != partsOf(c.Schema(), f) {
			t.Errorf("%s covers %v, want %v", x.name, names, x.slots)
		}
	}
	if f, err := c.Field(b, &b.Crate); err != nil || len(f.Slots) != 4 ||
		f.Kinds[3] != bits.KindAngle {
		t.Errorf("%+v, %v", f, err)
	}
	if f, ok := c.FieldNamed("Pos"); !ok || len(f.Slots) != 2 || f.Path != "Pos" {
		t.Errorf("%+v, %v", f, ok)
	}
	for _, name := range []string{"", "Po", "Position", "Ready", "Heat", "Cargo", "Cargo[0].Tilt"} {
		if f, ok := c.FieldNamed(name); ok {
			t.Errorf("%q is %+v", name, f)
		}
	}
	e := barges.Events()[0]
	s := e.New().(*splash)
	if f, err := e.Field(s, &s.At); err != nil || f.Path != "At" || len(f.Slots) != 2 {
		t.Errorf("%+v, %v", f, err)
	}
	if _, err := e.Field(s, &s.Loud); err == nil ||
		!strings.Contains(err.Error(), "field Loud of splash is not synced") {
		t.Error(err)
	}
}

// partsOf is how many numbers the fields have that a Field touches, or as many as it names of one.
func partsOf(schema *bits.Schema, f Field) int {
	if strings.HasSuffix(f.Path, ".X") || strings.HasSuffix(f.Path, ".Y") {
		return 1
	}
	n := 0
	for i := range schema.Slots {
		if schema.Slots[i].Field == schema.Slots[f.Slots[0]].Field {
			n++
		}
	}
	return max(n, len(f.Slots))
}

func TestFieldsByPointerThatAreNone(t *testing.T) {
	c := barges.Classes()[0]
	b, other := c.New().(*barge), c.New().(*barge)
	b.Cargo = make([]crate, 1)
	var pos det.Vec2
	for _, x := range []struct {
		of, field any
		want      string
	}{
		{b, &pos, "a *det.Vec2 that is no field of barge; a hint runs on a zero value of the " +
			"class, take pointers to its own fields"},
		{b, &other.Pos, "a *det.Vec2 that is no field of barge"},
		{b, &b.Cargo[0].Tilt, "a *det.Angle that is no field of barge"},
		{b, b, "a *world.barge that is no field of barge"},
		{b, &b.Ready, "field Ready of barge is not synced"},
		{b, &b.Level, "field Level of barge is not synced"},
		{b, &b.Heat, "field Heat of barge is synced only in a branch"},
		{b, &b.Cargo, "field Cargo of barge is a slice"},
		{b, &b.Facing.X, "field Facing.X of barge is synced only as a part of Facing"},
		{b, b.Pos, "a det.Vec2, and not a pointer to a field of barge"},
		{b, nil, "a <nil>, and not a pointer"},
		{b, (*int)(nil), "a *int, and not a pointer"},
		{*b, &b.Pos, "a world.barge is not what New of barge gives"},
		{nil, &b.Pos, "a <nil> is not what New"},
		{new(splash), &b.Pos, "a *world.splash is not what New"},
		{(*barge)(nil), &b.Pos, "is not what New"},
	} {
		f, err := c.Field(x.of, x.field)
		if err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%+v, %v, want %q", f, err, x.want)
		}
	}
}

func TestValue(t *testing.T) {
	w := newOf(t, barges, Settings{})
	if err := w.Host().SetLocals(barges.NewLocals()); err != nil {
		t.Fatal(err)
	}
	id, lying := first[barge](w), Spawn(w, dust{X: 3})
	if v, ok := w.Host().Value(id).(*barge); !ok || v != Get[barge](w, id) {
		t.Errorf("%T", w.Host().Value(id))
	}
	if v, ok := w.Host().Value(lying).(*dust); !ok || v.X != 3 {
		t.Errorf("%T", w.Host().Value(lying))
	}
	w.Remove(lying)
	for _, none := range []ID{
		None, lying, id + 1, makeID(7, 0, 0, 1), makeID(localNumber, 9, 0, 1)} {
		if v := w.Host().Value(none); v != nil {
			t.Errorf("%v is %+v", none, v)
		}
	}
	if n := testing.AllocsPerRun(100, func() { _ = w.Host().Value(id) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

package bits

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/coeval-dev/coeval/det"
	"pgregory.net/rapid"
)

// tank branches on a bool, on an enumeration and on a count, and has fields after each.
type tank struct {
	Burning bool
	Heat    int
	Mode    weapon
	Fuel    int
	Depth   float64
	Count   int
	Shells  [4]int
	Place   struct{ At det.Vec2 }
	Last    int
}

func (t *tank) Sync(s *Sync) {
	if s.Bool(&t.Burning) {
		s.Int(&t.Heat, 1, 10)
	}
	Enum(s, &t.Mode, 3)
	switch t.Mode {
	case 0:
		s.Int(&t.Fuel, 0, 100)
	case 2: // the same field in two forms
		s.Int(&t.Fuel, 0, 1000)
		s.Float(&t.Depth, -10, 0, 0.5)
	}
	s.Int(&t.Count, 0, 4)
	for i := range t.Count {
		s.Int(&t.Shells[i], 0, 9)
	}
	s.Vec2(&t.Place.At, 0, 8, 1)
	s.Int(&t.Last, 0, 7)
}

func TestBranchesKeepSlots(t *testing.T) {
	l, err := NewLayout((*tank)(nil))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	var optional string
	for _, sl := range l.Schema().Slots {
		names = append(names, sl.Name)
		if sl.Optional {
			optional += sl.Name + " "
		}
	}
	want := "Burning Heat Mode Fuel#2 Depth Fuel Count Shells[0] Shells[1] Shells[2] Shells[3] " +
		"Place.At.X Place.At.Y Last"
	got := strings.Join(names, " ")
	if alternative := strings.Replace(want, "Fuel#2 Depth Fuel", "Fuel Depth Fuel#2",
		1); got != want && got != alternative {
		t.Errorf("slots %q", got)
	}
	if optional != "Heat Fuel Depth Fuel#2 Shells[0] Shells[1] Shells[2] Shells[3] " {
		t.Errorf("optional %q", optional)
	}
	slot := map[string]int{}
	for i, n := range names {
		slot[n] = i
	}
	narrow, wide := slot["Fuel"], slot["Fuel#2"]
	if l.Schema().Slots[narrow].Max == 1000 {
		narrow, wide = wide, narrow
	}
	rapid.Check(t, func(t *rapid.T) {
		i := func(name string, lo, hi int) int { return rapid.IntRange(lo, hi).Draw(t, name) }
		v := tank{Burning: i("burning", 0, 1) == 1, Heat: i("heat", 1, 10),
			Mode: weapon(i("mode", 0, 2)), Fuel: i("fuel", 0, 100),
			Depth: -0.5 * float64(i("depth", 0, 20)), Count: i("count", 0, 4), Shells: [4]int{
				1, 2, 3, 4}, Last: i("last", 0, 7)}
		v.Place.At = det.Vec2{X: 3, Y: 5}
		expect := make([]int32, l.Len())
		expect[slot["Heat"]] = 1 // absent: the end nearest to zero
		if v.Burning {
			expect[slot["Burning"]], expect[slot["Heat"]] = 1, int32(v.Heat)
		}
		expect[slot["Mode"]] = int32(v.Mode)
		if v.Mode == 0 {
			expect[narrow] = int32(v.Fuel)
		}
		if v.Mode == 2 {
			expect[wide], expect[slot["Depth"]] = int32(v.Fuel), int32(v.Depth*2)
		}
		expect[slot["Count"]] = int32(v.Count)
		for j := range v.Count {
			expect[slot["Shells[0]"]+j] = int32(v.Shells[j])
		}
		expect[slot["Place.At.X"]], expect[slot["Place.At.Y"]], expect[slot["Last"]] = 3, 5,
			int32(v.Last)
		image := make([]int32, l.Len())
		for k := range image {
			image[k] = -99
		}
		var s Sync
		if err := l.Pack(&s, &v, image); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(image, expect) {
			t.Fatalf("%+v\ngot  %v\nwant %v", v, image, expect)
		}
		var back tank
		if err := l.Unpack(&s, &back, image); err != nil {
			t.Fatal(err)
		}
		again := make([]int32, l.Len())
		if err := l.Pack(&s, &back, again); err != nil || !reflect.DeepEqual(again, image) {
			t.Fatalf("unpacked %+v, error %v", back, err)
		}
	})
}

// A shuffled Sync meets its fields in another order in each branch.
type shuffled struct {
	Swap bool
	A, B int
}

func (v *shuffled) Sync(s *Sync) {
	if s.Bool(&v.Swap) {
		s.Int(&v.B, 0, 9)
		s.Int(&v.A, 0, 9)
	} else {
		s.Int(&v.A, 0, 9)
		s.Int(&v.B, 0, 9)
	}
}

func TestOrderMayDiffer(t *testing.T) {
	l, err := NewLayout((*shuffled)(nil))
	if err != nil {
		t.Fatal(err)
	}
	var s Sync
	one, two := make([]int32, 3), make([]int32, 3)
	if err := errors.Join(l.Pack(&s, &shuffled{A: 3, B: 7}, one),
		l.Pack(&s, &shuffled{Swap: true, A: 3, B: 7}, two)); err != nil {
		t.Fatal(err)
	}
	if two[0]--; !reflect.DeepEqual(one, two) {
		t.Errorf("%v, %v", one, two)
	}
}

// A converted Sync keeps its fields in one form and syncs them in another, through variables of its
// own.
type converted struct {
	percent float32
	matrix  [2][2]float64
	On      bool
}

func (c *converted) Sync(s *Sync) {
	n := int(c.percent)
	s.Int(&n, 0, 100)
	if s.Reading() {
		c.percent = float32(n)
	}
	s.Bool(&c.On)
	q := det.Quat{X: c.matrix[0][0], W: 1}
	if c.On {
		s.Quat(&q, 8)
	}
	if s.Reading() {
		c.matrix[0][0] = q.X
	}
}

// In each of these something cannot work; the layout must say what.
type (
	ambiguous struct{ A, B bool }
	twisted   struct {
		Old  int
		X, Y int
	}
	changing  struct{ N int }
	backwards struct {
		Inner [2]struct{ N int }
	}
	pointing struct{ P *tank }
	gigantic struct{ Names []string }
	secret   struct{ A, B, C int }
	meddling struct{ A, B int }
)

func (v *ambiguous) Sync(s *Sync) {
	var n int
	if s.Bool(&v.A) {
		s.Int(&n, 0, 10)
	}
	if s.Bool(&v.B) {
		s.Int(&n, 0, 10)
	}
}

func (v *twisted) Sync(s *Sync) {
	if v.Old == 0 { // decided on what is only synced later
		s.Int(&v.X, 0, 10)
	} else {
		s.Int(&v.Y, 0, 20)
	}
	s.Int(&v.Old, 0, 1)
}

func (v *changing) Sync(s *Sync) {
	s.Int(&v.N, 0, 10)
	if s.Reading() {
		v.N = min(v.N+1, 10)
	}
}

func (v *backwards) Sync(s *Sync) {
	s.Int(&v.Inner[0].N, 0, 10)
	s.Int(&v.Inner[1].N, 10, 0)
}

func (v *pointing) Sync(s *Sync) { v.P.Sync(s) }

func (v *gigantic) Sync(s *Sync) {
	Slice(s, &v.Names, 1000, func(p *string, s *Sync) { s.String(p, 1000) })
}

func (v *secret) Sync(s *Sync) {
	s.Int(&v.A, 0, 1_000_000)
	if v.A == 123_456 { // nothing finds this by trying
		s.Int(&v.B, 0, 10)
	}
	s.Int(&v.C, 0, 10)
}

func (v *meddling) Sync(s *Sync) {
	s.Int(&v.A, 0, 10)
	if s.Reading() && v.A > 5 {
		s.Int(&v.B, 0, 10)
	}
}

func TestLayoutRefuses(t *testing.T) {
	tests := []struct {
		v    Syncer
		err  error
		want string
	}{
		{(*ambiguous)(nil), ErrUse,
			"bits.ambiguous.a value outside the struct: bad use: int 0..10 is met 2 times on one " +
				"path and 1 on another"},
		{(*twisted)(nil), ErrPath, "bits.twisted."},
		{(*changing)(nil), ErrPath,
			"bits.changing: unknown path: what was read and written again differs"},
		{(*backwards)(nil), ErrUse,
			"bits.backwards.Inner[1].N: bad use: int has its minimum above its maximum"},
		{(*pointing)(nil), ErrUse,
			"bits.pointing: bad use: the Sync method panics on a zero value"},
		{(*gigantic)(nil), ErrUse,
			"bits.gigantic.Names: bad use: an image would have more than 65536 numbers"},
		{(*meddling)(nil), ErrPath, "bits.meddling."},
		{nil, ErrUse, "pointer"},
		{notPointer{}, ErrUse, "pointer"},
	}
	for _, tt := range tests {
		t.Run(tt.want, func(t *testing.T) {
			_, err := NewLayout(tt.v)
			if !errors.Is(err, tt.err) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got  %v\nwant %v", err, tt.want)
			}
		})
	}
}

type notPointer struct{}

func (notPointer) Sync(*Sync) {}

func TestMustLayoutPanics(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	MustLayout((*backwards)(nil))
}

func TestValuesOutsideTheStruct(t *testing.T) {
	l, err := NewLayout((*converted)(nil))
	if err != nil {
		t.Fatal(err)
	}
	var s Sync
	for _, on := range []bool{false, true} {
		v := converted{percent: 42, On: on}
		image := make([]int32, l.Len())
		var back converted
		if err := errors.Join(l.Pack(&s, &v, image), l.Unpack(&s, &back, image)); err != nil ||
			back.percent != 42 || back.On != on {
			t.Errorf("%+v becomes %+v through %v, error %v", v, back, image, err)
		}
		if image[0] != 42 || l.Len() != 6 {
			t.Errorf("image %v", image)
		}
	}
}

// A branch that no trying finds is an error when it is taken, not a wrong image.
func TestUnknownBranch(t *testing.T) {
	l, err := NewLayout((*secret)(nil))
	if err != nil {
		t.Fatal(err)
	}
	var s Sync
	image := make([]int32, l.Len())
	if err := l.Pack(&s, &secret{A: 5}, image); err != nil {
		t.Error(err)
	}
	v := &secret{A: 123_456}
	for _, err := range []error{
		l.Pack(&s, v, image), l.Unpack(&s, v, []int32{123_456, 0}), l.Check(v)} {
		if !errors.Is(err, ErrPath) ||
			!strings.Contains(err.Error(), "bits.secret.B: unknown path: int 0..10 was not met") {
			t.Errorf("got %v", err)
		}
	}
}

func TestCheckFindsTwistedPaths(t *testing.T) {
	// Made by hand, since NewLayout refuses it by the same check.
	typ := reflect.TypeFor[twisted]()
	d := &definer{typ: typ, root: &sketch{typ: typ, size: typ.Size()}}
	if err := d.explore(); err != nil {
		t.Fatal(err)
	}
	root, err := d.root.finish()
	if err != nil {
		t.Fatal(err)
	}
	l := &Layout{schema: Schema{Name: "twisted"}, root: root, pointer: reflect.PointerTo(typ)}
	root.describe(&l.schema, "", false)
	if err := l.Check(&twisted{X: 3}, &twisted{X: 5}); err != nil {
		t.Errorf("these agree: %v", err)
	}
	err = l.Check(&twisted{Old: 1, Y: 5})
	want := "bits: twisted.Y: unknown path: int is written where reading expects X (int); " +
		"branches must depend only on fields synced before them"
	if err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %v", err, want)
	}
	if err := l.Check(new(tank)); !errors.Is(err, ErrUse) {
		t.Errorf("another type: %v", err)
	}
}

func TestImagesOfOthersAreRefused(t *testing.T) {
	l := everythingLayout
	var s Sync
	v := &everything{}
	image := make([]int32, l.Len())
	if err := l.Pack(&s, v, image[1:]); !errors.Is(err, ErrUse) {
		t.Errorf("short image: %v", err)
	}
	if err := l.Unpack(&s, new(tank), image); !errors.Is(err, ErrUse) ||
		!strings.Contains(err.Error(), "not for *bits.tank") {
		t.Errorf("other type: %v", err)
	}
	if err := l.Unpack(&s, nil, image); !errors.Is(err, ErrUse) {
		t.Errorf("nil: %v", err)
	}
	if err := l.Pack(&s, v, image); err != nil {
		t.Fatal(err)
	}
	for i, sl := range l.Schema().Slots {
		for _, bad := range []int64{int64(sl.Min) - 1, int64(sl.Max) + 1} {
			if int64(int32(bad)) != bad {
				continue
			}
			spoilt := append([]int32(nil), image...)
			spoilt[i] = int32(bad)
			if err := l.Schema().Check(spoilt); !errors.Is(err, ErrValue) ||
				!strings.Contains(err.Error(), sl.Name) {
				t.Errorf("the schema takes %d for %s: %v", bad, sl.Name, err)
			}
			if err := l.Unpack(&s, new(everything), spoilt); !sl.Optional &&
				!errors.Is(err, ErrValue) {
				t.Errorf("%d is taken for %s: %v", bad, sl.Name, err)
			}
		}
	}
}

// Upper and lower halves of a number may each be in range and the number not.
func TestWideNumbersOutOfRangeAreRefused(t *testing.T) {
	l := everythingLayout
	var s Sync
	image := make([]int32, l.Len())
	if err := l.Pack(&s, &everything{Wide: 1 << 40}, image); err != nil {
		t.Fatal(err)
	}
	for i, sl := range l.Schema().Slots {
		if sl.Name == "Wide.lo" {
			image[i]++
		}
	}
	err := l.Unpack(&s, new(everything), image)
	if !errors.Is(err, ErrValue) || !strings.Contains(err.Error(), "everything.Wide: ") {
		t.Errorf("got %v", err)
	}
}

func TestSchemaHash(t *testing.T) {
	a, err := NewLayout((*tank)(nil))
	if err != nil {
		t.Fatal(err)
	}
	b, err := NewLayout((*tank)(nil))
	if err != nil {
		t.Fatal(err)
	}
	if a.Schema().Hash() != b.Schema().Hash() || !reflect.DeepEqual(a.Schema(), b.Schema()) {
		t.Error("the same type gives different schemas")
	}
	for i := range b.schema.Slots {
		sl := b.schema.Slots[i]
		b.schema.Slots[i].Max++
		if a.Schema().Hash() == b.Schema().Hash() {
			t.Error("a changed range is not noticed")
		}
		b.schema.Slots[i] = sl
	}
}

// nest has slices in slices.
type nest struct {
	Rows []row
	End  int
}

type row struct {
	Cells []uint8
	Open  bool
	Label int
}

func (v *nest) Sync(s *Sync) {
	Slice(s, &v.Rows, 3, (*row).Sync)
	s.Int(&v.End, 0, 5)
}

func (v *row) Sync(s *Sync) {
	Slice(s, &v.Cells, 2, func(p *uint8, s *Sync) { s.Uint8(p, 0, 200) })
	if s.Bool(&v.Open) {
		s.Int(&v.Label, 1, 9)
	}
}

func TestNestedSlices(t *testing.T) {
	l, err := NewLayout((*nest)(nil))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, sl := range l.Schema().Slots {
		names = append(names, sl.Name)
	}
	want := "Rows.len Rows[0].Cells.len Rows[0].Cells[0].value Rows[0].Cells[1].value " +
		"Rows[0].Open Rows[0].Label"
	if !strings.HasPrefix(strings.Join(names, " "), want) || l.Len() != 1+3*5+1 {
		t.Errorf("slots %v", names)
	}
	var s Sync
	image := make([]int32, l.Len())
	v := nest{Rows: []row{{Cells: []uint8{5}}, {Cells: []uint8{6, 7}, Open: true, Label: 4}},
		End: 2}
	if err := l.Pack(&s, &v, image); err != nil {
		t.Fatal(err)
	}
	if want := []int32{
		2, 1, 5, 0, 0, 1, 2, 6, 7, 1, 4, 0, 0, 0, 0, 1, 2}; !reflect.DeepEqual(image, want) {
		t.Errorf("got  %v\nwant %v", image, want)
	}
	var back nest
	if err := l.Unpack(&s, &back, image); err != nil || !reflect.DeepEqual(back, v) {
		t.Errorf("got %+v, error %v", back, err)
	}
	s.SetStrict(true)
	v.Rows[1].Cells[1] = 201
	if err := l.Pack(&s, &v, image); err == nil ||
		!strings.Contains(err.Error(), "bits.nest.Rows[1].Cells[1].value: ") {
		t.Errorf("got %v", err)
	}
}

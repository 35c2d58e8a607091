package bits

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/coeval-dev/coeval/det"
	"pgregory.net/rapid"
)

var everythingLayout = MustLayout((*everything)(nil))

// drawEverything draws values of all sorts, many of them not of their field's range.
func drawEverything(t *rapid.T) *everything {
	f := wild()
	i := rapid.Int64()
	e := &everything{
		Flag:     rapid.Bool().Draw(t, "flag"),
		Tiny:     int8(i.Draw(t, "tiny")),
		Short:    int16(i.Draw(t, "short")),
		Plain:    rapid.IntRange(0, 120).Draw(t, "plain"),
		Word:     int32(i.Draw(t, "word")),
		Wide:     i.Draw(t, "wide"),
		Huge:     i.Draw(t, "huge"),
		Byte:     uint8(i.Draw(t, "byte")),
		Port:     uint16(i.Draw(t, "port")),
		Colour:   uint32(i.Draw(t, "colour")),
		Mask:     uint64(i.Draw(t, "mask")),
		Named:    weapon(rapid.IntRange(0, 12).Draw(t, "named")),
		Serial:   serial(i.Draw(t, "serial")),
		Weapon:   weapon(rapid.IntRange(0, 12).Draw(t, "weapon")),
		Speed:    f.Draw(t, "speed"),
		Odd:      f.Draw(t, "odd"),
		Mass:     float32(f.Draw(t, "mass")),
		Exact:    f.Draw(t, "exact"),
		Exact32:  float32(f.Draw(t, "exact32")),
		Small:    f.Draw(t, "small"),
		Half:     f.Draw(t, "half"),
		Heading:  det.Angle(f.Draw(t, "heading")),
		Fine:     det.Angle(f.Draw(t, "fine")),
		Flat:     det.Vec2{X: f.Draw(t, "x"), Y: f.Draw(t, "y")},
		Rect:     det.Vec2{X: f.Draw(t, "x"), Y: f.Draw(t, "y")},
		Pos:      drawVec3(t),
		Box:      drawVec3(t),
		Normal:   drawVec3(t),
		Rough:    drawVec3(t),
		Turn:     drawQuat(t),
		Signed:   i.Draw(t, "signed"),
		Unsigned: uint64(i.Draw(t, "unsigned")),
		Name:     rapid.StringN(0, 16, -1).Draw(t, "name"),
		Blob:     rapid.SliceOfN(rapid.Byte(), 0, 8).Draw(t, "blob"),
		Ammo:     [3]uint8{uint8(i.Draw(t, "ammo")), 7, uint8(i.Draw(t, "ammo"))},
		Burning:  rapid.Bool().Draw(t, "burning"),
		Last:     rapid.IntRange(-5, 5).Draw(t, "last"),
	}
	if rapid.Bool().Draw(t, "target") {
		e.Target = Some(det.Vec2{X: f.Draw(t, "x"), Y: f.Draw(t, "y")})
	}
	for range rapid.IntRange(0, 4).Draw(t, "parts") {
		p := part{Kind: weapon(rapid.IntRange(0, 6).Draw(t, "kind")),
			Hot: rapid.Bool().Draw(t, "hot"), Label: rapid.StringN(0, 8, -1).Draw(t, "label")}
		if p.Hot {
			p.Heat = int16(i.Draw(t, "heat"))
		}
		e.Parts = append(e.Parts, p)
	}
	// What a branch leaves out is not synced, so it must start out the same.
	if e.Burning {
		e.Heat = rapid.IntRange(-1, 12).Draw(t, "heat")
		if e.Spreading = rapid.Bool().Draw(t, "spreading"); e.Spreading {
			e.Reach = f.Draw(t, "reach")
		}
	}
	return e
}

func clone(e *everything) *everything {
	c := *e
	c.Blob = append([]byte(nil), e.Blob...)
	c.Parts = append([]part(nil), e.Parts...)
	return &c
}

// All ways lead to the same value: quantised in place, written and read, coded and decoded, packed
// and unpacked, packed in place.
func TestAllWaysAgree(t *testing.T) {
	l := everythingLayout
	rapid.Check(t, func(t *rapid.T) {
		v := drawEverything(t)
		was := clone(v)
		used := drawEverything(t) // what is read into a value that was in use
		used.Heat, used.Spreading, used.Reach = 0, false, 0
		for i := range used.Parts {
			used.Parts[i].Heat = 0
		}
		var s Sync
		must := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		want := clone(v)
		must(l.Quantise(&s, want))
		again := clone(want)
		must(l.Quantise(&s, again))
		if !same(again, want) {
			t.Fatalf("quantised twice:\n%+v\n%+v", want, again)
		}

		w := NewWriter(make([]byte, 1024))
		s.StartWrite(w)
		v.Sync(&s)
		must(s.Err())
		for _, got := range []*everything{new(everything), clone(used)} {
			r := NewReader(w.Bytes())
			s.StartRead(r)
			got.Sync(&s)
			must(s.Err())
			must(r.Finish())
			if !same(got, want) {
				t.Fatalf("read:\n%+v\n%+v", want, got)
			}
		}

		coder := newRadix()
		s.StartEncode(coder)
		v.Sync(&s)
		must(s.Err())
		must(coder.err)
		got := new(everything)
		s.StartDecode(coder)
		got.Sync(&s)
		must(s.Err())
		if !same(got, want) || coder.value.Sign() != 0 {
			t.Fatalf("decoded:\n%+v\n%+v", want, got)
		}

		image := make([]int32, l.Len())
		must(l.Pack(&s, v, image))
		must(l.Schema().Check(image))
		if !same(v, was) {
			t.Fatal("writing, encoding or packing changed the value")
		}
		for _, got := range []*everything{new(everything), clone(used)} {
			must(l.Unpack(&s, got, image))
			if !same(got, want) {
				t.Fatalf("unpacked:\n%+v\n%+v", want, got)
			}
		}

		replaced, image2 := clone(v), make([]int32, l.Len())
		must(l.QuantiseInto(&s, replaced, image2))
		if !same(replaced, want) || !same(image, image2) {
			t.Fatalf("replaced:\n%+v\n%+v", want, replaced)
		}
		must(l.Check(v, used))
	})
}

func TestStrictNamesTheField(t *testing.T) {
	tests := []struct {
		spoil func(e *everything)
		want  string
	}{
		{func(e *everything) { e.Plain = 1 },
			"bits.everything.Plain: value out of range: int was given 1, not in 5..104"},
		{func(e *everything) { e.Mask = 1 },
			"bits.everything.Mask: value out of range: int was given 1, not in " +
				"3..18446744073709551615"},
		{func(e *everything) { e.Serial = 0 },
			"bits.everything.Serial: value out of range: int was given 0, not in " +
				"1..9223372036854775813"},
		{func(e *everything) { e.Weapon = 7 },
			"bits.everything.Weapon: value out of range: enum was given 7, not in 0..6"},
		{func(e *everything) { e.Speed = math.NaN() },
			"bits.everything.Speed: value out of range: float was given NaN, not in -64..64"},
		{func(e *everything) { e.Mass = -1 },
			"bits.everything.Mass: value out of range: float was given -1, not in 0..1000"},
		{func(e *everything) { e.Exact = math.Inf(1) },
			"bits.everything.Exact: value out of range: full float was given +Inf"},
		{func(e *everything) { e.Small = 1e9 },
			"bits.everything.Small: value out of range: small float was given 1e+09"},
		{func(e *everything) { e.Heading = det.Angle(math.NaN()) },
			"bits.everything.Heading: value out of range: angle was given NaN"},
		{func(e *everything) { e.Box.Z = 5.1 },
			"bits.everything.Box: value out of range: vec3 was given 5.1, not in 0..5"},
		{func(e *everything) { e.Normal.Y = math.Inf(1) },
			"bits.everything.Normal: value out of range: direction"},
		{func(e *everything) { e.Turn.Y = math.NaN() },
			"bits.everything.Turn: value out of range: quat"},
		{func(e *everything) { e.Name = "longer than that" },
			"bits.everything.Name: value out of range: string has length 16, above its limit of 13"},
		{func(e *everything) { e.Target = Some(det.Vec2{X: 9}) },
			"bits.everything.Target.Value: value out of range: vec2"},
		{func(e *everything) { e.Ammo[2] = 201 },
			"bits.everything.Ammo[2]: value out of range: int"},
		{func(e *everything) { e.Parts = make([]part, 4) },
			"bits.everything.Parts: value out of range: slice has length 4"},
		{func(e *everything) { e.Parts = []part{{}, {Hot: true, Heat: 901}} },
			"bits.everything.Parts[1].Heat: value out of range: int was given 901"},
	}
	for _, tt := range tests {
		t.Run(tt.want, func(t *testing.T) {
			v := &everything{Plain: 5, Port: 1024, Mask: 3, Named: 1, Serial: 1}
			image := make([]int32, everythingLayout.Len())
			var s Sync
			s.SetStrict(true)
			if err := everythingLayout.Pack(&s, v, image); err != nil {
				t.Fatalf("before: %v", err)
			}
			tt.spoil(v)
			for _, err := range []error{
				everythingLayout.Pack(&s, v, image),
				everythingLayout.QuantiseInto(&s, clone(v), image)} {
				if err == nil || !strings.Contains(err.Error(), tt.want) ||
					!errors.Is(err, ErrValue) {
					t.Errorf("got  %v\nwant %v", err, tt.want)
				}
			}
			if err := everythingLayout.Unpack(&s, v, image); err != nil {
				t.Errorf("the image is of no use: %v", err)
			}
			s.SetStrict(false)
			if err := everythingLayout.Pack(&s, v, image); err != nil {
				t.Errorf("not strict: %v", err)
			}
		})
	}
}

// Calls that can never work say so, name the field, and break nothing.
func TestMisuse(t *testing.T) {
	var b byte
	var i int
	var u uint64
	var f float64
	var f32 float32
	var a det.Angle
	var v2 det.Vec2
	var v3 det.Vec3
	var q det.Quat
	var text string
	var raw []byte
	var list []int
	nan := math.NaN()
	tests := map[string]func(s *Sync){
		"int":              func(s *Sync) { s.Int(&i, 1, 0) },
		"uint8":            func(s *Sync) { s.Uint8(&b, 1, 0) },
		"uint64":           func(s *Sync) { s.Uint64(&u, 1, 0) },
		"enum of none":     func(s *Sync) { Enum(s, &i, 0) },
		"float backwards":  func(s *Sync) { s.Float(&f, 1, 0, 0.1) },
		"float resolution": func(s *Sync) { s.Float(&f, 0, 1, 0) },
		"float negative":   func(s *Sync) { s.Float(&f, 0, 1, -0.1) },
		"float too fine":   func(s *Sync) { s.Float(&f, 0, 1, 1e-10) },
		"float infinite":   func(s *Sync) { s.Float(&f, 0, math.Inf(1), 1) },
		"float nan":        func(s *Sync) { s.Float(&f, nan, 1, 1) },
		"float nan 2":      func(s *Sync) { s.Float(&f, 0, nan, 1) },
		"float nan 3":      func(s *Sync) { s.Float(&f, 0, 1, nan) },
		"float coarse":     func(s *Sync) { s.Float(&f, 0, 1, math.Inf(1)) },
		"float32 too fine": func(s *Sync) { s.Float32(&f32, 0, 1, 1e-7) },
		"small exponent":   func(s *Sync) { s.SmallFloat(&f, 1, 5) },
		"small mantissa":   func(s *Sync) { s.SmallFloat(&f, 5, 24) },
		"angle":            func(s *Sync) { s.Angle(&a, 32) },
		"angle of no bits": func(s *Sync) { s.Angle(&a, 0) },
		"vec2":             func(s *Sync) { s.Vec2(&v2, 1, 0, 1) },
		"vec2 in":          func(s *Sync) { s.Vec2In(&v2, det.Vec2{Y: 1}, det.Vec2{}, 1) },
		"vec3":             func(s *Sync) { s.Vec3(&v3, 1, 0, 1) },
		"vec3 in":          func(s *Sync) { s.Vec3In(&v3, det.Vec3{Z: 1}, det.Vec3{}, 1) },
		"direction":        func(s *Sync) { s.Direction(&v3, 17) },
		"quat":             func(s *Sync) { s.Quat(&q, 1) },
		"string":           func(s *Sync) { s.String(&text, -1) },
		"bytes":            func(s *Sync) { s.Bytes(&raw, MaxLimit+1) },
		"slice": func(s *Sync) {
			Slice(s, &list, -1, func(p *int, s *Sync) { s.Int(p, 0, 1) })
		},
	}
	for name, call := range tests {
		t.Run(name, func(t *testing.T) {
			var s Sync
			var w Writer
			var r Reader
			w.Reset(make([]byte, 100))
			r.Reset(make([]byte, 100))
			for _, start := range []func(){
				func() { s.StartWrite(&w) }, func() { s.StartRead(&r) }, s.StartQuantise} {
				start()
				call(&s)
				if !errors.Is(s.Err(), ErrUse) {
					t.Errorf("error %v", s.Err())
				}
			}
		})
	}
	var s Sync
	if s.Int(&i, 0, 1); !errors.Is(s.Err(), ErrUse) {
		t.Error("a Sync that was not started works")
	}
	s = Sync{}
	if s.Vec2(&v2, 0, 1, 1); !errors.Is(s.Err(), ErrUse) {
		t.Error("a Sync that was not started works")
	}
}

// Nothing is allocated in the steady state, strings and slices included as long as they do not
// change.
func TestNoAllocations(t *testing.T) {
	l := everythingLayout
	v := &everything{
		Plain: 50, Name: "somebody", Blob: []byte{1, 2, 3}, Parts: []part{
			{Hot: true, Label: "gun"}, {Kind: 2}}, Burning: true}
	into := new(everything)
	image := make([]int32, l.Len())
	var s Sync
	var w Writer
	var r Reader
	var coder stream
	buf, coded := make([]byte, 1024), make([]byte, 1024)
	all := func() {
		w.Reset(buf)
		s.StartWrite(&w)
		v.Sync(&s)
		r.Reset(w.Bytes())
		s.StartRead(&r)
		into.Sync(&s)
		coder.w.Reset(coded)
		s.StartEncode(&coder)
		v.Sync(&s)
		coder.r.Reset(coder.w.Bytes())
		s.StartDecode(&coder)
		into.Sync(&s)
		if err := errors.Join(s.Err(), l.Pack(&s, v, image), l.QuantiseInto(&s, v, image),
			l.Unpack(&s, into, image), l.Quantise(&s, v)); err != nil {
			t.Fatal(err)
		}
	}
	if n := testing.AllocsPerRun(100, all); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

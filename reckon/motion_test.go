package reckon

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/codec"
	"github.com/coeval-dev/coeval/det"
)

// bodyFields are those of a body in space, with ranges that nothing in the tests leaves unless it
// means to.
func bodyFields() []codec.Field {
	return []codec.Field{
		{Name: "x", Min: -1 << 24, Max: 1 << 24, Kind: codec.Position, Rate: 2},
		{Name: "z", Min: -1 << 24, Max: 1 << 24, Kind: codec.Position, Rate: 3},
		{Name: "vx", Min: -1 << 14, Max: 1 << 14, Kind: codec.Velocity, Rate: -1},
		{Name: "vz", Min: -1 << 14, Max: 1 << 14, Kind: codec.Velocity, Rate: -1},
		{Name: "yaw", Min: -512, Max: 511, Kind: codec.Angle, Rate: -1},
		{Name: "state", Min: 0, Max: 7, Rate: -1},
	}
}

func motion(t testing.TB, fields []codec.Field, o Options) *Motion {
	t.Helper()
	m, err := New(fields, o)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func drawRatio(t *rapid.T, name string, most int32) Ratio {
	return Ratio{
		rapid.Int32Range(-most, most).Draw(t, name), rapid.Int32Range(1, 60).Draw(t, name+" over")}
}

// A shell is stepped as games are: in floats, quantised by its own Sync method after each tick.
type shell struct {
	x, v float64
}

const (
	shellStep  = 1.0 / 32 // of positions
	shellSpeed = 1.0 / 16 // of velocities, a second
	// ticks a second; a power of two, so that the floats of the test are exact
	shellRate = 64
)

func (s *shell) Sync(b *bits.Sync) {
	b.Float(&s.x, -4096, 4096, shellStep)
	b.Float(&s.v, -512, 512, shellSpeed)
}

// What is reckoned is what a game computes, to the last unit, for each scheme and whatever is lost
// to rounding in each tick.
func TestReckonsWhatTheGameSteps(t *testing.T) {
	layout := bits.MustLayout((*shell)(nil))
	slots := layout.Schema().Slots
	var fields []codec.Field
	for _, s := range slots {
		fields = append(fields,
			codec.Field{Name: s.Name, Min: s.Min, Max: s.Max, Kind: codec.Number, Rate: -1})
	}
	rapid.Check(t, func(t *rapid.T) {
		scheme := rapid.SampledFrom([]Scheme{VelocityFirst, PositionFirst, Parabola}).Draw(t,
			"scheme")
		accel := rapid.Int32Range(-40, 40).Draw(t, "quarters of a unit of velocity a tick")
		ticks := rapid.Int32Range(0, DefaultHorizon).Draw(t, "ticks")
		m, err := New(fields, Options{Scheme: scheme, Axes: []Axis{{
			Name: "x", Velocity: "v", Unit: Ratio{2, shellRate}, Accel: Ratio{accel, 4},
		}}})
		if err != nil {
			t.Fatal(err)
		}
		s := shell{x: rapid.Float64Range(-4096, 4096).Draw(t, "x"),
			v: rapid.Float64Range(-512, 512).Draw(t, "v")}
		var sync bits.Sync
		first, last, got := make([]int32, 2), make([]int32, 2), make([]int32, 2)
		if err := layout.QuantiseInto(&sync, &s, first); err != nil {
			t.Fatal(err)
		}
		copy(last, first)
		dv := float64(accel) / 4 * shellSpeed
		for range ticks {
			switch scheme {
			case VelocityFirst:
				s.v += dv
				s.x += s.v / shellRate
			case PositionFirst:
				s.x += s.v / shellRate
				s.v += dv
			case Parabola:
				s.x += (s.v + dv/2) / shellRate
				s.v += dv
			}
			if err := layout.QuantiseInto(&sync, &s, last); err != nil {
				t.Fatal(err)
			}
		}
		if m.After(first, ticks, got); !slices.Equal(got, last) {
			t.Fatalf("%v after %d ticks is %v, reckoned %v", first, ticks, last, got)
		}
	})
}

// With precision kept between ticks, a constant acceleration is a parabola, found exactly from a
// velocity and from places alone.
func TestConstantAccelerationIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		fields := bodyFields()
		x, v, a := rapid.Int32Range(-9999, 9999).Draw(t, "x"),
			rapid.Int32Range(-999, 999).Draw(t, "v"), rapid.Int32Range(-20, 20).Draw(t, "a")
		base := rapid.Int32Range(0, 40).Draw(t, "age")
		gap := [2]int32{
			rapid.Int32Range(1, 40).Draw(t, "gap"), rapid.Int32Range(1, 40).Draw(t, "next gap")}
		image := func(tick int32) []int32 { // accelerations of 2a are whole at every tick
			return []int32{x + v*tick + a*tick*tick, 0, v + 2*a*tick, 0, 0, 0}
		}
		var h codec.History
		h.Add(image(0), base)
		h.Add(image(-gap[0]), base+gap[0])
		h.Add(image(-gap[0]-gap[1]), base+gap[0]+gap[1])
		want := image(base)
		for name, axis := range map[string]Axis{
			"velocity and acceleration":       {Name: "x", Velocity: "vx", Accel: Ratio{2 * a, 1}},
			"velocity, watched":               {Name: "x", Velocity: "vx", Order: Second},
			"two places and the acceleration": {Name: "x", Accel: Ratio{2 * a, 1}},
			"three places":                    {Name: "x", Order: Second},
		} {
			for _, once := range []bool{true, false} {
				m, err := New(fields, Options{Axes: []Axis{axis}, Scheme: Parabola, Once: once})
				if err != nil {
					t.Fatal(err)
				}
				now := make([]int32, len(fields))
				m.Now(&h, now)
				if now[0] != want[0] || axis.Velocity != "" && now[2] != want[2] {
					t.Fatalf("%s: reckoned %v instead of %v", name, now, want)
				}
			}
		}
	})
}

// Rounding once leaves at most half a unit, however long the way and odd the unit.
func TestConstantVelocityIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		unit := drawRatio(t, "unit", 100)
		if unit.Num == 0 {
			unit.Num = 1
		}
		m, err := New(bodyFields(),
			Options{Once: true, Horizon: MaxHorizon,
				Axes: []Axis{{Name: "x", Velocity: "vx", Unit: unit}}})
		if err != nil {
			t.Fatal(err)
		}
		image := []int32{
			rapid.Int32Range(-999, 999).Draw(t, "x"), 0, rapid.Int32Range(-600, 600).Draw(t, "v"),
			0, 0, 0}
		ticks := rapid.Int32Range(0, MaxHorizon).Draw(t, "ticks")
		now := make([]int32, len(image))
		m.After(image, ticks, now)
		off := int64(now[0]-image[0])*int64(unit.Den) - int64(image[2])*int64(ticks)*int64(unit.Num)
		if 2*max(off, -off) > int64(unit.Den) {
			t.Fatalf("%v after %d ticks of %v: %v", image, ticks, unit, now)
		}
		now[0] = image[0]
		if !slices.Equal(now, image) {
			t.Fatalf("changed what it does not know: %v to %v", image, now)
		}
	})
}

// A turning thing passes the end of the circle like any other place.
func TestAnglesWrap(t *testing.T) {
	m := motion(t, bodyFields(), Options{Axes: []Axis{{Name: "yaw"}}})
	sent := motion(t, bodyFields(), Options{Axes: []Axis{{Name: "yaw", Velocity: "vx"}}})
	rapid.Check(t, func(t *rapid.T) {
		start, rate := rapid.Int32Range(-512, 511).Draw(t, "start"),
			rapid.Int32Range(-100, 100).Draw(t, "rate")
		gap, age := rapid.Int32Range(1, 5).Draw(t, "gap"),
			rapid.Int32Range(0, DefaultHorizon).Draw(t, "age")
		image := func(tick int32) []int32 {
			return []int32{0, 0, rate, 0, (start + rate*tick) << 22 >> 22, 0}
		}
		var h codec.History
		h.Add(image(0), age)
		h.Add(image(-gap), age+gap)
		now := make([]int32, 6)
		if sent.Now(&h, now); !slices.Equal(now, image(age)) {
			t.Fatalf("with a rate: %v instead of %v", now, image(age))
		}
		if rate*gap >= 512 || rate*gap < -512 {
			return // more than half a turn between images looks like less in the other direction
		}
		if m.Now(&h, now); !slices.Equal(now, image(age)) {
			t.Fatalf("without a rate: %v instead of %v", now, image(age))
		}
	})
}

// drawMotion makes up options of any kind, for fields with ranges of any size.
func drawMotion(t *rapid.T) ([]codec.Field, *Motion) {
	fields := bodyFields()
	for i := range fields {
		lo := rapid.Int32().Draw(t, "a bound")
		hi := rapid.Int32().Draw(t, "another")
		fields[i].Min, fields[i].Max = min(lo, hi), max(lo, hi)
	}
	axis := func(name, velocity string) Axis {
		a := Axis{Name: name, Velocity: velocity,
			Order: Order(rapid.IntRange(0, 1).Draw(t, "order"))}
		if velocity != "" {
			a.Unit = Ratio{
				rapid.Int32Range(1, MaxTerm).Draw(t, "unit"),
				rapid.Int32Range(1, MaxTerm).Draw(t, "over")}
		}
		if a.Order == First {
			a.Accel = Ratio{
				rapid.Int32Range(-MaxTerm, MaxTerm).Draw(t, "acceleration"),
				rapid.Int32Range(1, MaxTerm).Draw(t, "over")}
		} else if velocity == "vx" {
			fields[2].Max = min(fields[2].Max, fields[2].Min+maxWatchedSpan-1)
			if fields[2].Max < fields[2].Min { // it was near the end of the range
				fields[2].Max = fields[2].Min
			}
		}
		return a
	}
	m, err := New(fields, Options{
		Axes:    []Axis{axis("x", "vx"), axis("z", ""), axis("yaw", "")},
		Scheme:  Scheme(rapid.IntRange(0, 2).Draw(t, "scheme")),
		Once:    rapid.Bool().Draw(t, "once"),
		Horizon: rapid.Int32Range(1, MaxHorizon).Draw(t, "horizon"),
	})
	if err != nil {
		t.Fatal(err)
	}
	return fields, m
}

// Whatever the images and ages, the result is within the ranges, the same each time, and nothing
// overflows: at the extremes a thing that moves upward does not end up below.
func TestStaysInRange(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		fields, m := drawMotion(t)
		var h codec.History
		age := rapid.Int32Range(-5, 300).Draw(t, "age")
		for range rapid.IntRange(1, codec.Depth).Draw(t, "images") {
			image := make([]int32, len(fields))
			for i, f := range fields {
				image[i] = rapid.Int32Range(f.Min, f.Max).Draw(t, f.Name)
			}
			h.Add(image, age)
			age += rapid.Int32Range(1, 300).Draw(t, "gap")
		}
		now, again := make([]int32, len(fields)), make([]int32, len(fields))
		m.Now(&h, now)
		m.Now(&h, again)
		if !slices.Equal(now, again) {
			t.Fatalf("%v, then %v", now, again)
		}
		for i, f := range fields {
			if now[i] < f.Min || now[i] > f.Max {
				t.Fatalf("%s is %d, beyond %d to %d", f.Name, now[i], f.Min, f.Max)
			}
		}
		if a := &m.axes[0]; a.accNum >= 0 && a.order == First && h.Images[0][2] >= 0 &&
			now[0] < h.Images[0][0] {
			t.Fatalf("moved down from %d to %d with velocity %d and acceleration %d",
				h.Images[0][0], now[0], h.Images[0][2], a.accNum)
		}
		if d := m.axes[1]; d.accNum == 0 && h.Len > 1 && h.Ages[1]-h.Ages[0] <= maxGap &&
			h.Images[0][1] >= h.Images[1][1] && d.order == First && now[1] < h.Images[0][1] {
			t.Fatalf("rose from %d to %d and was carried on to %d", h.Images[1][1], h.Images[0][1],
				now[1])
		}
	})
}

func TestBoundsAndHorizon(t *testing.T) {
	fields := bodyFields()
	m := motion(t, fields, Options{Horizon: 10, Axes: []Axis{
		{Name: "z", Velocity: "vz", Accel: Ratio{Num: -2}, Low: 5, High: 1000},
		{Name: "x", Velocity: "vx"},
	}})
	now := make([]int32, len(fields))
	m.After([]int32{0, 100, 3, 0, 0, 0}, 10, now)
	if want := []int32{30, 5, 3, -20, 0, 0}; !slices.Equal(now, want) {
		t.Errorf("%v instead of %v: it should lie on the floor", now, want)
	}
	m.After([]int32{0, 100, 3, 0, 0, 0}, 5000, now)
	if now[0] != 30 {
		t.Errorf("at %d: it should have stopped at the horizon", now[0])
	}
	var h codec.History
	h.Add([]int32{0, 0, 0, 0, 100, 0}, 50)
	h.Add([]int32{0, 0, 0, 0, 0, 0}, 51+maxGap)
	motion(t, fields, Options{Axes: []Axis{{Name: "yaw"}}}).Now(&h, now)
	if now[4] != 100 {
		t.Errorf("yaw %d: an image from long ago should tell nothing", now[4])
	}
	before := slices.Clone(now)
	m.Now(&codec.History{}, now)
	m.After([]int32{1, 2}, 3, now)
	if !slices.Equal(now, before) {
		t.Errorf("changed to %v by images that are not of the class", now)
	}
}

func TestNewRefusesNonsense(t *testing.T) {
	fields := append(bodyFields(),
		codec.Field{Name: "wide", Min: -1 << 30, Max: 1 << 30, Kind: codec.Velocity},
		codec.Field{Name: "turn", Max: 3, Kind: codec.Quaternion},
		codec.Field{Name: "twin"}, codec.Field{Name: "twin"})
	for _, c := range []struct {
		want string
		o    Options
	}{
		{"no field", Options{Axes: []Axis{{Name: "y"}}}},
		{"no field", Options{Axes: []Axis{{Name: "x", Velocity: "vy"}}}},
		{"two fields", Options{Axes: []Axis{{Name: "twin"}}}},
		{"twice", Options{Axes: []Axis{{Name: "x"}, {Name: "x"}}}},
		{"twice", Options{Axes: []Axis{{Name: "x", Velocity: "vx"}, {Name: "z", Velocity: "vx"}}}},
		{"rotation", Options{Axes: []Axis{{Name: "turn"}}}},
		{"too wide", Options{Axes: []Axis{{Name: "x", Velocity: "wide", Order: Second}}}},
		{"given and watched",
			Options{Axes: []Axis{{Name: "x", Order: Second, Accel: Ratio{Num: 1}}}}},
		{"no velocity", Options{Axes: []Axis{{Name: "x", Unit: Ratio{1, 60}}}}},
		{"unit is zero", Options{Axes: []Axis{{Name: "x", Velocity: "vx", Unit: Ratio{0, 60}}}}},
		{"ratio", Options{Axes: []Axis{{Name: "x", Velocity: "vx", Unit: Ratio{1, -1}}}}},
		{"ratio", Options{Axes: []Axis{{Name: "x", Accel: Ratio{MaxTerm + 1, 1}}}}},
		{"low and high", Options{Axes: []Axis{{Name: "x", Low: 5, High: 1}}}},
		{"low and high", Options{Axes: []Axis{{Name: "yaw", Low: 1, High: 5}}}},
		{"unknown order", Options{Axes: []Axis{{Name: "x", Order: 9}}}},
		{"unknown scheme", Options{Scheme: 9}},
		{"horizon", Options{Horizon: MaxHorizon + 1}},
		{"horizon", Options{Horizon: -1}},
	} {
		if _, err := New(fields, c.o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: error %v, want one about %q", c.o, err, c.want)
		}
	}
}

// All of the package's arithmetic on many made-up numbers, as a hash that must be the same on every
// platform.
func TestReckoningIsTheSameEverywhere(t *testing.T) {
	fields := bodyFields()
	rng := uint64(1)
	draw := func(most int32) int32 {
		rng = rng*6364136223846793005 + 1442695040888963407
		return int32(rng>>33%uint64(2*most+1)) - most
	}
	sum := sha256.New()
	for i := range 2000 {
		m := motion(t, fields, Options{Scheme: Scheme(i % 3), Once: i%2 == 0, Axes: []Axis{
			{Name: "x", Velocity: "vx", Unit: Ratio{1 + i32(i%7), 30},
				Accel: Ratio{draw(50), 1 + i32(i%5)}},
			{Name: "z", Velocity: "vz", Unit: Ratio{1, 1 + i32(i%9)}, Order: Second},
			{Name: "yaw", Order: Order(i % 2)},
		}})
		var h codec.History
		age := 1 + i32(i%20)
		for range 1 + i%codec.Depth {
			h.Add([]int32{draw(1 << 23), draw(1 << 23), draw(1 << 13), draw(1 << 13), draw(511), 3},
				age)
			age += 1 + i32(i%4)
		}
		now := make([]int32, len(fields))
		m.Now(&h, now)
		for _, v := range now {
			binary.Write(sum, binary.LittleEndian, v)
		}
		c := Converge{
			By: Way(i % 4), Ticks: 1 + i32(i%30), Limit: det.FixedInt(1 << 24),
			Turn: det.Fixed(i%2) * det.FixedInt(1024)}
		var b Blend
		for range 8 {
			b.Correct(&c,
				State{VecInt(draw(9999), draw(9999), draw(9999)),
					VecInt(draw(9), draw(9), draw(9))}, State{})
			for range 1 + i%11 {
				b.Tick(&c)
			}
			binary.Write(sum, binary.LittleEndian, b.Offset(&c))
		}
	}
	const want = "c929a633d7c2760b"
	if got := hex.EncodeToString(sum.Sum(nil)[:8]); got != want {
		t.Errorf("hash %s, not %s", got, want)
	}
}

func i32(i int) int32 { return int32(i) }

package det

import (
	"math"
	"testing"
)

var (
	// with a sign and a payload that must not survive
	nan  = math.Float64frombits(0xFFF8000000000123)
	inf  = math.Inf(1)
	zero = math.Copysign(0, -1)
)

// same compares bits: the sign of zero and the one NaN count.
func same(t *testing.T, name string, got, want float64) {
	t.Helper()
	if math.IsNaN(want) {
		want = NaN()
	}
	if math.Float64bits(got) != math.Float64bits(want) {
		t.Errorf("%s is %v (%#x), not %v", name, got, math.Float64bits(got), want)
	}
}

func TestSpecialsOfOne(t *testing.T) {
	const tiny = 5e-324
	for _, c := range []struct {
		name string
		fn   func(float64) float64
		xs   map[float64]float64
	}{
		{"Sin", Sin, map[float64]float64{0: 0, tiny: tiny, -tiny: -tiny}},
		{"Cos", Cos, map[float64]float64{0: 1, tiny: 1}},
		{"Tan", Tan, map[float64]float64{0: 0, tiny: tiny}},
		{"Asin", Asin,
			map[float64]float64{0: 0, 1: Pi / 2, -1: -Pi / 2, tiny: tiny, 1.0000000000000002: nan}},
		{"Acos", Acos, map[float64]float64{0: Pi / 2, 1: 0, -1: Pi, -1.0000000000000002: nan}},
		{"Atan", Atan,
			map[float64]float64{0: 0, inf: Pi / 2, -inf: -Pi / 2, tiny: tiny, 1: Pi / 4}},
		{"Sqrt", Sqrt,
			map[float64]float64{0: 0, -1: nan, inf: inf, -inf: nan, 4: 2, tiny: 0x1p-537}},
		{"Exp", Exp,
			map[float64]float64{
				0: 1, inf: inf, -inf: 0, 710: inf, -746: 0, tiny: 1, -745.13: tiny,
				math.MaxFloat64: inf}},
		{"Log", Log, map[float64]float64{0: -inf, 1: 0, inf: inf, -1: nan, -tiny: nan, -inf: nan}},
		{"Floor", Floor, map[float64]float64{-0.5: -1, 1.5: 1, inf: inf, tiny: 0}},
		{"Ceil", Ceil, map[float64]float64{-0.5: zero, 1.5: 2, -inf: -inf, tiny: 1}},
		{"Trunc", Trunc, map[float64]float64{-0.5: zero, 1.5: 1}},
		{"Round", Round, map[float64]float64{-0.5: -1, 0.5: 1, 2.5: 3, 0.49999999999999994: 0}},
		{"Abs", Abs, map[float64]float64{-2: 2, -inf: inf}},
		{"Canon", Canon, map[float64]float64{-2: -2}},
	} {
		same(t, c.name+"(NaN)", c.fn(nan), nan)
		for x, want := range c.xs {
			same(t, c.name, c.fn(x), want)
		}
	}
	for _, fn := range []func(float64) float64{
		Sin, Tan, Asin, Atan, Sqrt, Floor, Ceil, Trunc, Round} {
		same(t, "an odd function of -0", fn(zero), zero)
	}
	for _, fn := range []func(float64) float64{Sin, Cos, Tan, Asin, Acos} {
		same(t, "a function of infinity", fn(inf), nan)
		same(t, "a function of minus infinity", fn(-inf), nan)
	}
	same(t, "Log(-0)", Log(zero), -inf)
	s, c := Sincos(zero)
	same(t, "sine of Sincos(-0)", s, zero)
	same(t, "cosine of Sincos(-0)", c, 1)
	s, c = Sincos(inf)
	same(t, "sine of Sincos(Inf)", s, nan)
	same(t, "cosine of Sincos(Inf)", c, nan)
}

// The functions of two arguments agree with the standard library in all special cases, where no
// rounding is involved.
func TestSpecialsOfTwo(t *testing.T) {
	points := []float64{
		0, zero, 1, -1, 2, -2, 3, -3, 0.5, -0.5, 1 << 53, -1 << 53, 1<<53 + 2, 1e300, -1e300,
		5e-324, -5e-324, inf, -inf, nan}
	for _, c := range []struct {
		name     string
		fn, want func(x, y float64) float64
	}{
		{"Atan2", Atan2, math.Atan2}, {"Pow", Pow, math.Pow}, {"Hypot", Hypot, math.Hypot}, {
			"Mod", Mod, math.Mod},
	} {
		for _, x := range points {
			for _, y := range points {
				got, want := c.fn(x, y), c.want(x, y)
				if c.name == "Atan2" { // whose sign the library loses where the quotient underflows
					want = math.Copysign(want, x)
				}
				if math.IsNaN(want) != math.IsNaN(got) || math.Signbit(got) != math.Signbit(want) &&
					!math.IsNaN(want) ||
					math.Abs(got-want) > math.Abs(want)*1e-15 || math.IsInf(want, 0) &&
					got != want {
					t.Errorf("%s(%v, %v) is %v, not %v", c.name, x, y, got, want)
				}
				if math.IsNaN(got) {
					same(t, c.name, got, nan)
				}
			}
		}
	}
}

func TestSincosIsSinAndCos(t *testing.T) {
	for _, x := range samples(20000, 50, -math.MaxFloat64, math.MaxFloat64, math.Pi/2) {
		s, c := Sincos(x)
		same(t, "sine", s, Sin(x))
		same(t, "cosine", c, Cos(x))
	}
}

// A remainder is exact, so both must be alike to the last bit.
func TestModIsExact(t *testing.T) {
	xs := samples(20000, 51, -math.MaxFloat64, math.MaxFloat64, 1)
	ys := samples(20000, 52, -math.MaxFloat64, math.MaxFloat64, 1)
	for i, x := range xs {
		same(t, "Mod", Mod(x, ys[i]), math.Mod(x, ys[i]))
		same(t, "Mod of a multiple", Mod(x*8, x), math.Mod(x*8, x))
	}
}

func TestClampAndLerp(t *testing.T) {
	for _, c := range []struct{ x, want float64 }{
		{0, 1}, {1.5, 1.5}, {9, 2}, {nan, 1}, {inf, 2}, {-inf, 1}} {
		same(t, "Clamp", Clamp(c.x, 1, 2), c.want)
	}
	same(t, "Lerp", Lerp(3, 7, 0), 3)
	same(t, "Lerp", Lerp(3, 7, 1), 7)
	same(t, "Lerp", Lerp(3, 7, 0.25), 4)
}

func TestConversions(t *testing.T) {
	for _, c := range []struct {
		x   float64
		i8  int8
		i16 int16
		i32 int32
		i64 int64
		u8  uint8
		u16 uint16
		u32 uint32
		u64 uint64
	}{
		{nan, 0, 0, 0, 0, 0, 0, 0, 0},
		{inf, math.MaxInt8, math.MaxInt16, math.MaxInt32, math.MaxInt64, math.MaxUint8,
			math.MaxUint16, math.MaxUint32, math.MaxUint64},
		{-inf, math.MinInt8, math.MinInt16, math.MinInt32, math.MinInt64, 0, 0, 0, 0},
		{1.99, 1, 1, 1, 1, 1, 1, 1, 1},
		{-1.99, -1, -1, -1, -1, 0, 0, 0, 0},
		{-0.5, 0, 0, 0, 0, 0, 0, 0, 0},
		{200, 127, 200, 200, 200, 200, 200, 200, 200},
		{-129, -128, -129, -129, -129, 0, 0, 0, 0},
		{1 << 31, 127, math.MaxInt16, math.MaxInt32, 1 << 31, 255, math.MaxUint16, 1 << 31,
			1 << 31},
		{1 << 63, 127, math.MaxInt16, math.MaxInt32, math.MaxInt64, 255, math.MaxUint16,
			math.MaxUint32, 1 << 63},
		{1<<63 + 1<<11, 127, math.MaxInt16, math.MaxInt32, math.MaxInt64, 255, math.MaxUint16,
			math.MaxUint32, 1<<63 + 1<<11},
		{1 << 64, 127, math.MaxInt16, math.MaxInt32, math.MaxInt64, 255, math.MaxUint16,
			math.MaxUint32, math.MaxUint64},
		{-1 << 63, -128, math.MinInt16, math.MinInt32, math.MinInt64, 0, 0, 0, 0},
	} {
		if Int8(c.x) != c.i8 || Int16(c.x) != c.i16 || Int32(c.x) != c.i32 || Int64(c.x) != c.i64 ||
			Uint8(c.x) != c.u8 || Uint16(c.x) != c.u16 || Uint32(c.x) != c.u32 ||
			Uint64(c.x) != c.u64 {
			t.Errorf("%v becomes %d %d %d %d, %d %d %d %d", c.x, Int8(c.x), Int16(c.x), Int32(c.x),
				Int64(c.x),
				Uint8(c.x), Uint16(c.x), Uint32(c.x), Uint64(c.x))
		}
	}
}

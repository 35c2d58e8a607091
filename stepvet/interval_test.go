package stepvet

import (
	"go/token"
	"go/types"
	"math"
	"testing"

	"pgregory.net/rapid"
)

// Whatever two values are taken from two intervals, the result of an operator lies in the combined
// one.
func TestIntervalsHoldTheirResults(t *testing.T) {
	bound := rapid.OneOf(rapid.Float64Range(-10, 10), rapid.Float64Range(-1e300, 1e300),
		rapid.Map(rapid.IntRange(-1<<40, 1<<40), func(n int) float64 { return float64(n) }))
	draw := func(t *rapid.T, name string) (interval, float64) {
		a, b := bound.Draw(t, name), bound.Draw(t, name)
		i := interval{lo: math.Min(a, b), hi: math.Max(a, b)}
		return i, rapid.Float64Range(i.lo, i.hi).Draw(t, name+" value")
	}
	rapid.Check(t, func(t *rapid.T) {
		a, x := draw(t, "a")
		b, y := draw(t, "b")
		results := map[token.Token]float64{
			token.ADD: x + y, token.SUB: x - y, token.MUL: x * y, token.QUO: x / y}
		op := rapid.SampledFrom([]token.Token{token.ADD, token.SUB, token.MUL, token.QUO}).Draw(t,
			"operator")
		r := results[op]
		i := combine(op, a, b)
		if i != anything && !(i.lo <= r && r <= i.hi) {
			t.Fatalf("%v %v %v is %v, outside of %v", x, op, y, r, i)
		}
		if m := pick("min", a, b); !m.contains(min(x, y)) {
			t.Fatalf("min(%v, %v) is outside of %v", x, y, m)
		}
		if m := pick("max", a, b); !m.contains(max(x, y)) {
			t.Fatalf("max(%v, %v) is outside of %v", x, y, m)
		}
		if m := a.union(b); !m.contains(x) || !m.contains(y) {
			t.Fatalf("%v or %v is outside of %v", x, y, m)
		}
	})
}

// A value that fits must survive the conversion there and back, as a whole number.
func TestFittingValuesConvert(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.OneOf(rapid.Float64Range(-300, 300), rapid.Float64Range(-1e20, 1e20),
			rapid.Float64()).Draw(t, "x")
		i := interval{lo: x, hi: x}
		check := func(kind types.BasicKind, back float64) {
			lo, hi, ok := integerRange(types.Typ[kind])
			if !ok {
				t.Fatalf("%v is not an integer type", types.Typ[kind])
			}
			if i.fits(lo, hi) && back != math.Trunc(x) {
				t.Fatalf("%v fits %v, but comes back as %v", x, types.Typ[kind], back)
			}
			if !i.fits(lo, hi) && back == math.Trunc(x) && math.Abs(x) < 1<<53 {
				t.Fatalf("%v survives as %v, but is said not to fit", x, types.Typ[kind])
			}
		}
		check(types.Int8, float64(int8(clampTo(x, math.MinInt8, math.MaxInt8))))
		check(types.Uint8, float64(uint8(clampTo(x, 0, math.MaxUint8))))
		check(types.Int32, float64(int32(clampTo(x, math.MinInt32, math.MaxInt32))))
		check(types.Uint32, float64(uint32(clampTo(x, 0, math.MaxUint32))))
		check(types.Int64, float64(int64(clampTo(x, math.MinInt64, 1<<63-1024))))
	})
}

func clampTo(x, lo, hi float64) float64 { return math.Max(lo, math.Min(x, hi)) }

package det

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

var drawFixed = rapid.Custom(func(t *rapid.T) Fixed {
	return Fixed(rapid.OneOf(rapid.Int64(), rapid.Int64Range(-1<<34, 1<<34),
		rapid.SampledFrom([]int64{0, 1, -1, 1 << 32, math.MaxInt64, math.MinInt64})).Draw(t,
		"fixed"))
})

// saturated is the Fixed nearest to an exact integer number of steps.
func saturated(n *big.Int) Fixed {
	switch {
	case n.IsInt64():
		return Fixed(n.Int64())
	case n.Sign() < 0:
		return FixedMin
	}
	return FixedMax
}

// rounded is a/b to the nearest whole number, halves away from zero.
func rounded(a, b *big.Int) *big.Int {
	n := new(big.Int).Mul(new(big.Int).Abs(a), big.NewInt(2))
	d := new(big.Int).Abs(b)
	n.Add(n, d).Quo(n, new(big.Int).Mul(d, big.NewInt(2)))
	if a.Sign()*b.Sign() < 0 {
		n.Neg(n)
	}
	return n
}

func TestFixed(t *testing.T) {
	one := new(big.Int).Lsh(big.NewInt(1), 32)
	rapid.Check(t, func(t *rapid.T) {
		f, g := drawFixed.Draw(t, "f"), drawFixed.Draw(t, "g")
		a, b := big.NewInt(int64(f)), big.NewInt(int64(g))
		check := func(name string, got, want Fixed) {
			t.Helper()
			if got != want {
				t.Fatalf("%s of %d and %d is %d, not %d", name, f, g, got, want)
			}
		}
		check("sum", f.Add(g), saturated(new(big.Int).Add(a, b)))
		check("difference", f.Sub(g), saturated(new(big.Int).Sub(a, b)))
		check("negative", f.Neg(), saturated(new(big.Int).Neg(a)))
		check("size", f.Abs(), saturated(new(big.Int).Abs(a)))
		check("product", f.Mul(g), saturated(rounded(new(big.Int).Mul(a, b), one)))
		if g != 0 {
			check("quotient", f.Div(g), saturated(rounded(new(big.Int).Mul(a, one), b)))
		}
		if f > 0 {
			check("root", f.Sqrt(), saturated(new(big.Int).Sqrt(new(big.Int).Mul(a, one))))
		}
		check("whole and part", FixedInt(f.Floor()).Add(f.Frac()), f)
		if x := rapid.Float64Range(-1e6, 1e6).Draw(t,
			"x"); math.Abs(FixedOf(x).Float()-x) > 0x1p-33 {
			t.Fatalf("%v becomes %v", x, FixedOf(x).Float())
		}
	})
}

func TestFixedSpecials(t *testing.T) {
	for _, c := range []struct {
		name      string
		got, want Fixed
	}{
		{"1/0", FixedOne.Div(0), FixedMax},
		{"-1/0", FixedOne.Neg().Div(0), FixedMin},
		{"0/0", Fixed(0).Div(0), 0},
		{"root of -1", FixedOne.Neg().Sqrt(), 0},
		{"NaN", FixedOf(math.NaN()), 0},
		{"Inf", FixedOf(math.Inf(1)), FixedMax},
		{"-1e300", FixedOf(-1e300), FixedMin},
		{"2·3", FixedInt(2).Mul(FixedInt(3)), FixedInt(6)},
		{"root of 2", FixedInt(2).Sqrt(), 0x16A09E667},
	} {
		if c.got != c.want {
			t.Errorf("%s is %d, not %d", c.name, c.got, c.want)
		}
	}
	if FixedOf(2.5).Round() != 3 || FixedOf(-2.5).Round() != -2 ||
		FixedMax.Round() != math.MaxInt32 {
		t.Error("Round")
	}
}

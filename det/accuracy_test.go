package det

import (
	"math"
	"math/big"
	"testing"
)

// samples gives numbers of many kinds: any bits, any magnitude within bounds, and the neighbourhood
// of given points.
func samples(n int, seed uint64, lo, hi float64, near ...float64) []float64 {
	r := At(seed, 0, 0)
	xs := make([]float64, 0, n)
	for len(xs) < n {
		var x float64
		switch r.IntN(4) {
		case 0:
			x = math.Float64frombits(r.Uint64())
		case 1:
			x = r.Range(max(lo, -1e3), min(hi, 1e3))
		case 2:
			x = math.Ldexp(r.Range(-1, 1), r.IntN(60)-30)
		case 3:
			if len(near) == 0 {
				continue
			}
			p := near[r.IntN(len(near))] * float64(r.IntN(50)+1)
			x = p + math.Ldexp(r.Range(-1, 1), -r.IntN(60))
		}
		if x >= lo && x <= hi {
			xs = append(xs, x)
		}
	}
	return xs
}

// manyOrFew is how many numbers to try: with -short, as under the race detector, only some.
func manyOrFew() int {
	if testing.Short() {
		return 100
	}
	return 4000
}

func TestAccuracy(t *testing.T) {
	n := manyOrFew()
	all := math.MaxFloat64
	for _, f := range []struct {
		name  string
		fn    func(float64) float64
		ref   func(float64) *big.Float
		xs    []float64
		bound float64
	}{
		{"Sin", Sin, func(x float64) *big.Float { s, _ := refSincos(x); return s },
			samples(n, 1, -all, all, math.Pi/2, math.Pi/4), 0.6},
		{"Cos", Cos, func(x float64) *big.Float { _, c := refSincos(x); return c },
			samples(n, 2, -all, all, math.Pi/2, math.Pi/4), 0.6},
		{"Tan", Tan, func(x float64) *big.Float { s, c := refSincos(x); return s.Quo(s, c) },
			samples(n, 3, -all, all, math.Pi/2, math.Pi/4), 0.7},
		{"Exp", Exp, func(x float64) *big.Float { return refExp(num(x)) },
			samples(n, 4, -708, 709.7, math.Ln2, math.Ln2/2, 1e-9), 0.6},
		{"Exp subnormal", Exp, func(x float64) *big.Float { return refExp(num(x)) },
			samples(n/10, 5, -745.13, -708, -1), 1},
		{"Log", Log, refLog, samples(n, 6, 5e-324, all, 1, math.Sqrt2/2), 0.6},
		{"Atan", Atan, func(x float64) *big.Float { return refAtan2(num(x), num(1)) },
			samples(n, 7, -all, all, 1, 1.0/16, 1.0/8), 0.6},
		{"Asin", Asin, func(x float64) *big.Float {
			c := newBig(refPrec).Mul(num(x), num(x))
			return refAtan2(num(x), c.Sub(num(1), c).Sqrt(c))
		}, samples(n, 8, -1, 1, 1, 1.0/50, math.Sqrt2/2), 0.6},
		{"Acos", Acos, func(x float64) *big.Float {
			c := newBig(refPrec).Mul(num(x), num(x))
			return refAtan2(c.Sub(num(1), c).Sqrt(c), num(x))
		}, samples(n, 9, -1, 1, 1, 1.0/50, math.Sqrt2/2), 0.6},
	} {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			worst, at := 0.0, 0.0
			for _, x := range f.xs {
				if u := ulps(f.fn(x), f.ref(x)); u > worst {
					worst, at = u, x
				}
			}
			t.Logf("%s: at most %.3f ulp, at %v", f.name, worst, at)
			if worst > f.bound {
				t.Errorf("documented are %v ulp", f.bound)
			}
		})
	}
}

func TestAccuracyOfTwo(t *testing.T) {
	n := manyOrFew()
	all := math.MaxFloat64
	// pairs of independent numbers, and pairs of similar size
	pairs := func(seed uint64, lo, hi float64) (xs, ys []float64) {
		xs, ys = samples(n, seed, lo, hi, 1), samples(n, seed+1, lo, hi, 1)
		r := At(seed, 1, 1)
		for i := range xs {
			if i&1 == 0 {
				ys[i] = Clamp(xs[i]*r.Range(-3, 3), lo, hi)
			}
		}
		return xs, ys
	}
	for _, f := range []struct {
		name   string
		fn     func(x, y float64) float64
		ref    func(x, y float64) *big.Float
		lo, hi float64
		bound  float64
		small  float64 // where the result is subnormal
	}{
		{"Atan2", Atan2, func(y, x float64) *big.Float { return refAtan2(num(y), num(x)) }, -all,
			all, 0.6, 1},
		{"Hypot", Hypot, refHypot, -all, all, 0.6, 1},
		{"Pow", Pow, refPow, 5e-324, all, 0.7, 1},
	} {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			xs, ys := pairs(77, f.lo, f.hi)
			if f.name == "Pow" { // most powers of anything to anything do not exist
				r := At(5, 5, 5)
				for i := range xs {
					if xs[i] == 1 {
						xs[i] = 2
					}
					ys[i] = r.Range(-745, 709.7) / math.Log(xs[i])
				}
			}
			worst, wx, wy := 0.0, 0.0, 0.0
			for i, x := range xs {
				y := ys[i]
				got, want := f.fn(x, y), f.ref(x, y)
				u := ulps(got, want)
				if w, _ := want.Float64(); math.Abs(w) < 0x1p-1022 {
					u *= f.bound / f.small
				}
				if u > worst {
					worst, wx, wy = u, x, y
				}
			}
			t.Logf("%s: at most %.3f ulp, at %v, %v", f.name, worst, wx, wy)
			if worst > f.bound {
				t.Errorf("documented are %v ulp", f.bound)
			}
		})
	}
}

// The constants must be what their names say.
func TestConstants(t *testing.T) {
	check := func(name string, want *big.Float, bits int, parts ...float64) {
		t.Helper()
		sum := newBig(refPrec)
		for _, p := range parts {
			sum.Add(sum, num(p))
		}
		d := sum.Sub(sum, want)
		if d.Sign() != 0 && d.MantExp(nil) > want.MantExp(nil)-bits {
			t.Errorf("%s is off by %.3g", name, d)
		}
	}
	half := newBig(refPrec).Quo(refPi(), num(2))
	check("Pi", newBig(refPrec).Set(refPi()), 53, Pi)
	check("quarter", half, 106, quarter.hi, quarter.lo)
	check("quarter in three parts", half, 118, quarter1, quarter2, quarter3)
	check("ln2", refLn2(), 94, ln2a, ln2b)
	for i, a := range arcs {
		check("arc", refAtan2(num(float64(i)), num(8)), 105, a.hi, a.lo)
	}
	inv := newBig(1600).Quo(newBig(1600).SetInt64(2), refPi())
	for i, w := range twoOverPi {
		inv.SetMantExp(inv, 64)
		n, _ := inv.Int(nil)
		if n.Uint64() != w {
			t.Errorf("word %d of 2/Pi is %#x, not %#x", i, n, w)
		}
		inv.Sub(inv, newBig(1600).SetInt(n))
	}
}

// Arguments next to a multiple of a quarter turn, found by continued fractions: the nearest of all
// float64, and the nearest of those that are reduced the short way.
func TestHardestReduction(t *testing.T) {
	x := math.Ldexp(6381956970095103, 797)
	xs := []float64{x, -x, 0x1p1023, math.MaxFloat64, 1 << 20, 1<<20 - 1, 355, 103993, 1e22}
	for e := -47; e <= -30; e++ {
		xs = append(xs, math.Ldexp(6411027962775774, e))
	}
	for _, m := range []float64{
		5520028710995367, 7488622432972016, 7102869978037436, 5134276256060787} {
		xs = append(xs, math.Ldexp(m, -33))
	}
	for _, x := range xs {
		s, c := refSincos(x)
		if u := ulps(Sin(x), s); u > 0.6 {
			t.Errorf("Sin(%v) is off by %v ulp", x, u)
		}
		if u := ulps(Cos(x), c); u > 0.6 {
			t.Errorf("Cos(%v) is off by %v ulp", x, u)
		}
	}
}

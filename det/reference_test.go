package det

import (
	"math"
	"math/big"
	"sync"
)

// Slow, simple references with some 250 good bits, by series after halving the argument.

const refPrec = 320

func num(x float64) *big.Float { return newBig(refPrec).SetFloat64(x) }

func newBig(prec uint) *big.Float { return new(big.Float).SetPrec(prec) }

// small tells whether t no longer matters beside s.
func small(t, s *big.Float) bool {
	return t.Sign() == 0 || s.Sign() != 0 && t.MantExp(nil) < s.MantExp(nil)-int(s.Prec())
}

// refPi is Machin's formula, to enough bits to reduce any float64.
var refPi = sync.OnceValue(func() *big.Float {
	const prec = 1600
	atanInv := func(q int64) *big.Float {
		sum, t := newBig(prec), newBig(prec).Quo(newBig(prec).SetInt64(1), newBig(prec).SetInt64(q))
		q2 := newBig(prec).SetInt64(q * q)
		for n := int64(1); !small(t, sum); n += 2 {
			term := newBig(prec).Quo(t, newBig(prec).SetInt64(n))
			if n&2 == 0 {
				sum.Add(sum, term)
			} else {
				sum.Sub(sum, term)
			}
			t.Quo(t, q2)
		}
		return sum
	}
	a := newBig(prec).Mul(newBig(prec).SetInt64(16), atanInv(5))
	return a.Sub(a, newBig(prec).Mul(newBig(prec).SetInt64(4), atanInv(239)))
})

// series sums t_0 + t_1 + ..., where next makes t_i of t_(i-1).
func series(t *big.Float, next func(t *big.Float, i int64)) *big.Float {
	sum := newBig(refPrec).Set(t)
	for i := int64(1); ; i++ {
		next(t, i)
		if small(t, sum) {
			return sum
		}
		sum.Add(sum, t)
	}
}

func refSincos(x float64) (sin, cos *big.Float) {
	pi := refPi()
	half := newBig(pi.Prec()).Quo(pi, newBig(64).SetInt64(2))
	k, _ := newBig(pi.Prec()).Quo(newBig(pi.Prec()).SetFloat64(x), half).Int(nil)
	r := newBig(pi.Prec()).SetFloat64(x)
	r.Sub(r, newBig(pi.Prec()).Mul(half, newBig(pi.Prec()).SetInt(k)))
	y := newBig(refPrec).Set(r)
	y2 := newBig(refPrec).Mul(y, y)
	step := func(from int64) func(*big.Float, int64) {
		return func(t *big.Float, i int64) {
			t.Mul(t, y2).Neg(t).Quo(t, newBig(64).SetInt64((2*i-1+from)*(2*i+from)))
		}
	}
	s, c := newBig(refPrec).Set(y), num(1)
	if y.Sign() != 0 {
		s = series(s, step(1))
		c = series(num(1), step(0))
	}
	q := new(big.Int).And(k, big.NewInt(3)).Int64() // two's complement, as for negative k
	if q&1 != 0 {
		s, c = c, s.Neg(s)
	}
	if q&2 != 0 {
		s.Neg(s)
		c.Neg(c)
	}
	return s, c
}

func refExp(x *big.Float) *big.Float {
	const halvings = 20
	y := newBig(refPrec).SetMantExp(x, -halvings)
	s := series(num(1), func(t *big.Float, i int64) { t.Mul(t, y).Quo(t, newBig(64).SetInt64(i)) })
	for range halvings {
		s.Mul(s, s)
	}
	return s
}

var refLn2 = sync.OnceValue(func() *big.Float { return artanh2(num(1), num(3)) })

// artanh2 is 2·artanh(a/b).
func artanh2(a, b *big.Float) *big.Float {
	s := newBig(refPrec).Quo(a, b)
	if s.Sign() == 0 {
		return s
	}
	z := newBig(refPrec).Mul(s, s)
	p := newBig(refPrec).Set(s)
	sum := series(newBig(refPrec).Set(s), func(t *big.Float, i int64) {
		p.Mul(p, z)
		t.Quo(p, newBig(64).SetInt64(2*i+1))
	})
	return sum.Mul(sum, num(2))
}

func refLog(x float64) *big.Float {
	f, e := math.Frexp(x)
	if f < math.Sqrt2/2 {
		f, e = f*2, e-1
	}
	y := artanh2(newBig(refPrec).Sub(num(f), num(1)), newBig(refPrec).Add(num(f), num(1)))
	return y.Add(y, newBig(refPrec).Mul(refLn2(), num(float64(e))))
}

func refPow(x, y float64) *big.Float { return refExp(newBig(refPrec).Mul(refLog(x), num(y))) }

// refAtan2 is for points right of the y axis, or above or below.
func refAtan2(y, x *big.Float) *big.Float {
	t := newBig(refPrec)
	if x.Sign() == 0 {
		t.Quo(refPi(), num(2))
		if y.Sign() < 0 {
			t.Neg(t)
		}
		return t
	}
	t.Quo(y, x)
	const halvings = 8
	for range halvings {
		r := newBig(refPrec).Mul(t, t)
		r.Add(r, num(1)).Sqrt(r).Add(r, num(1))
		t.Quo(t, r)
	}
	if t.Sign() != 0 {
		z := newBig(refPrec).Mul(t, t)
		p := newBig(refPrec).Set(t)
		t = series(newBig(refPrec).Set(t), func(t *big.Float, i int64) {
			p.Mul(p, z).Neg(p)
			t.Quo(p, newBig(64).SetInt64(2*i+1))
		})
	}
	t.SetMantExp(t, halvings)
	if x.Sign() < 0 {
		pi := newBig(refPrec).Set(refPi())
		if y.Signbit() {
			pi.Neg(pi)
		}
		t.Add(t, pi)
	}
	return t
}

func refHypot(x, y float64) *big.Float {
	s := newBig(refPrec).Mul(num(x), num(x))
	s.Add(s, newBig(refPrec).Mul(num(y), num(y)))
	return s.Sqrt(s)
}

// ulps is how far got is from want, in units of the last place of want.
func ulps(got float64, want *big.Float) float64 {
	w, _ := want.Float64()
	if math.IsInf(w, 0) || w == 0 {
		if got == w {
			return 0
		}
		return math.Inf(1)
	}
	if math.IsNaN(got) || math.IsInf(got, 0) {
		return math.Inf(1)
	}
	e := max(want.MantExp(nil)-53, -1074)
	d := newBig(refPrec).Sub(num(got), want)
	f, _ := d.SetMantExp(d, -e).Float64()
	return math.Abs(f)
}

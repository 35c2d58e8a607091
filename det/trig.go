package det

import (
	"math"
	"math/bits"
)

// Sin is the sine of x radians, for any finite x, within 0.6 ulp. Sin(±0) is ±0; infinities and NaN
// give NaN.
func Sin(x float64) float64 {
	if Abs(x) < 0x1p-27 {
		return x // x³/6 is below half an ulp, and -0 stays
	}
	q, r := reduce(x)
	var y double
	if q&1 == 0 {
		y = sinOf(r)
	} else {
		y = cosOf(r)
	}
	if q&2 != 0 {
		y = y.neg()
	}
	return Canon(y.value())
}

// Cos is the cosine of x radians, for any finite x, within 0.6 ulp. Infinities and NaN give NaN.
func Cos(x float64) float64 {
	q, r := reduce(x)
	var y double
	if q&1 == 0 {
		y = cosOf(r)
	} else {
		y = sinOf(r)
	}
	if (q+1)&2 != 0 {
		y = y.neg()
	}
	return Canon(y.value())
}

// Sincos is Sin and Cos for the price of little more than one.
func Sincos(x float64) (sin, cos float64) {
	q, r := reduce(x)
	s, c := sinOf(r), cosOf(r)
	if q&1 != 0 {
		s, c = c, s
	}
	if q&2 != 0 {
		s = s.neg()
	}
	if (q+1)&2 != 0 {
		c = c.neg()
	}
	if Abs(x) < 0x1p-27 {
		return x, Canon(c.value())
	}
	return Canon(s.value()), Canon(c.value())
}

// Tan is the tangent of x radians, for any finite x, within 0.7 ulp. Tan(±0) is ±0; infinities and
// NaN give NaN. No float64 is an odd multiple of a quarter turn, so the result is always finite.
func Tan(x float64) float64 {
	if Abs(x) < 0x1p-27 {
		return x
	}
	q, r := reduce(x)
	s, c := sinOf(r), cosOf(r)
	if q&1 != 0 {
		s, c = c.neg(), s
	}
	return Canon(s.div(c).value())
}

// sinOf is the sine of |r| <= Pi/4: a Taylor polynomial, whose next term is below 2^-63 of the
// result. The cubic term is kept in two parts, the others are small enough beside r.
func sinOf(r double) double {
	x := r.hi
	z := float64(x * x)
	p := 1.0 / 355687428096000
	p = -1.0/1307674368000 + float64(z*p)
	p = 1.0/6227020800 + float64(z*p)
	p = -1.0/39916800 + float64(z*p)
	p = 1.0/362880 + float64(z*p)
	p = -1.0/5040 + float64(z*p)
	p = 1.0/120 + float64(z*p)
	z2 := productOf(x, x)
	// x³·(-1/6 + z·p), with the factor summed exactly.
	f := fastSum(-1.0/6, float64(z*p))
	f.lo += -0x1.5555555555555p-57 // what -1.0/6 lacks
	cube := z2.mul(double{x, 0}).mul(f)
	// The low part of r changes the sine by r.lo·cos r.
	low := r.lo - float64(r.lo*float64(z*0.5))
	s := fastSum(x, cube.hi)
	return fastSum(s.hi, s.lo+(cube.lo+low))
}

// cosOf is the cosine of |r| <= Pi/4, in the same way.
func cosOf(r double) double {
	x := r.hi
	z := float64(x * x)
	p := 1.0 / 20922789888000
	p = -1.0/87178291200 + float64(z*p)
	p = 1.0/479001600 + float64(z*p)
	p = -1.0/3628800 + float64(z*p)
	p = 1.0/40320 + float64(z*p)
	p = -1.0/720 + float64(z*p)
	p = 1.0/24 + float64(z*p)
	z2 := productOf(x, x)
	c := fastSum(1, float64(-0.5*z2.hi))
	// The low part of r changes the cosine by -r.lo·sin r.
	sin := float64(x * (1 - float64(z*(1.0/6))))
	low := float64(float64(z*z)*p) - float64(0.5*z2.lo) - float64(sin*r.lo)
	return fastSum(c.hi, c.lo+low)
}

// A quarter turn in three parts; a multiple below 2^20 of each of the first two is exact.
const (
	quarter1 = 0x1.921fb544p+0
	quarter2 = 0x1.0b4611a6p-34
	quarter3 = 0x1.3198a2e037073p-69
)

// quarter is Pi/2.
var quarter = double{0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54}

// reduce brings x to r with |r| <= Pi/4 (or a hair more) and x = q·Pi/2 + r, q modulo 4. Infinities
// and NaN give NaN.
func reduce(x float64) (q int, r double) {
	a := Abs(x)
	if a <= Pi/4 {
		return 0, double{x, 0}
	}
	if !(a < 0x1p20) {
		if a-a != 0 {
			return 0, double{NaN(), NaN()}
		}
		return reduceLarge(x)
	}
	// Cody and Waite's way.
	k := math.Floor(float64(x*(2/Pi)) + 0.5)
	y := x - float64(k*quarter1)
	p := float64(k * quarter2)
	w := sumOf(y, -p)
	if Abs(w.hi) < 0x1p-20 {
		return reduceLarge(x) // too much was lost by cancellation
	}
	r = fastSum(w.hi, w.lo-float64(k*quarter3))
	return int(int64(k)) & 3, r
}

// twoOverPi holds the first 1280 bits of 2/Pi, enough for the largest float64.
var twoOverPi = [20]uint64{
	0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041, 0xfe5163abdebbc561,
	0xb7246e3a424dd2e0,
	0x06492eea09d1921c, 0xfe1deb1cb129a73e, 0xe88235f52ebb4484, 0xe99c7026b45f7e41,
	0x3991d639835339f4,
	0x9c845f8bbdf9283b, 0x1ff897ffde05980f, 0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7,
	0x4f463f669e5fea2d,
	0x7527bac7ebe5f17b, 0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x56033046fc7b6bab,
	0xf0cfbc209af4361d,
}

// reduceLarge is Payne and Hanek's reduction, in integers: x·2/Pi modulo 4 needs only a window of
// the bits of 2/Pi, since the bits above it contribute multiples of 4.
func reduceLarge(x float64) (q int, r double) {
	b := math.Float64bits(x)
	m := b&(1<<52-1) | 1<<52
	e := int(b>>52&0x7FF) - 1075 // |x| = m·2^e
	// The window is 256 bits wide, and its product with m, modulo 2^256, has the value of q in its
	// two highest bits: bit j of 2/Pi (counted from 1) weighs 2^(e-j) in m's units, and the first
	// that counts is the one with weight 2.
	start := e - 2 // bits to skip; negative for zeros before the first
	var w [4]uint64
	for i := range w {
		w[i] = windowOfTwoOverPi(start + 64*i)
	}
	var carry uint64
	for i := 3; i >= 0; i-- {
		hi, lo := bits.Mul64(w[i], m)
		var c uint64
		w[i], c = bits.Add64(lo, carry, 0)
		carry = hi + c
	}
	q = int(w[0] >> 62)
	for i := range 3 {
		w[i] = w[i]<<2 | w[i+1]>>62
	}
	w[3] <<= 2
	// The fraction is now w/2^256. From one half on, count down from the next quarter.
	minus := w[0]>>63 != 0
	if minus {
		q++
		var c uint64 = 1
		for i := 3; i >= 0; i-- {
			w[i], c = bits.Add64(^w[i], 0, c)
		}
	}
	r = fraction(w).mul(quarter)
	if minus {
		r = r.neg()
	}
	if x < 0 {
		return -q & 3, r.neg()
	}
	return q & 3, r
}

// windowOfTwoOverPi is 64 bits of 2/Pi from bit start on, counted from 0.
func windowOfTwoOverPi(start int) uint64 {
	word := func(i int) uint64 {
		if i < 0 || i >= len(twoOverPi) {
			return 0
		}
		return twoOverPi[i]
	}
	i, s := start>>6, uint(start&63)
	return word(i)<<s | word(i+1)>>(64-s)
}

// fraction is w/2^256 to 106 bits.
func fraction(w [4]uint64) double {
	e := -64
	for w[0] == 0 && e > -256 {
		w = [4]uint64{w[1], w[2], w[3]}
		e -= 64
	}
	n := uint(bits.LeadingZeros64(w[0]))
	hi := w[0]<<n | w[1]>>(64-n)
	lo := w[1]<<n | w[2]>>(64-n)
	e -= int(n)
	// 53 bits, then the next 53.
	return fastSum(Ldexp(float64(hi>>11), e+11), Ldexp(float64(hi&0x7FF<<42|lo>>22), e-42))
}

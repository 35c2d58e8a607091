package det

import (
	"math"
	"math/bits"
)

// Pi is half a turn in radians.
const Pi = 3.14159265358979323846264338327950288419716939937510582097494459

// nanBits is the one NaN that this package returns. Processors disagree about the sign and the
// payload of the NaNs that they make.
const nanBits = 0x7FF8000000000000

// NaN is the one NaN that this package returns.
func NaN() float64 { return math.Float64frombits(nanBits) }

// Inf is positive infinity where sign is not negative, and negative infinity where it is.
func Inf(sign int) float64 { return math.Inf(sign) }

// IsNaN tells whether x is any NaN.
func IsNaN(x float64) bool { return x != x }

// Canon is x, with every NaN replaced by the same one. Use it on what is hashed or sent, if it was
// computed by plain operators: Inf-Inf is a NaN everywhere, but with other bits on amd64 than on
// arm64.
func Canon(x float64) float64 {
	if x != x {
		return NaN()
	}
	return x
}

// Abs is x without its sign.
func Abs(x float64) float64 { return Canon(math.Abs(x)) }

// Sqrt is the square root, correctly rounded. Sqrt(-0) is -0, Sqrt of a negative number NaN.
func Sqrt(x float64) float64 { return Canon(math.Sqrt(x)) }

// Floor is the largest whole number not above x. Infinities and zeros stay as they are.
func Floor(x float64) float64 { return Canon(math.Floor(x)) }

// Ceil is the smallest whole number not below x. Infinities and zeros stay as they are.
func Ceil(x float64) float64 { return Canon(math.Ceil(x)) }

// Trunc is x without its fraction. Infinities and zeros stay as they are.
func Trunc(x float64) float64 { return Canon(math.Trunc(x)) }

// Round is the nearest whole number, halves away from zero.
func Round(x float64) float64 { return Canon(math.Round(x)) }

// Frexp takes x apart into a fraction from 0.5 up to 1 and a power of two. Zeros, infinities and
// NaN have power 0.
func Frexp(x float64) (frac float64, exp int) {
	frac, exp = math.Frexp(x)
	return Canon(frac), exp
}

// Ldexp is frac times a power of two, rounded once where the result is too small for full
// precision.
func Ldexp(frac float64, exp int) float64 { return Canon(math.Ldexp(frac, exp)) }

// Clamp is x, brought between lo and hi. NaN becomes lo, so that the result is always in bounds.
func Clamp(x, lo, hi float64) float64 {
	if !(x > lo) {
		return lo
	}
	if x > hi {
		return hi
	}
	return x
}

// Lerp is the number at part t of the way from a to b: exactly a at 0 and exactly b at 1.
func Lerp(a, b, t float64) float64 { return float64(a*(1-t)) + float64(b*t) }

// Mod is the exact remainder of x/y with the sign of x. It is x where y is infinite, and NaN where
// x is infinite or y zero.
func Mod(x, y float64) float64 {
	a, b := Abs(x), Abs(y)
	switch {
	case !(a <= math.MaxFloat64) || b != b || b == 0:
		return NaN()
	case a < b:
		return x
	}
	// Long division in integers, as many bits at a time as fit.
	m, e := whole(a)
	n, f := whole(b)
	r := m % n
	for gap := e - f; gap > 0 && r != 0; {
		s := min(gap, bits.LeadingZeros64(r))
		r = r << s % n
		gap -= s
	}
	return math.Copysign(Ldexp(float64(r), f), x)
}

// whole takes a positive number apart into m·2^e with m below 2^53.
func whole(x float64) (m uint64, e int) {
	b := math.Float64bits(x)
	m, e = b&(1<<52-1), int(b>>52)
	if e == 0 {
		return m, -1074
	}
	return m | 1<<52, e - 1075
}

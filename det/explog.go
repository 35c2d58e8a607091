package det

import "math"

// ln2 in two parts; a multiple below 2^11 of the first is exact.
const (
	ln2a = 0x1.62e42fefa38p-1
	ln2b = 0x1.ef35793c7673p-45
)

// Exp is e to the power x, within 0.6 ulp (1 ulp where the result is subnormal). Exp(+Inf) is +Inf,
// Exp(-Inf) is 0; results too large are +Inf, results too small 0.
func Exp(x float64) float64 {
	if x != x {
		return NaN()
	}
	return exp(double{x, 0})
}

// exp is the exponential of x, for any x but NaN.
func exp(x double) float64 {
	if x.hi > 709.79 {
		return math.Inf(1)
	}
	if x.hi < -745.14 {
		return 0
	}
	k := math.Floor(float64(x.hi*(1/math.Ln2)) + 0.5)
	// r = x - k·ln2, at most ln2/2.
	r := sumOf(x.hi-float64(k*ln2a), -float64(k*ln2b))
	r = fastSum(r.hi, r.lo+x.lo)
	y := r.hi
	p := 1.0 / 6227020800
	p = 1.0/479001600 + float64(y*p)
	p = 1.0/39916800 + float64(y*p)
	p = 1.0/3628800 + float64(y*p)
	p = 1.0/362880 + float64(y*p)
	p = 1.0/40320 + float64(y*p)
	p = 1.0/5040 + float64(y*p)
	p = 1.0/720 + float64(y*p)
	p = 1.0/120 + float64(y*p)
	p = 1.0/24 + float64(y*p)
	p = 1.0/6 + float64(y*p)
	// 1 + y + y²/2 with its rounding errors, then the rest, and r.lo·e^r.
	z := productOf(y, y)
	s := fastSum(1, y)
	t := fastSum(s.hi, float64(0.5*z.hi))
	low := s.lo + (t.lo + float64(0.5*z.lo)) + float64(float64(z.hi*y)*p) + float64(r.lo*t.hi)
	return Ldexp(t.hi+low, int(k))
}

// Log is the natural logarithm, within 0.6 ulp. Log(+Inf) is +Inf, Log(±0) is -Inf, and the
// logarithm of a negative number NaN.
func Log(x float64) float64 {
	switch {
	case x != x || x < 0:
		return NaN()
	case x == 0:
		return math.Inf(-1)
	case x > math.MaxFloat64:
		return x
	}
	return log(x).value()
}

// log is the logarithm of a positive, finite x to about 2^-66 of its value.
func log(x float64) double {
	f, e := Frexp(x)
	if f < math.Sqrt2/2 {
		f = float64(2 * f)
		e--
	}
	// ln f = 2·artanh(s) = 2s + 2s³/3 + 2s⁵/5 + ... with s = (f-1)/(f+1), |s| < 0.172. The first
	// two terms take both parts of s.
	s := double{f - 1, 0}.div(sumOf(f, 1))
	z2 := s.mul(s)
	z := z2.hi
	p := 2.0 / 25
	p = 2.0/23 + float64(z*p)
	p = 2.0/21 + float64(z*p)
	p = 2.0/19 + float64(z*p)
	p = 2.0/17 + float64(z*p)
	p = 2.0/15 + float64(z*p)
	p = 2.0/13 + float64(z*p)
	p = 2.0/11 + float64(z*p)
	p = 2.0/9 + float64(z*p)
	p = 2.0/7 + float64(z*p)
	p = 2.0/5 + float64(z*p)
	q := fastSum(2.0/3, float64(z*p))
	q.lo += 0x1.5555555555555p-55 // what 2.0/3 lacks
	cube := s.mul(z2).mul(q)
	y := double{float64(2 * s.hi), float64(2 * s.lo)}.add(cube)
	k := float64(e)
	return double{float64(k * ln2a), float64(k * ln2b)}.add(y)
}

// Pow is x to the power y, within 0.7 ulp (1 ulp where the result is subnormal). The special cases
// are those of IEEE 754:
//
//	Pow(x, ±0) = Pow(1, y) = 1, even for NaN; otherwise a NaN gives NaN
//	Pow(±0, y) for y < 0 is an infinity, for y > 0 a zero; it has the sign of x where y is an odd whole number, else none
//	Pow(x, ±Inf) is 0, 1 or +Inf as |x| is below, at or above 1 in y's direction
//	Pow(±Inf, y) = Pow(±0, -y)
//	Pow(x, y) for x < 0 and finite y is NaN unless y is whole
func Pow(x, y float64) float64 {
	switch {
	case y == 0 || x == 1:
		return 1
	case x != x || y != y:
		return NaN()
	case Abs(y) > math.MaxFloat64:
		switch a := Abs(x); {
		case a == 1:
			return 1
		case a > 1 == (y > 0):
			return math.Inf(1)
		}
		return 0
	}
	sign := 1.0
	if math.Signbit(x) && oddWhole(y) {
		sign = -1
	}
	switch a := Abs(x); {
	case a == 0 && y < 0 || a > math.MaxFloat64 && y > 0:
		return float64(sign * math.Inf(1))
	case a == 0 || a > math.MaxFloat64:
		return float64(sign * 0)
	case x < 0 && y != math.Trunc(y):
		return NaN()
	case y == 1:
		return x
	case y == 2:
		return float64(x * x)
	case a == 1:
		return sign
	default:
		l := log(a)
		// Far from 1 the result is certain, and the exact product might overflow.
		switch v := float64(l.hi * y); {
		case v > 710:
			return float64(sign * math.Inf(1))
		case v < -746:
			return float64(sign * 0)
		case Abs(v) < 0x1p-60:
			return sign
		}
		return float64(sign * exp(l.mul(double{y, 0})))
	}
}

// oddWhole tells whether y is an odd whole number. Beyond 2^53 all are even.
func oddWhole(y float64) bool {
	if Abs(y) >= 1<<53 {
		return false
	}
	n := int64(y)
	return float64(n) == y && n&1 != 0
}

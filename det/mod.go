package det

import (
	"math"
	"math/bits"
)

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

package det

import (
	"math"
	"math/bits"
)

// Fixed is a number with 32 bits before the point, sign included, and 32 after it. Sums are exact
// and do not depend on their order, and the steps are as fine far from the origin as near it: for
// positions in large worlds and for totals. What does not fit stays at the nearest bound.
type Fixed int64

// The bounds of Fixed, and its unit.
const (
	FixedOne Fixed = 1 << 32
	FixedMax Fixed = math.MaxInt64
	FixedMin Fixed = math.MinInt64
)

// FixedInt makes a Fixed of a whole number.
func FixedInt(n int32) Fixed { return Fixed(n) << 32 }

// FixedOf is the Fixed nearest to x, halves away from zero. NaN becomes 0.
func FixedOf(x float64) Fixed { return Fixed(Int64(Round(float64(x * (1 << 32))))) }

// Float is the float64 nearest to f.
func (f Fixed) Float() float64 { return float64(float64(f) * (1.0 / (1 << 32))) }

// Floor is the largest whole number not above f, to find the cell of a grid.
func (f Fixed) Floor() int32 { return int32(f >> 32) }

// Round is the nearest whole number, halves upward, kept within int32.
func (f Fixed) Round() int32 { return f.Add(FixedOne / 2).Floor() }

// Frac is what f has above Floor, from 0 up to 1.
func (f Fixed) Frac() Fixed { return f & (FixedOne - 1) }

// Add is f+g.
func (f Fixed) Add(g Fixed) Fixed {
	s := f + g
	if (f^s)&(g^s) < 0 { // both have the sign that the sum lacks
		return boundOf(f < 0)
	}
	return s
}

// Sub is f-g.
func (f Fixed) Sub(g Fixed) Fixed {
	s := f - g
	if (f^g)&(f^s) < 0 {
		return boundOf(f < 0)
	}
	return s
}

// Neg is -f.
func (f Fixed) Neg() Fixed { return Fixed(0).Sub(f) }

// Abs is f without its sign.
func (f Fixed) Abs() Fixed {
	if f < 0 {
		return f.Neg()
	}
	return f
}

// Mul is f·g, rounded to the nearest step, halves away from zero.
func (f Fixed) Mul(g Fixed) Fixed {
	hi, lo := bits.Mul64(f.size(), g.size())
	lo, c := bits.Add64(lo, 1<<31, 0)
	hi += c
	minus := f < 0 != (g < 0)
	if hi>>31 != 0 {
		return boundOf(minus)
	}
	return signed(hi<<32|lo>>32, minus)
}

// Div is f/g, rounded to the nearest step, halves away from zero. Division by zero gives the bound
// on f's side, and 0/0 gives 0.
func (f Fixed) Div(g Fixed) Fixed {
	n, d := f.size(), g.size()
	minus := f < 0 != (g < 0)
	if d == 0 && n == 0 {
		return 0
	}
	hi, lo := n>>32, n<<32
	if hi >= d {
		return boundOf(minus)
	}
	q, r := bits.Div64(hi, lo, d)
	if r >= d-r {
		if q++; q == 0 {
			return boundOf(minus)
		}
	}
	return signed(q, minus)
}

// Sqrt is the root, rounded down to a step. The root of a negative number is 0.
func (f Fixed) Sqrt() Fixed {
	if f <= 0 {
		return 0
	}
	// The root of f·2^32, two bits a step.
	hi, lo := uint64(f)>>32, uint64(f)<<32
	var root, rest uint64
	for range 48 { // the 96 bits that can be set
		rest = rest<<2 | hi>>30&3
		hi = hi<<2&(1<<32-1) | lo>>62
		lo <<= 2
		try := root<<2 | 1
		root <<= 1
		if rest >= try {
			rest -= try
			root |= 1
		}
	}
	return Fixed(root)
}

// size is the distance from zero.
func (f Fixed) size() uint64 {
	if f < 0 {
		return -uint64(f)
	}
	return uint64(f)
}

func signed(n uint64, minus bool) Fixed {
	switch {
	case minus && n >= 1<<63:
		return FixedMin
	case minus:
		return -Fixed(n)
	case n >= 1<<63:
		return FixedMax
	}
	return Fixed(n)
}

func boundOf(minus bool) Fixed {
	if minus {
		return FixedMin
	}
	return FixedMax
}

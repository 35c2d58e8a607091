package bits

import (
	"math"
	"math/bits"
	"unsafe"
)

// Float syncs a float from min to max as the nearest multiple of res, so that zero is exact and so
// are the ends if they are multiples. The error is at most res/2 (to within a millionth of res).
// What is beyond the range is brought to the nearer end, and what is not a number to zero or the
// end nearest to it. There may be at most 2^31-1 multiples of res between zero and either end.
func (s *Sync) Float(p *float64, min, max, res float64) {
	inverse := 1 / res
	lo, hi := ends(min, max, inverse, maxSteps)
	if lo > hi {
		s.badRange(unsafe.Pointer(p), KindFloat, min, max, res)
		return
	}
	var k int32
	if s.mode < reading {
		x := *p
		if !(x >= min && x <= max) {
			x = s.bring(unsafe.Pointer(p), KindFloat, x, min, max)
		}
		k = int32(round(x * inverse))
		if s.mode == writing {
			if width := bits.Len32(uint32(hi - lo)); !s.w.quick(uint64(uint32(k-lo)), width) {
				s.w.WriteBits(uint64(uint32(k-lo)), width)
			}
			return
		}
	}
	k = s.number(unsafe.Pointer(p), KindFloat, k, lo, hi, math.Float64bits(res))
	if s.stores() {
		*p = multiple(k, min, max, res)
	}
}

// Float32 is Float for a float32. There the error is half a unit in the last place more, and there
// may be at most 2^22 multiples of res between zero and either end, since a float32 cannot tell
// more apart.
func (s *Sync) Float32(p *float32, min, max, res float32) {
	low, high := float64(min), float64(max)
	inverse := 1 / float64(res)
	lo, hi := ends(low, high, inverse, maxSteps32)
	if lo > hi {
		s.badRange(unsafe.Pointer(p), KindFloat, low, high, float64(res))
		return
	}
	var k int32
	if s.mode < reading {
		x := float64(*p)
		if !(x >= low && x <= high) {
			x = s.bring(unsafe.Pointer(p), KindFloat, x, low, high)
		}
		k = int32(round(x * inverse))
	}
	k = s.number(unsafe.Pointer(p), KindFloat, k, lo, hi, math.Float64bits(float64(res)))
	if s.stores() {
		*p = float32(multiple(k, low, high, float64(res)))
	}
}

// FullFloat syncs a float64 exactly, in 64 bits. Infinities become the largest finite numbers, and
// what is not a number becomes zero.
func (s *Sync) FullFloat(p *float64) {
	x := *p
	if !(x >= -math.MaxFloat64 && x <= math.MaxFloat64) {
		x = s.bring(unsafe.Pointer(p), KindFullFloat, x, -math.MaxFloat64, math.MaxFloat64)
	}
	const most = 0x7fefffffffffffff // the bits of the largest
	v := ordered(math.Float64bits(x))
	v = s.wide(unsafe.Pointer(p), KindFullFloat, v, ^uint64(most), 2*most+1)
	if s.stores() {
		*p = math.Float64frombits(ordered(v))
	}
}

// ordered makes the bits of floats grow with their value, as signed numbers, and back.
func ordered(b uint64) uint64 { return b ^ uint64(int64(b)>>63)>>1 }

// FullFloat32 syncs a float32 exactly, in 32 bits. Infinities become the largest finite numbers,
// and what is not a number becomes zero.
func (s *Sync) FullFloat32(p *float32) {
	x := *p
	if !(x >= -math.MaxFloat32 && x <= math.MaxFloat32) {
		x = float32(s.bring(unsafe.Pointer(p), KindFullFloat32, float64(x), -math.MaxFloat32,
			math.MaxFloat32))
	}
	const most = 0x7f7fffff
	b := math.Float32bits(x)
	k := int32(b ^ uint32(int32(b)>>31)>>1)
	k = s.number(unsafe.Pointer(p), KindFullFloat32, k, ^most, most, 0)
	if s.stores() {
		b = uint32(k)
		*p = math.Float32frombits(b ^ uint32(int32(b)>>31)>>1)
	}
}

// SmallFloat syncs a float in 1+exponent+mantissa bits: a sign, an exponent of 2 to 8 bits, a
// mantissa of 1 to 23. Above the smallest normal number, 2^(2-2^(exponent-1)), the error is at most
// the value's 2^(mantissa+1)th part; below it, at most that of the smallest normal number. No bits
// are spent on infinities: with 5 and 10 bits the range is that of ±131008. What is beyond,
// infinities too, becomes the largest number of its sign; what is not a number, and minus zero,
// become zero.
func (s *Sync) SmallFloat(p *float64, exponent, mantissa int) {
	if exponent < 2 || exponent > 8 || mantissa < 1 || mantissa > 23 {
		s.misuse(unsafe.Pointer(p), KindSmallFloat,
			"needs an exponent of 2 to 8 bits and a mantissa of 1 to 23")
		return
	}
	e, m := uint(exponent), uint(mantissa)
	most := int32(1)<<(e+m) - 1
	largest := smallValue(most, e, m)
	x := *p
	if !(x >= -largest && x <= largest) {
		x = s.bring(unsafe.Pointer(p), KindSmallFloat, x, -largest, largest)
	}
	k := s.number(unsafe.Pointer(p), KindSmallFloat, smallStep(x, e, m), -most, most, uint64(m))
	if s.stores() {
		*p = smallValue(k, e, m)
	}
}

// smallStep gives the number of a float of e and m bits that is nearest to x; consecutive floats
// have consecutive numbers, zero's is zero.
func smallStep(x float64, e, m uint) int32 {
	bias := uint64(1)<<(e-1) - 1
	a := math.Abs(x)
	b := math.Float64bits(a)
	var k uint64
	if b>>52 < 1023+1-bias { // below the smallest normal: evenly spaced
		k = uint64(round(a * math.Float64frombits((1023+bias-1+uint64(m))<<52)))
	} else {
		b -= (1023 - bias) << 52
		k = (b + 1<<(51-m)) >> (52 - m) // a carry goes where it should, into the exponent
	}
	k = min(k, 1<<(e+m)-1)
	if x < 0 {
		return -int32(k)
	}
	return int32(k)
}

func smallValue(k int32, e, m uint) float64 {
	bias := uint64(1)<<(e-1) - 1
	a := uint64(max(k, -k))
	var x float64
	if a>>m == 0 {
		x = float64(a) * math.Float64frombits((1023+1-bias-uint64(m))<<52)
	} else {
		x = math.Float64frombits(a<<(52-m) + (1023-bias)<<52)
	}
	if k < 0 {
		return -x
	}
	return x
}

// The multiples of a resolution within a range have numbers from lo to hi. Where an end of the
// range is no multiple, the multiple nearest to it stands for it, and has its value if it would
// otherwise lie outside.

const (
	maxSteps   = math.MaxInt32
	maxSteps32 = 1 << 22
)

// ends gives the numbers of the first and the last multiple, or a first above the last if the range
// cannot be. It is worked out at each call: that costs less than looking it up.
func ends(min, max, inverse, steps float64) (lo, hi int32) {
	first, last := float64(min*inverse), float64(max*inverse)
	// written so that not-a-number fails too
	if !(first >= -steps && first <= last && last <= steps && inverse > 0) {
		return 1, 0
	}
	return int32(round(first)), int32(round(last))
}

// multiple is the value that number k stands for.
func multiple(k int32, min, max, res float64) float64 {
	x := float64(float64(k) * res)
	if x < min {
		return min
	}
	if x > max {
		return max
	}
	return x
}

// round gives the whole number nearest to x, the even one of two, for |x| below 2^51. Adding a
// large number leaves no room for a fraction; unlike a conversion that is the same on every
// machine, and unlike math.Round it takes no branch.
func round(x float64) int64 {
	const large = 3 << 51
	// the conversion keeps a product passed in from being fused
	return int64(math.Float64bits(float64(x)+large)) - 0x4338000000000000
}

// bring brings a float into its range: to the nearer end, or if it is no number to the value
// nearest to zero.
func (s *Sync) bring(p unsafe.Pointer, kind Kind, x, lo, hi float64) float64 {
	if x >= lo && x <= hi {
		return x
	}
	if s.strict {
		s.note(p, kind, "was given "+number(x)+", not in "+number(lo)+".."+number(hi))
	}
	if x != x {
		x = 0
	}
	if x < lo {
		return lo
	}
	if x > hi {
		return hi
	}
	return x
}

func (s *Sync) badRange(p unsafe.Pointer, kind Kind, min, max, res float64) {
	s.misuse(p, kind, "cannot go from "+number(min)+" to "+number(max)+" by "+number(res)+
		"; the range must be ordered, the resolution above zero, with at most 2^31-1 steps "+
		"between zero and either end (2^22 for a float32)")
}

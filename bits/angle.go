package bits

import (
	"math"
	"unsafe"

	"github.com/coeval-dev/coeval/det"
)

// Angle syncs an angle as one of 2^n directions, evenly spaced, zero among them; n is 1 to 31.
// Angles of any size wrap into -π (included) to π. The error is at most π/2^n, as an angle (to
// within a hundredth of that). What is not finite becomes zero.
func (s *Sync) Angle(p *det.Angle, n int) {
	if n < 1 || n > 31 {
		s.misuse(unsafe.Pointer(p), KindAngle, "needs 1 to 31 bits")
		return
	}
	const turn = 2 * math.Pi
	var k int32
	if s.mode < reading {
		x := float64(*p)
		if !(x >= -65536 && x <= 65536) {
			x = s.unwind(unsafe.Pointer(p), x)
		}
		parts := round(float64(x*(1/turn)) * math.Float64frombits(uint64(1023+n)<<52))
		// wrapping is leaving out the bits above the lowest n
		k = int32(parts) << (32 - uint(n)&31) >> (32 - uint(n)&31)
	}
	half := int32(1) << (uint(n-1) & 31)
	k = s.number(unsafe.Pointer(p), KindAngle, k, -half, half-1, 0)
	if s.stores() {
		*p = det.Angle(float64(k) * float64(turn*math.Float64frombits(uint64(1023-n)<<52)))
	}
}

// unwind brings an angle of very many turns, or of none, to where rounding can handle it. Mod is
// exact, so it is the same everywhere.
func (s *Sync) unwind(p unsafe.Pointer, x float64) float64 {
	if x-x != 0 {
		s.note(p, KindAngle, "was given "+number(x))
		return 0
	}
	return math.Mod(x, 2*math.Pi)
}

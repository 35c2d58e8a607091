package bits

import (
	"math"
	"unsafe"

	"github.com/coeval-dev/coeval/det"
)

// Quat syncs an orientation in 2+3n bits, n from 2 to 16: which component is largest and, in n bits
// each, the three others, which lie between -1/√2 and 1/√2. With m = 2^(n-1)-1 the orientation is
// wrong by a turn of at most 2.6/m radians: 0.59 degrees at 9 bits, 0.005 at 16. No turn at all is
// exact. The largest component comes out positive, which is the same orientation. Quaternions of
// any length are taken for their direction; one that has none, or is not finite, becomes no turn.
func (s *Sync) Quat(p *det.Quat, n int) {
	at := unsafe.Pointer(p)
	if n < 2 || n > 16 {
		s.misuse(at, KindQuat, "needs 2 to 16 bits")
		return
	}
	m := int32(1)<<(uint(n)-1) - 1
	k := [4]int32{}
	if !s.Reading() {
		k = s.smallestThree(at, *p, m)
	}
	s.numbers(at, KindQuat, 4, &k, &[4]int32{0, -m, -m, -m}, &[4]int32{3, m, m, m}, 0)
	if s.stores() {
		q, ok := fromSmallestThree(&k, m)
		if !ok {
			s.refuse(at, KindQuat, "is not in the form that a writer gives it")
			q = [4]float64{3: 1}
		}
		*p = det.Quat{X: q[0], Y: q[1], Z: q[2], W: q[3]}
	}
}

func (s *Sync) smallestThree(p unsafe.Pointer, v det.Quat, m int32) [4]int32 {
	q := [4]float64{v.X, v.Y, v.Z, v.W}
	largest := 0
	for i := 1; i < 4; i++ {
		if math.Abs(q[i]) > math.Abs(q[largest]) {
			largest = i
		}
	}
	d := q[largest]
	if v.X-v.X != 0 || v.Y-v.Y != 0 || v.Z-v.Z != 0 || v.W-v.W != 0 {
		s.note(p, KindQuat, "was given a quaternion that is not finite")
		return [4]int32{3, 0, 0, 0}
	}
	if d == 0 {
		return [4]int32{3, 0, 0, 0}
	}
	// Dividing by the largest makes it one and positive, and lets nothing overflow.
	sum := 0.0
	for i := range q {
		q[i] /= d
		sum += float64(q[i] * q[i])
	}
	scale := float64(m) * math.Sqrt2 / math.Sqrt(sum)
	k := [4]int32{int32(largest)}
	j := 1
	for i := range q {
		if i != largest {
			k[j] = int32(round(q[i] * scale))
			j++
		}
	}
	// Rounding may have made another component the largest of what a reader will find; it would not
	// stay as it is. Shorten that one.
	for {
		if _, ok := fromSmallestThree(&k, m); ok {
			return k
		}
		j := 1
		if abs(k[2]) > abs(k[j]) {
			j = 2
		}
		if abs(k[3]) > abs(k[j]) {
			j = 3
		}
		k[j] -= withSign(1, k[j])
	}
}

// fromSmallestThree gives the quaternion, and whether its largest component is the one named.
func fromSmallestThree(k *[4]int32, m int32) (q [4]float64, ok bool) {
	step := 1 / (float64(m) * math.Sqrt2)
	largest := int(k[0] & 3)
	rest := 1.0
	j := 1
	for i := range q {
		if i == largest {
			continue
		}
		q[i] = float64(k[j]) * step
		rest -= float64(q[i] * q[i])
		j++
	}
	if !(rest > 0) {
		return q, false
	}
	q[largest] = math.Sqrt(rest)
	for i := range q {
		if a := math.Abs(q[i]); a > q[largest] || i < largest && a == q[largest] {
			return q, false
		}
	}
	return q, true
}

package bits

import (
	"math"
	"unsafe"

	"github.com/coeval-dev/coeval/det"
)

// Direction syncs a vector of length one in 2n bits, n from 2 to 16: where it meets an octahedron,
// unfolded onto a square. With m = 2^(n-1)-1 the error is at most 2.2/m radians: 1.0 degrees at 8
// bits, 0.004 at 16. The axes are exact. Vectors of any length are taken for their direction; one
// that has none, or is not finite, becomes +Z. (After Meyer and others, 2010: "On floating-point
// normal vectors". Here the lattice is symmetric and has one form for each point of the seams, so
// that a direction once quantised stays as it is.)
func (s *Sync) Direction(p *det.Vec3, n int) {
	at := unsafe.Pointer(p)
	if n < 2 || n > 16 {
		s.misuse(at, KindDirection, "needs 2 to 16 bits")
		return
	}
	m := int32(1)<<(uint(n)-1) - 1
	k := [4]int32{}
	if !s.Reading() {
		k[0], k[1] = unfold(s.unit(at, KindDirection, *p), m)
	}
	s.numbers(at, KindDirection, 2, &k, &[4]int32{-m, -m}, &[4]int32{m, m}, 0)
	if s.stores() {
		if abs(k[0]) == m && k[1] < 0 || abs(k[1]) == m && k[0] < 0 {
			s.refuse(at, KindDirection, "is not in the form that a writer gives it")
		}
		*p = fold(k[0], k[1], m)
	}
}

// unit brings the largest component of v to one, so that nothing overflows or vanishes in what
// follows.
func (s *Sync) unit(p unsafe.Pointer, kind Kind, v det.Vec3) det.Vec3 {
	d := max(math.Abs(v.X), math.Abs(v.Y), math.Abs(v.Z))
	if !(d <= math.MaxFloat64) {
		s.note(p, kind, "was given a vector that is not finite")
		return det.Vec3{Z: 1}
	}
	if d == 0 {
		return det.Vec3{Z: 1}
	}
	return det.Vec3{X: v.X / d, Y: v.Y / d, Z: v.Z / d}
}

// unfold gives the place of v on the square. The upper half of the octahedron is the diamond in its
// middle; the lower half's faces are turned out to its corners.
func unfold(v det.Vec3, m int32) (int32, int32) {
	sum := math.Abs(v.X) + math.Abs(v.Y) + math.Abs(v.Z)
	u := int32(round(v.X / sum * float64(m)))
	w := int32(round(v.Y / sum * float64(m)))
	if v.Z < 0 {
		u, w = withSign(m-abs(w), u), withSign(m-abs(u), w)
	}
	return u, w
}

func fold(u, w, m int32) det.Vec3 {
	z := m - abs(u) - abs(w)
	if z < 0 {
		u, w = withSign(m-abs(w), u), withSign(m-abs(u), w)
	}
	return normal(u, w, z)
}

// normal is the vector of length one in a direction given in whole numbers.
func normal(x, y, z int32) det.Vec3 {
	length := math.Sqrt(float64(int64(x)*int64(x) + int64(y)*int64(y) + int64(z)*int64(z)))
	return det.Vec3{X: float64(x) / length, Y: float64(y) / length, Z: float64(z) / length}
}

// CoarseDirection syncs a vector of length one in 9 bits, 3 for each axis, as DOOM III does for the
// directions of its effects: the nearest point with whole coordinates on the surface of a cube of
// half-width 3. The error is at most 13.3 degrees. The axes and diagonals are exact. Vectors of any
// length are taken for their direction; one that has none, or is not finite, becomes +Z.
func (s *Sync) CoarseDirection(p *det.Vec3) {
	at := unsafe.Pointer(p)
	var k [4]int32
	if !s.Reading() {
		v := s.unit(at, KindCoarseDirection, *p)
		k = [4]int32{int32(round(v.X * 3)), int32(round(v.Y * 3)), int32(round(v.Z * 3))}
	}
	s.numbers(at, KindCoarseDirection, 3, &k, &[4]int32{-3, -3, -3}, &[4]int32{3, 3, 3}, 0)
	if s.stores() {
		if max(abs(k[0]), abs(k[1]), abs(k[2])) != 3 {
			s.refuse(at, KindCoarseDirection, "is not on the surface of the cube")
			k = [4]int32{0, 0, 3}
		}
		*p = normal(k[0], k[1], k[2])
	}
}

func abs(x int32) int32 { return max(x, -x) }

// withSign gives x the sign of y, plus if y is zero. Points of the square's edge are folded onto
// each other in pairs; that picks one of each.
func withSign(x, y int32) int32 {
	if y < 0 {
		return -x
	}
	return x
}

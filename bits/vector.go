package bits

import (
	"math"
	"unsafe"

	"github.com/coeval-dev/coeval/det"
)

// Vec2 syncs a point or velocity in the plane, each component as Float does: from min to max, in
// multiples of res, wrong by at most res/2 each.
func (s *Sync) Vec2(p *det.Vec2, min, max, res float64) {
	inverse := 1 / res
	lo, hi := ends(min, max, inverse, maxSteps)
	if lo > hi {
		s.badRange(unsafe.Pointer(p), KindVec2, min, max, res)
		return
	}
	los, his := [4]int32{lo, lo}, [4]int32{hi, hi}
	s.vec2(p, &det.Vec2{X: min, Y: min}, &det.Vec2{X: max, Y: max}, res, inverse, &los, &his)
}

// Vec2In is Vec2 with a range for each component: a rectangle from min to max.
func (s *Sync) Vec2In(p *det.Vec2, min, max det.Vec2, res float64) {
	inverse := 1 / res
	var lo, hi [4]int32
	lo[0], hi[0] = ends(min.X, max.X, inverse, maxSteps)
	lo[1], hi[1] = ends(min.Y, max.Y, inverse, maxSteps)
	switch {
	case lo[0] > hi[0]:
		s.badRange(unsafe.Pointer(p), KindVec2, min.X, max.X, res)
	case lo[1] > hi[1]:
		s.badRange(unsafe.Pointer(p), KindVec2, min.Y, max.Y, res)
	default:
		s.vec2(p, &min, &max, res, inverse, &lo, &hi)
	}
}

func (s *Sync) vec2(p, min, max *det.Vec2, res, inverse float64, lo, hi *[4]int32) {
	at := unsafe.Pointer(p)
	var k [4]int32
	if s.mode < reading {
		v := *p
		if !(v.X >= min.X && v.X <= max.X && v.Y >= min.Y && v.Y <= max.Y) {
			v.X = s.bring(at, KindVec2, v.X, min.X, max.X)
			v.Y = s.bring(at, KindVec2, v.Y, min.Y, max.Y)
		}
		k[0], k[1] = int32(round(v.X*inverse)), int32(round(v.Y*inverse))
	}
	s.numbers(at, KindVec2, 2, &k, lo, hi, math.Float64bits(res))
	if s.stores() {
		p.X = multiple(k[0], min.X, max.X, res)
		p.Y = multiple(k[1], min.Y, max.Y, res)
	}
}

// Vec3 syncs a point or velocity in space, each component as Float does: from min to max, in
// multiples of res, wrong by at most res/2 each.
func (s *Sync) Vec3(p *det.Vec3, min, max, res float64) {
	inverse := 1 / res
	lo, hi := ends(min, max, inverse, maxSteps)
	if lo > hi {
		s.badRange(unsafe.Pointer(p), KindVec3, min, max, res)
		return
	}
	los, his := [4]int32{lo, lo, lo}, [4]int32{hi, hi, hi}
	s.vec3(p, &det.Vec3{X: min, Y: min, Z: min}, &det.Vec3{X: max, Y: max, Z: max}, res, inverse,
		&los, &his)
}

// Vec3In is Vec3 with a range for each component: a box from min to max.
func (s *Sync) Vec3In(p *det.Vec3, min, max det.Vec3, res float64) {
	inverse := 1 / res
	var lo, hi [4]int32
	lo[0], hi[0] = ends(min.X, max.X, inverse, maxSteps)
	lo[1], hi[1] = ends(min.Y, max.Y, inverse, maxSteps)
	lo[2], hi[2] = ends(min.Z, max.Z, inverse, maxSteps)
	switch {
	case lo[0] > hi[0]:
		s.badRange(unsafe.Pointer(p), KindVec3, min.X, max.X, res)
	case lo[1] > hi[1]:
		s.badRange(unsafe.Pointer(p), KindVec3, min.Y, max.Y, res)
	case lo[2] > hi[2]:
		s.badRange(unsafe.Pointer(p), KindVec3, min.Z, max.Z, res)
	default:
		s.vec3(p, &min, &max, res, inverse, &lo, &hi)
	}
}

func (s *Sync) vec3(p, min, max *det.Vec3, res, inverse float64, lo, hi *[4]int32) {
	at := unsafe.Pointer(p)
	var k [4]int32
	if s.mode < reading {
		v := *p
		if !(v.X >= min.X && v.X <= max.X && v.Y >= min.Y && v.Y <= max.Y && v.Z >= min.Z &&
			v.Z <= max.Z) {
			v.X = s.bring(at, KindVec3, v.X, min.X, max.X)
			v.Y = s.bring(at, KindVec3, v.Y, min.Y, max.Y)
			v.Z = s.bring(at, KindVec3, v.Z, min.Z, max.Z)
		}
		k[0], k[1], k[2] = int32(round(v.X*inverse)), int32(round(v.Y*inverse)),
			int32(round(v.Z*inverse))
	}
	s.numbers(at, KindVec3, 3, &k, lo, hi, math.Float64bits(res))
	if s.stores() {
		p.X = multiple(k[0], min.X, max.X, res)
		p.Y = multiple(k[1], min.Y, max.Y, res)
		p.Z = multiple(k[2], min.Z, max.Z, res)
	}
}

package arena

import (
	"cmp"
	"slices"

	"github.com/coeval-dev/coeval/det"
)

// An Eye draws the line between what is seen and what lies in the shadow of walls and doors. It is
// for whoever shows the game; keep one, as it reuses its memory.
type Eye struct {
	rays  []sightRay
	shape []det.Vec2
}

type sightRay struct {
	dir  det.Vec2
	turn float64
}

// graze is by what angle a ray passes a corner on either side: small enough that no one sees the
// gap, large enough that the ray does not hit the corner it passes.
const graze = 1e-4

// See gives the region that can be seen from a point, up to a distance, as a polygon around it, in
// order of angle; it is empty inside of a wall. What is outside of it is in the shadow. The result
// is good until the next call.
func (e *Eye) See(s *Scene, from det.Vec2, distance float64) []det.Vec2 {
	e.rays, e.shape = e.rays[:0], e.shape[:0]
	if i := s.Map.at(from); i < 0 || s.Map.cells[i].opaque() {
		return e.shape
	}
	// The region's border changes only at corners, and where it is as far as one sees, it is a
	// circle, of so many straight pieces.
	const pieces = 48
	for i := range pieces {
		e.ray(det.Angle(float64(i) * (2 * det.Pi / pieces)).Vec())
	}
	for i := range s.Map.Walls {
		if w := &s.Map.Walls[i]; from.Sub(w.P).Dot(w.Out) > 0 { // from behind no one sees it
			e.line(from, w.P, w.Q, distance)
		}
	}
	for d, n := range s.Map.Doors {
		if s.Open[d] >= DoorOpen || s.Map.Portals[n].distanceSq(from) > float64(distance*distance) {
			continue
		}
		for _, r := range s.Leaves(d) {
			a, b := det.Vec2{X: r.Min.X, Y: r.Max.Y}, det.Vec2{X: r.Max.X, Y: r.Min.Y}
			e.line(from, r.Min, a, distance)
			e.line(from, r.Min, b, distance)
			e.line(from, a, r.Max, distance)
			e.line(from, b, r.Max, distance)
		}
	}
	slices.SortFunc(e.rays, func(a, b sightRay) int { return cmp.Compare(a.turn, b.turn) })
	last := det.Inf(-1)
	for i := range e.rays {
		r := &e.rays[i]
		if r.turn-last < graze/4 {
			continue // two walls share a corner
		}
		last = r.turn
		e.shape = append(e.shape, from.MulAdd(r.dir, s.Cast(from, r.dir, distance).Distance))
	}
	return e.shape
}

// line adds the rays at which the border may turn because of a line along an axis: past its ends,
// and where it leaves the circle.
func (e *Eye) line(from, p, q det.Vec2, distance float64) {
	along, aside := det.Vec2{X: 1}, p.Y-from.Y
	lo, hi := p.X-from.X, q.X-from.X
	if p.X == q.X {
		along, aside = det.Vec2{Y: 1}, p.X-from.X
		lo, hi = p.Y-from.Y, q.Y-from.Y
	}
	half := float64(distance*distance) - float64(aside*aside)
	if half <= 0 {
		return
	}
	half = det.Sqrt(half)
	if lo > half || hi < -half {
		return
	}
	e.corner(from, p, distance)
	e.corner(from, q, distance)
	across := det.Vec2{X: along.Y, Y: along.X}.Mul(aside)
	for _, t := range [2]float64{-half, half} {
		if t > lo && t < hi {
			e.ray(across.MulAdd(along, t).Unit())
		}
	}
}

// corner adds the rays that pass a corner on both sides.
func (e *Eye) corner(from, at det.Vec2, distance float64) {
	d := at.Sub(from)
	n := d.LenSq()
	if n > float64(distance*distance) || n == 0 {
		return
	}
	d = d.Mul(1 / det.Sqrt(n))
	e.ray(d.MulAdd(d.Perp(), -graze))
	e.ray(d.MulAdd(d.Perp(), graze))
}

func (e *Eye) ray(dir det.Vec2) {
	// What grows with the angle is enough to sort by: the way along a square around the eye, from 0
	// to 4.
	turn := dir.Y / (det.Abs(dir.X) + det.Abs(dir.Y))
	switch {
	case dir.X < 0:
		turn = 2 - turn
	case dir.Y < 0:
		turn += 4
	}
	e.rays = append(e.rays, sightRay{dir, turn})
}

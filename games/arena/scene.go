package arena

import (
	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/world"
)

// A Scene is a map with its doors as they stand at one tick: what rays, walkers and eyes meet. The
// rules have one, and so may whoever draws or plays: keep it, and call Look when the world has
// changed.
type Scene struct {
	Map *Map
	// how far each door is open, from 0 to DoorOpen, by number; a door that is not in the world is
	// shut
	Open []uint8
}

// Look takes the map and the doors of a world. It says false if this program does not have the map;
// then there is nothing to see.
func (s *Scene) Look(w *world.World) bool {
	s.set(world.StateOf[Match](w).level)
	if s.Map == nil {
		return false
	}
	for _, d := range world.All[Door](w) {
		if d.Number < len(s.Open) {
			s.Open[d.Number] = uint8(d.Open)
		}
	}
	return true
}

// set starts with all doors shut.
func (s *Scene) set(m *Map) {
	s.Map = m
	s.Open = s.Open[:0]
	if m != nil {
		for range m.Doors {
			s.Open = append(s.Open, 0)
		}
	}
}

// Leaves gives the two halves of a door as they stand: they slide apart into the walls. When it is
// wide open both are empty; when it is shut the first is all of it.
func (s *Scene) Leaves(door int) [2]Rect {
	o := &s.Map.Portals[s.Map.Doors[door]]
	gap := float64(s.Open[door]) / DoorOpen
	mid := o.P.Lerp(o.Q, 0.5)
	to, from := mid.Lerp(o.P, gap), mid.Lerp(o.Q, gap)
	thick := det.Vec2{X: doorHalf}
	if !o.Across {
		thick = det.Vec2{Y: doorHalf}
	}
	if gap == 0 { // one piece, so that nothing passes exactly where they meet
		return [2]Rect{{o.P.Sub(thick), o.Q.Add(thick)}, {}}
	}
	return [2]Rect{{o.P.Sub(thick), to.Add(thick)}, {from.Sub(thick), o.Q.Add(thick)}}
}

// blocks says whether a cell has a door that is not wide open, and which.
func (s *Scene) blocks(cell int) int {
	n := s.Map.portal[cell]
	if n < 0 {
		return -1
	}
	d := s.Map.Portals[n].Door
	if d < 0 || s.Open[d] >= DoorOpen {
		return -1
	}
	return d
}

// A Hit is where a ray ended.
type Hit struct {
	Distance float64
	Normal   det.Vec2 // of what it met; zero if it met nothing
}

// Cast follows a ray from a point in a direction of length one until it meets a wall or a door, or
// has gone as far as limit.
func (s *Scene) Cast(from, dir det.Vec2, limit float64) Hit {
	// Cell by cell, after Amanatides and Woo, "A Fast Voxel Traversal Algorithm for Ray Tracing"
	// (1987). The distance to the next line is computed anew from its coordinate each time, not
	// added up, so that a long ray is as exact as a short one.
	m := s.Map
	x, y := int(det.Int32(det.Floor(from.X))), int(det.Int32(det.Floor(from.Y)))
	if m.Cell(x, y).opaque() {
		return Hit{Normal: dir.Neg()}
	}
	ix, iy := 1/dir.X, 1/dir.Y
	sx, sy, lx, ly := 1, 1, x+1, y+1 // which way, and the next line
	if dir.X < 0 {
		sx, lx = -1, x
	}
	if dir.Y < 0 {
		sy, ly = -1, y
	}
	next := func(line int, at, inv float64) float64 {
		if inv > 1e9 || inv < -1e9 {
			return far
		}
		return float64((float64(line) - at) * inv)
	}
	tx, ty := next(lx, from.X, ix), next(ly, from.Y, iy)
	for {
		if d := s.blocks(y*m.Width + x); d >= 0 {
			if h, ok := s.castDoor(d, from, dir, limit); ok {
				return h
			}
		}
		var h Hit
		switch {
		case tx == ty: // through a corner: past one solid cell, but not between two
			h = Hit{tx, dir.Neg()}
			if tx <= limit && m.Cell(x+sx, y).opaque() && m.Cell(x, y+sy).opaque() {
				return h
			}
			x, y, lx, ly = x+sx, y+sy, lx+sx, ly+sy
			tx, ty = next(lx, from.X, ix), next(ly, from.Y, iy)
		case tx < ty:
			h = Hit{tx, det.Vec2{X: float64(-sx)}}
			x, lx = x+sx, lx+sx
			tx = next(lx, from.X, ix)
		default:
			h = Hit{ty, det.Vec2{Y: float64(-sy)}}
			y, ly = y+sy, ly+sy
			ty = next(ly, from.Y, iy)
		}
		if h.Distance >= limit {
			return Hit{Distance: limit}
		}
		if m.Cell(x, y).opaque() {
			return h
		}
	}
}

const far = 1e9 // further than any map is wide

// castDoor lets a ray meet the leaves of a door.
func (s *Scene) castDoor(door int, from, dir det.Vec2, limit float64) (h Hit, ok bool) {
	h.Distance = limit
	for _, r := range s.Leaves(door) {
		if t, normal, hit := castRect(&r, from, dir); hit && t < h.Distance {
			h, ok = Hit{t, normal}, true
		}
	}
	return h, ok
}

// castRect finds where a ray enters a rectangle. From inside, that is at once.
func castRect(r *Rect, from, dir det.Vec2) (t float64, normal det.Vec2, ok bool) {
	if r.Max.X <= r.Min.X || r.Max.Y <= r.Min.Y {
		return 0, normal, false
	}
	enter, leave := 0.0, far
	normal = dir.Neg()
	for axis := range 2 {
		lo, hi, at, d, n := r.Min.X, r.Max.X, from.X, dir.X, det.Vec2{X: 1}
		if axis == 1 {
			lo, hi, at, d, n = r.Min.Y, r.Max.Y, from.Y, dir.Y, det.Vec2{Y: 1}
		}
		if d == 0 {
			if at <= lo || at >= hi {
				return 0, normal, false
			}
			continue
		}
		a, b := (lo-at)/d, (hi-at)/d
		if d > 0 {
			n = n.Neg()
		} else {
			a, b = b, a
		}
		if a > enter {
			enter, normal = a, n
		}
		leave = min(leave, b)
	}
	return enter, normal, enter < leave
}

// Clear says whether one can see from one point to another.
func (s *Scene) Clear(a, b det.Vec2) bool {
	d := b.Sub(a)
	n := det.Sqrt(d.LenSq())
	if n == 0 {
		return !s.Map.Cell(int(det.Int32(det.Floor(a.X))), int(det.Int32(det.Floor(a.Y)))).opaque()
	}
	return s.Cast(a, d.Mul(1/n), n).Normal == det.Vec2{}
}

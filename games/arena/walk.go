package arena

import "github.com/coeval-dev/coeval/det"

// stride is how far a walker goes at most before it is kept out of walls again. It is less than
// Radius, so that its middle never gets into one.
const stride = 0.25

// walk moves a walker and keeps it out of walls, pits and doors. What it runs into takes away the
// part of the velocity that leads into it, so it slides along.
func (s *Scene) walk(p, v, by det.Vec2) (pos, vel det.Vec2) {
	n := 1 + int(det.Int32(det.Sqrt(by.LenSq())*(1/stride)))
	step := by.Mul(1 / float64(n))
	for range n {
		q := p.Add(step)
		i := s.Map.at(q)
		if i < 0 || s.Map.cells[i] != Floor {
			return p, det.Vec2{} // only someone who was put into a wall gets here
		}
		p, v = s.keepOut(i, q, v)
	}
	return p, v
}

// keepOut pushes a walker out of what is around its cell. Walls in a row are one wall: their inner
// corners do not count.
func (s *Scene) keepOut(cell int, p, v det.Vec2) (pos, vel det.Vec2) {
	m := s.Map
	mask := m.mask[cell]
	if mask != 0 {
		x, y := float64(cell%m.Width), float64(cell/m.Width)
		if mask&maskW != 0 && p.X < x+Radius {
			p.X, v.X = x+Radius, max(v.X, 0)
		}
		if mask&maskE != 0 && p.X > x+1-Radius {
			p.X, v.X = x+1-Radius, min(v.X, 0)
		}
		if mask&maskN != 0 && p.Y < y+Radius {
			p.Y, v.Y = y+Radius, max(v.Y, 0)
		}
		if mask&maskS != 0 && p.Y > y+1-Radius {
			p.Y, v.Y = y+1-Radius, min(v.Y, 0)
		}
		if mask&(maskNW|maskN|maskW) == maskNW {
			p, v = keepFrom(det.Vec2{X: x, Y: y}, p, v)
		}
		if mask&(maskNE|maskN|maskE) == maskNE {
			p, v = keepFrom(det.Vec2{X: x + 1, Y: y}, p, v)
		}
		if mask&(maskSW|maskS|maskW) == maskSW {
			p, v = keepFrom(det.Vec2{X: x, Y: y + 1}, p, v)
		}
		if mask&(maskSE|maskS|maskE) == maskSE {
			p, v = keepFrom(det.Vec2{X: x + 1, Y: y + 1}, p, v)
		}
	}
	for _, d := range m.doors[cell] {
		if d < 0 || s.Open[d] >= DoorOpen {
			continue
		}
		for _, r := range s.Leaves(int(d)) {
			if r.Max.X > r.Min.X && r.Max.Y > r.Min.Y {
				p, v = keepFrom(det.Vec2{X: det.Clamp(p.X, r.Min.X, r.Max.X),
					Y: det.Clamp(p.Y, r.Min.Y, r.Max.Y)}, p, v)
			}
		}
	}
	return p, v
}

// keepFrom pushes a walker away from a point.
func keepFrom(corner, p, v det.Vec2) (pos, vel det.Vec2) {
	d := p.Sub(corner)
	n := d.LenSq()
	if n >= Radius*Radius || n == 0 {
		return p, v
	}
	out := d.Mul(1 / det.Sqrt(n))
	if in := v.Dot(out); in < 0 {
		v = v.MulAdd(out, -in)
	}
	return corner.MulAdd(out, Radius), v
}

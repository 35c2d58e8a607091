package sprite

import "math"

// A shade is what one pixel has: brightness and cover, each from 0 to 1.
type shade struct{ light, cover float64 }

// over puts a shade on top of another.
func (s shade) over(below shade) shade {
	c := s.cover + below.cover*(1-s.cover)
	if c == 0 {
		return shade{}
	}
	return shade{(s.light*s.cover + below.light*below.cover*(1-s.cover)) / c, c}
}

// edge is how wide the border of a shape is, in units of a cell's half: about one pixel and a half.
const edge = 3.0 / Cell

// fill makes a shade of a distance: inside is below zero.
func fill(distance, light float64) shade {
	return shade{light, clamp(0.5 - distance/edge)}
}

// bevel is fill with a rim that is lit from the upper left, so that shapes look raised.
func bevel(distance, x, y, light float64) shade {
	s := fill(distance, light)
	rim := clamp(1 + distance/0.16)
	s.light = clamp(light + 0.35*rim*(-0.5*x-0.8*y) - 0.12*rim)
	return s
}

func clamp(x float64) float64 { return math.Min(1, math.Max(0, x)) }

func circle(x, y, cx, cy, r float64) float64 { return math.Hypot(x-cx, y-cy) - r }

// box is a rectangle around a point, with round corners.
func box(x, y, cx, cy, w, h, round float64) float64 {
	dx, dy := math.Abs(x-cx)-w+round, math.Abs(y-cy)-h+round
	return math.Hypot(math.Max(dx, 0), math.Max(dy, 0)) + math.Min(math.Max(dx, dy), 0) - round
}

// ellipse is close enough to the distance for shapes that are not too flat.
func ellipse(x, y, cx, cy, a, b float64) float64 {
	k := math.Hypot((x-cx)/a, (y-cy)/b)
	return (k - 1) * math.Min(a, b)
}

// cut is the first shape without the second.
func cut(a, b float64) float64 { return math.Max(a, -b) }

// ripple is a smooth noise for smoke and scorch marks.
func ripple(x, y, seed float64) float64 {
	return 0.5 + 0.25*math.Sin(x*5.1+seed+math.Sin(y*3.7+seed*2)) +
		0.25*math.Sin(y*6.3-seed+math.Sin(x*4.9-seed))
}

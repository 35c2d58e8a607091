package reckon

import "github.com/coeval-dev/coeval/det"

// Bounds is how far off receivers may show a Body before they are owed an update. What is zero is
// not looked at.
type Bounds struct {
	Pos  float64 // metres
	Turn det.Angle
}

// StandardBounds are the thresholds that the DIS standard sets: 1 m and 3 degrees.
var StandardBounds = Bounds{Pos: 1, Turn: det.Pi / 60}

// Kept says whether what is shown is within the bounds of the truth.
func (b Bounds) Kept(truth, shown *Body) bool { return b.within(1, truth, shown) }

// within is Kept for a part of the bounds.
func (b Bounds) within(part float64, truth, shown *Body) bool {
	if b.Pos > 0 {
		if d := truth.Pos.Sub(shown.Pos).Len(); !(d <= float64(b.Pos*part)) {
			return false
		}
	}
	if b.Turn <= 0 {
		return true
	}
	return float64(truth.Facing.To(shown.Facing)) <= float64(float64(b.Turn)*part)
}

// Sight makes bounds for one observer: what is far away or small may be further off, since nobody
// can tell. PARADISE had two levels of accuracy, near and far; this has as many as there are
// distances.
type Sight struct {
	// Angle is the smallest that an observer can tell: an error that looks smaller does not count.
	// A pixel of a screen 1,920 wide with a field of view of 90 degrees is about 0.05 degrees.
	Angle det.Angle

	// Least and Most are what the bounds never go below or beyond, however near or far the body
	// is. Least also stands for what is at no distance. A zero in Most means no limit.
	Least, Most Bounds
}

// Bounds are those for a body some metres away and of a size, its greatest length in metres. An
// error in place looks as large as it is by its distance. A turn moves the ends of a body by half
// its size, so small things may be turned further; beyond half a turn nothing is wrong any more.
func (s *Sight) Bounds(distance, size float64) Bounds {
	seen := float64(det.Tan(det.Clamp(float64(s.Angle), 0, 1)) * det.Clamp(distance, 0, 1e9))
	b := Bounds{Pos: grown(seen, s.Least.Pos, s.Most.Pos)}
	turn := det.Pi
	if half := float64(size * 0.5); half > 0 && seen < float64(2*half) {
		turn = float64(2 * det.Asin(seen/float64(2*half))) // the chord that the end goes
	}
	b.Turn = det.Angle(grown(turn, float64(s.Least.Turn), float64(s.Most.Turn)))
	return b
}

func grown(x, least, most float64) float64 {
	x = max(x, least)
	if most > 0 {
		x = min(x, most)
	}
	return x
}

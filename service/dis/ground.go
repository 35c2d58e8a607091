package dis

import (
	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/reckon"
)

// The ellipsoid of WGS 84, on which exercises take place.
const (
	earthRadius    = 6378137.0         // at the equator, metres
	earthFlat      = 1 / 298.257223563 // how much shorter it is to the poles
	earthEccentric = earthFlat * (2 - earthFlat)
)

// Spot is a place on Earth as maps tell it.
type Spot struct {
	Lat, Lon det.Angle
	Height   float64 // metres above the ellipsoid
}

// Pos is the place in the coordinates of an exercise: geocentric, X to where the equator meets the
// meridian of Greenwich, Z to the north pole.
func (s Spot) Pos() det.Vec3 {
	sin, cos := det.Sincos(float64(s.Lat))
	east, north := det.Sincos(float64(s.Lon))
	n := earthRadius / det.Sqrt(1-float64(earthEccentric*float64(sin*sin)))
	r := float64((n + s.Height) * cos)
	return det.Vec3{X: float64(r * north), Y: float64(r * east),
		Z: float64((float64(n*(1-earthEccentric)) + s.Height) * sin)}
}

// SpotOf is the place on the map of a place in an exercise. It is good to less than a millimetre up
// to heights of a thousand kilometres.
func SpotOf(p det.Vec3) Spot {
	r := det.Hypot(p.X, p.Y)
	if r == 0 && p.Z == 0 {
		return Spot{Height: -earthRadius}
	}
	// Bowring's formula for the parametric latitude, applied until it stands still.
	const b = earthRadius * (1 - earthFlat)
	const second = earthEccentric / (1 - earthEccentric)
	beta := det.Atan2(float64(p.Z*earthRadius), float64(r*b))
	lat := 0.0
	for range 4 {
		s, c := det.Sincos(beta)
		lat = det.Atan2(p.Z+float64(second*b*float64(s*s*s)),
			r-float64(earthEccentric*earthRadius*float64(c*c*c)))
		beta = det.Atan2(float64((1-earthFlat)*det.Sin(lat)), det.Cos(lat))
	}
	s, c := det.Sincos(lat)
	n := earthRadius / det.Sqrt(1-float64(earthEccentric*float64(s*s)))
	// Near the poles the distance from the axis says little, near the equator that along it does.
	height := float64(r*c) + float64(p.Z*s) - float64(n*(1-float64(earthEccentric*float64(s*s))))
	return Spot{det.Angle(lat), det.Angle(det.Atan2(p.Y, p.X)), height}
}

// Ground ties a level to the Earth: the level is a plane that touches it at one spot, with X to the
// east, Y to the north and Z up, unless it is turned. Ten kilometres from there the plane is 8 m
// above the sea, and the error grows with the square.
type Ground struct {
	origin det.Vec3
	axes   det.Quat // from those of the level to those of the exercise
}

// NewGround lays a level's origin at a spot. The level's X axis points east, turned to the left by
// an angle.
func NewGround(at Spot, turned det.Angle) Ground {
	// East, north and up of a spot: first around the axis of the Earth, then down to the latitude.
	q := det.AxisAngle(det.Vec3{Z: 1}, at.Lon+det.Pi/2).
		Mul(det.AxisAngle(det.Vec3{X: 1}, det.Pi/2-at.Lat))
	return Ground{at.Pos(), q.Mul(det.AxisAngle(det.Vec3{Z: 1}, turned)).Unit()}
}

// noseDown turns a body that has its left side along Y and its back up, as games have it, to one
// that has its right side there and its belly down, as aircraft do.
var noseDown = det.Quat{X: 1}

// ToWorld is where a place of the level is in the exercise.
func (g *Ground) ToWorld(level det.Vec3) det.Vec3 { return g.origin.Add(g.axes.Rotate(level)) }

// ToLevel is where a place of the exercise is in the level.
func (g *Ground) ToLevel(world det.Vec3) det.Vec3 {
	return g.axes.Conj().Rotate(world.Sub(g.origin))
}

// BodyToWorld is a body of the level, with velocity and acceleration along the level's axes and its
// own axes forward, left and up, as an exercise tells it: along those of the world, and forward,
// right and down.
func (g *Ground) BodyToWorld(b *reckon.Body) reckon.Body {
	return reckon.Body{
		Pos: g.ToWorld(b.Pos), Vel: g.axes.Rotate(b.Vel), Accel: g.axes.Rotate(b.Accel),
		Facing: g.axes.Mul(b.Facing).Mul(noseDown).Unit(),
		Spin:   noseDown.Rotate(b.Spin),
	}
}

// BodyToLevel is the way back.
func (g *Ground) BodyToLevel(b *reckon.Body) reckon.Body {
	back := g.axes.Conj()
	return reckon.Body{
		Pos: g.ToLevel(b.Pos), Vel: back.Rotate(b.Vel), Accel: back.Rotate(b.Accel),
		Facing: back.Mul(b.Facing).Mul(noseDown.Conj()).Unit(),
		Spin:   noseDown.Rotate(b.Spin),
	}
}

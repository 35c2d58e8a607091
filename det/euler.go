package det

// Euler is an orientation as pilots tell it: from lying along X with the right side along Y and the
// belly along Z, first turned by Yaw around Z, then by Pitch around its own Y, then by Roll around
// its own X. Simulators that speak DIS call them psi, theta and phi.
type Euler struct{ Yaw, Pitch, Roll Angle }

// Quat is the orientation to compute with: it turns from the axes of the body to those of the
// world.
func (e Euler) Quat() Quat {
	sy, cy := Sincos(float64(float64(e.Yaw) * 0.5))
	sp, cp := Sincos(float64(float64(e.Pitch) * 0.5))
	sr, cr := Sincos(float64(float64(e.Roll) * 0.5))
	cc, ss := float64(cp*cy), float64(sp*sy)
	cs, sc := float64(cp*sy), float64(sp*cy)
	return Quat{
		X: float64(sr*cc) - float64(cr*ss),
		Y: float64(cr*sc) + float64(sr*cs),
		Z: float64(cr*cs) - float64(sr*sc),
		W: float64(cr*cc) + float64(sr*ss),
	}
}

// Euler is the orientation as three angles: Yaw and Roll from -Pi up to but not including Pi, Pitch
// from -Pi/2 to Pi/2. Straight up or down Yaw and Roll are turns around one axis, and only their
// sum or difference is determined; the three together give the same orientation there too.
func (q Quat) Euler() Euler {
	// Half the sum and half the difference of yaw and roll are angles of two points, and half the
	// pitch is how the points' distances compare (Bernardes and Viollet, 2022). Nothing is lost
	// near the poles, as it would be by an arc sine.
	a, b := q.W+q.Y, q.X-q.Z
	c, d := q.W-q.Y, q.X+q.Z
	less, more := Atan2(b, a), Atan2(d, c)
	pitch := float64(2*Atan2(Hypot(a, b), Hypot(c, d))) - Pi/2
	return Euler{
		Yaw:   Angle(more - less).Wrap(),
		Pitch: Angle(Clamp(pitch, -Pi/2, Pi/2)),
		Roll:  Angle(more + less).Wrap(),
	}
}

// TurnBy is the turn around v by as many radians as v is long, in the sense of AxisAngle: what an
// angular velocity does in a second.
func TurnBy(v Vec3) Quat { return AxisAngle(v, Angle(v.Len())) }

// Turn is the vector that TurnBy makes q of, at most Pi long: orientations as a space in which
// small differences can be added and scaled.
func (q Quat) Turn() Vec3 {
	v, w := Vec3{q.X, q.Y, q.Z}, q.W
	if w < 0 {
		v, w = v.Neg(), -w
	}
	l := v.Len()
	if l == 0 {
		return Vec3{}
	}
	return v.Mul(float64(2*Atan2(l, w)) / l)
}

// Spin turns q for dt seconds at an angular velocity in radians a second, in the frame of the body
// itself, as gyroscopes and DIS tell it. It is exact for a constant velocity, of any size.
func (q Quat) Spin(omega Vec3, dt float64) Quat {
	if l := omega.Len(); l == 0 || l-l != 0 {
		return q
	}
	return q.Mul(TurnBy(omega.Mul(dt))).Unit()
}

// To is the shortest turn that leads from q to p, from 0 to Pi: how far apart they are.
func (q Quat) To(p Quat) Angle {
	p = q.near(p)
	d := Quat{p.X - q.X, p.Y - q.Y, p.Z - q.Z, p.W - q.W}
	s := Quat{p.X + q.X, p.Y + q.Y, p.Z + q.Z, p.W + q.W}
	return Angle(float64(4 * Atan2(Sqrt(d.Dot(d)), Sqrt(s.Dot(s)))))
}

// Look is the orientation of a body whose X axis points forward, and whose Z axis points down as
// nearly as it can: of what drives or flies along a way. Where the two are the same or one is
// zero, the roll is whatever takes the shortest turn.
func Look(forward, down Vec3) Quat {
	f := forward.Unit()
	if f == (Vec3{}) {
		return Identity
	}
	axis := Vec3{Y: -f.Z, Z: f.Y} // X × f
	if axis.Unit() == (Vec3{}) {
		axis = Vec3{Z: 1}
	}
	q := AxisAngle(axis, Angle(Atan2(Hypot(f.Y, f.Z), f.X)))
	right := down.Cross(f).Unit()
	if right == (Vec3{}) {
		return q
	}
	now := q.Rotate(Vec3{Y: 1})
	return AxisAngle(f, Angle(Atan2(f.Dot(now.Cross(right)), now.Dot(right)))).Mul(q).Unit()
}

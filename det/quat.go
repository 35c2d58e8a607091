package det

// Quat is an orientation in space: a unit quaternion, W the real part. The zero value is not an
// orientation; start from Identity.
type Quat struct{ X, Y, Z, W float64 }

// Identity is the orientation of what was not turned.
var Identity = Quat{W: 1}

// AxisAngle is the turn by a around an axis of any length, counterclockwise when the axis points at
// the viewer. A zero axis gives Identity.
func AxisAngle(axis Vec3, a Angle) Quat {
	u := axis.Unit()
	if u == (Vec3{}) {
		return Identity
	}
	s, c := Sincos(float64(float64(a) * 0.5))
	return Quat{float64(u.X * s), float64(u.Y * s), float64(u.Z * s), c}
}

// AxisAngle is the axis, of length one, and the turn around it, from 0 to Pi, that make q. Identity
// has a turn of 0 around X.
func (q Quat) AxisAngle() (axis Vec3, a Angle) {
	v := Vec3{q.X, q.Y, q.Z}
	w := q.W
	if w < 0 {
		v, w = v.Neg(), -w
	}
	axis = v.Unit()
	if axis == (Vec3{}) {
		return Vec3{X: 1}, 0
	}
	return axis, Angle(float64(2 * Atan2(v.Len(), w)))
}

// Mul is the turn p followed, in the frame of the world, by q.
func (q Quat) Mul(p Quat) Quat {
	return Quat{
		X: float64(q.W*p.X) + float64(q.X*p.W) + float64(q.Y*p.Z) - float64(q.Z*p.Y),
		Y: float64(q.W*p.Y) - float64(q.X*p.Z) + float64(q.Y*p.W) + float64(q.Z*p.X),
		Z: float64(q.W*p.Z) + float64(q.X*p.Y) - float64(q.Y*p.X) + float64(q.Z*p.W),
		W: float64(q.W*p.W) - float64(q.X*p.X) - float64(q.Y*p.Y) - float64(q.Z*p.Z),
	}
}

// Conj is the opposite turn.
func (q Quat) Conj() Quat { return Quat{-q.X, -q.Y, -q.Z, q.W} }

// Dot is the cosine of half the turn between two orientations; it is negative where they have
// opposite signs.
func (q Quat) Dot(p Quat) float64 {
	return float64(q.X*p.X) + float64(q.Y*p.Y) + float64(q.Z*p.Z) + float64(q.W*p.W)
}

// Unit is q brought back to length one, which products and sums drift away from. What has no
// direction becomes Identity.
func (q Quat) Unit() Quat {
	s := q.Dot(q)
	if s > 1e-280 && s < 1e280 {
		l := Sqrt(s)
		return Quat{q.X / l, q.Y / l, q.Z / l, q.W / l}
	}
	m := max(Abs(q.X), Abs(q.Y), Abs(q.Z), Abs(q.W))
	if m == 0 || m-m != 0 { // m-m is not zero for infinities and NaN
		return Identity
	}
	_, e := Frexp(m)
	return Quat{Ldexp(q.X, -e), Ldexp(q.Y, -e), Ldexp(q.Z, -e), Ldexp(q.W, -e)}.Unit()
}

// Rotate turns v by q.
func (q Quat) Rotate(v Vec3) Vec3 {
	// v + 2w(u×v) + 2u×(u×v), with u the vector part.
	u := Vec3{q.X, q.Y, q.Z}
	t := u.Cross(v).Mul(2)
	return v.MulAdd(t, q.W).Add(u.Cross(t))
}

// near is p or its negative, which is the same orientation, whichever is nearer to q.
func (q Quat) near(p Quat) Quat {
	if q.Dot(p) < 0 {
		return Quat{-p.X, -p.Y, -p.Z, -p.W}
	}
	return p
}

// Nlerp is the orientation at part t of the shortest way from q to p, by a straight line. It is
// cheap, and its pace is uneven by little where the turn is small.
func (q Quat) Nlerp(p Quat, t float64) Quat {
	p = q.near(p)
	return Quat{Lerp(q.X, p.X, t), Lerp(q.Y, p.Y, t), Lerp(q.Z, p.Z, t), Lerp(q.W, p.W, t)}.Unit()
}

// Slerp is the orientation at part t of the shortest way from q to p, at an even pace.
func (q Quat) Slerp(p Quat, t float64) Quat {
	p = q.near(p)
	// The angle from sums and differences is exact also where its cosine is flat.
	d := Quat{p.X - q.X, p.Y - q.Y, p.Z - q.Z, p.W - q.W}
	s := Quat{p.X + q.X, p.Y + q.Y, p.Z + q.Z, p.W + q.W}
	a := float64(2 * Atan2(Sqrt(d.Dot(d)), Sqrt(s.Dot(s))))
	sin := Sin(a)
	if sin < 1e-6 {
		return q.Nlerp(p, t)
	}
	f, g := Sin(float64(a*(1-t)))/sin, Sin(float64(a*t))/sin
	return Quat{
		float64(q.X*f) + float64(p.X*g),
		float64(q.Y*f) + float64(p.Y*g),
		float64(q.Z*f) + float64(p.Z*g),
		float64(q.W*f) + float64(p.W*g),
	}.Unit()
}

// Integrate turns q for dt seconds at an angular velocity in radians a second, in the frame of the
// world. It is exact for a constant velocity, of any size.
func (q Quat) Integrate(omega Vec3, dt float64) Quat {
	speed := omega.Len()
	if speed == 0 || speed-speed != 0 {
		return q
	}
	return AxisAngle(omega, Angle(float64(speed*dt))).Mul(q).Unit()
}

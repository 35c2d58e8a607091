package det

// Vec2 is a point, a velocity or a direction in the plane.
type Vec2 struct{ X, Y float64 }

// Vec3 is a point, a velocity or a direction in space.
type Vec3 struct{ X, Y, Z float64 }

// Dot is for projections and angles between directions: |v||w|cos of the angle.
func (v Vec2) Dot(w Vec2) float64 { return float64(v.X*w.X) + float64(v.Y*w.Y) }

// Cross tells on which side of v the vector w lies: positive when w is counterclockwise from v.
func (v Vec2) Cross(w Vec2) float64 { return float64(v.X*w.Y) - float64(v.Y*w.X) }

// Add is for moving a point by a displacement.
func (v Vec2) Add(w Vec2) Vec2 { return Vec2{v.X + w.X, v.Y + w.Y} }

// Sub is for the displacement from w to v.
func (v Vec2) Sub(w Vec2) Vec2 { return Vec2{v.X - w.X, v.Y - w.Y} }

// Mul is for scaling: a velocity by a time, a direction by a distance.
func (v Vec2) Mul(s float64) Vec2 { return Vec2{float64(v.X * s), float64(v.Y * s)} }

// MulAdd is v + w*s, the step of every integrator, with the product rounded before the sum.
func (v Vec2) MulAdd(w Vec2, s float64) Vec2 {
	return Vec2{v.X + float64(w.X*s), v.Y + float64(w.Y*s)}
}

// Neg is for the opposite direction.
func (v Vec2) Neg() Vec2 { return Vec2{-v.X, -v.Y} }

// LenSq is for comparing distances without the cost of a root.
func (v Vec2) LenSq() float64 { return v.Dot(v) }

// Len is the length. It does not overflow or underflow where the result can be represented.
func (v Vec2) Len() float64 {
	s := v.Dot(v)
	if s > 1e-280 && s < 1e280 {
		return Sqrt(s)
	}
	return Hypot(v.X, v.Y)
}

// Unit is the direction of v: a vector of length one, or zero when v is zero or not finite.
func (v Vec2) Unit() Vec2 {
	u := Vec3{v.X, v.Y, 0}.Unit()
	return Vec2{u.X, u.Y}
}

// Lerp is the point at part t of the way from v to w: exactly v at 0 and exactly w at 1.
func (v Vec2) Lerp(w Vec2, t float64) Vec2 { return Vec2{Lerp(v.X, w.X, t), Lerp(v.Y, w.Y, t)} }

// Nearest is the point of the line from a to b that is nearest to v: what a wall or a road needs.
func (v Vec2) Nearest(a, b Vec2) Vec2 {
	way := b.Sub(a)
	l := way.LenSq()
	if l == 0 {
		return a // the line is a point
	}
	return a.Lerp(b, Clamp(v.Sub(a).Dot(way)/l, 0, 1))
}

// Perp is v turned a quarter counterclockwise.
func (v Vec2) Perp() Vec2 { return Vec2{-v.Y, v.X} }

// Rotate is v turned counterclockwise by a.
func (v Vec2) Rotate(a Angle) Vec2 {
	s, c := Sincos(float64(a))
	return Vec2{float64(v.X*c) - float64(v.Y*s), float64(v.X*s) + float64(v.Y*c)}
}

// Angle is the direction of v, counterclockwise from the X axis.
func (v Vec2) Angle() Angle { return Angle(Atan2(v.Y, v.X)) }

// ClampLen is v, shortened to length max where it is longer: a speed limit.
func (v Vec2) ClampLen(max float64) Vec2 {
	u := Vec3{v.X, v.Y, 0}.ClampLen(max)
	return Vec2{u.X, u.Y}
}

// Dot is for projections and angles between directions: |v||w|cos of the angle.
func (v Vec3) Dot(w Vec3) float64 {
	return float64(v.X*w.X) + float64(v.Y*w.Y) + float64(v.Z*w.Z)
}

// Cross is the vector at right angles to both, right-handed.
func (v Vec3) Cross(w Vec3) Vec3 {
	return Vec3{
		float64(v.Y*w.Z) - float64(v.Z*w.Y),
		float64(v.Z*w.X) - float64(v.X*w.Z),
		float64(v.X*w.Y) - float64(v.Y*w.X),
	}
}

// Add is for moving a point by a displacement.
func (v Vec3) Add(w Vec3) Vec3 { return Vec3{v.X + w.X, v.Y + w.Y, v.Z + w.Z} }

// Sub is for the displacement from w to v.
func (v Vec3) Sub(w Vec3) Vec3 { return Vec3{v.X - w.X, v.Y - w.Y, v.Z - w.Z} }

// Mul is for scaling: a velocity by a time, a direction by a distance.
func (v Vec3) Mul(s float64) Vec3 {
	return Vec3{float64(v.X * s), float64(v.Y * s), float64(v.Z * s)}
}

// MulAdd is v + w*s, the step of every integrator, with the product rounded before the sum.
func (v Vec3) MulAdd(w Vec3, s float64) Vec3 {
	return Vec3{v.X + float64(w.X*s), v.Y + float64(w.Y*s), v.Z + float64(w.Z*s)}
}

// Neg is for the opposite direction.
func (v Vec3) Neg() Vec3 { return Vec3{-v.X, -v.Y, -v.Z} }

// LenSq is for comparing distances without the cost of a root.
func (v Vec3) LenSq() float64 { return v.Dot(v) }

// Len is the length. It does not overflow or underflow where the result can be represented.
func (v Vec3) Len() float64 {
	s := v.Dot(v)
	if s > 1e-280 && s < 1e280 {
		return Sqrt(s)
	}
	return Hypot(Hypot(v.X, v.Y), v.Z)
}

// Unit is the direction of v: a vector of length one, or zero when v is zero or not finite.
func (v Vec3) Unit() Vec3 {
	if s := v.Dot(v); s > 1e-280 && s < 1e280 {
		l := Sqrt(s)
		return Vec3{v.X / l, v.Y / l, v.Z / l}
	}
	m := max(Abs(v.X), Abs(v.Y), Abs(v.Z))
	if m == 0 || m-m != 0 { // m-m is not zero for infinities and NaN
		return Vec3{}
	}
	// Squares would overflow or vanish: bring the largest part near one first.
	_, e := Frexp(m)
	w := Vec3{Ldexp(v.X, -e), Ldexp(v.Y, -e), Ldexp(v.Z, -e)}
	l := Sqrt(w.Dot(w))
	return Vec3{w.X / l, w.Y / l, w.Z / l}
}

// Lerp is the point at part t of the way from v to w: exactly v at 0 and exactly w at 1.
func (v Vec3) Lerp(w Vec3, t float64) Vec3 {
	return Vec3{Lerp(v.X, w.X, t), Lerp(v.Y, w.Y, t), Lerp(v.Z, w.Z, t)}
}

// ClampLen is v, shortened to length max where it is longer: a speed limit.
func (v Vec3) ClampLen(max float64) Vec3 {
	if !(v.Len() > max) {
		return v
	}
	return v.Unit().Mul(max)
}

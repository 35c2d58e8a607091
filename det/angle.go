package det

// Angle is a direction in the plane in radians, counterclockwise, for headings that wrap around.
type Angle float64

// Degrees makes an Angle of what a level designer writes.
func Degrees(d float64) Angle { return Angle(float64(d * (Pi / 180))) }

// Degrees is for showing an angle to people.
func (a Angle) Degrees() float64 { return float64(float64(a) * (180 / Pi)) }

// Wrap is the same direction, from -Pi up to but not including Pi. Infinities and NaN become 0, so
// that the result is always a direction.
func (a Angle) Wrap() Angle {
	x := float64(a)
	if x >= -Pi && x < Pi {
		return a
	}
	if x-x != 0 {
		return 0
	}
	// The remainder is exact; only the constant 2·Pi is rounded.
	m := Mod(x, 2*Pi)
	switch {
	case m >= Pi:
		m -= 2 * Pi
	case m < -Pi:
		m += 2 * Pi
	}
	return Angle(m)
}

// Sub is the shortest turn that leads from b to a, from -Pi up to but not including Pi.
func (a Angle) Sub(b Angle) Angle { return (a.Wrap() - b.Wrap()).Wrap() }

// Lerp is the direction at part t of the shortest turn from a to b.
func (a Angle) Lerp(b Angle, t float64) Angle {
	return Angle(float64(a) + float64(float64(b.Sub(a))*t)).Wrap()
}

// Toward turns from a in the direction of b by at most step: a turret that follows its target.
func (a Angle) Toward(b, step Angle) Angle {
	d := b.Sub(a)
	if d <= step && d >= -step {
		return b.Wrap()
	}
	if d < 0 {
		step = -step
	}
	return (a + step).Wrap()
}

// Vec is the unit vector in direction a.
func (a Angle) Vec() Vec2 {
	s, c := Sincos(float64(a))
	return Vec2{c, s}
}

package det

import "math"

// arcs holds atan(i/8).
var arcs = [9]double{
	{0, 0},
	{0x1.fd5ba9aac2f6ep-4, -0x1.cd37686760c17p-59},
	{0x1.f5b75f92c80ddp-3, 0x1.8ab6e3cf7afbdp-57},
	{0x1.6f61941e4def1p-2, -0x1.c63aae6f6e918p-56},
	{0x1.dac670561bb4fp-2, 0x1.a2b7f222f65e2p-56},
	{0x1.1e00babdefeb4p-1, -0x1.928df287a668fp-58},
	{0x1.4978fa3269ee1p-1, 0x1.2419a87f2a458p-56},
	{0x1.700a7c5784634p-1, -0x1.8c34d25aadef6p-56},
	{0x1.921fb54442d18p-1, 0x1.1a62633145c07p-55},
}

// Atan is the arc tangent, from -Pi/2 to Pi/2, within 0.6 ulp. Atan(±0) is ±0, Atan(±Inf) is ±Pi/2.
func Atan(x float64) float64 { return Atan2(x, 1) }

// Atan2 is the angle of the point (x, y), from -Pi to Pi, within 0.6 ulp (1 ulp where the result is
// subnormal). The result has the sign of y. On the axes and at infinity it is what the nearest
// points suggest: Atan2(±0, +0) is ±0, Atan2(±0, -0) is ±Pi, Atan2(±Inf, +Inf) is ±Pi/4. NaN gives
// NaN.
func Atan2(y, x float64) float64 {
	if x != x || y != y {
		return NaN()
	}
	a, b := Abs(y), Abs(x)
	var r double
	switch {
	case a == 0 || b > math.MaxFloat64 && a <= math.MaxFloat64:
		// along the x axis
	case b == 0 || a > math.MaxFloat64 && b <= math.MaxFloat64:
		r = quarter
	case a > math.MaxFloat64: // both
		r = arcs[8]
	default:
		_, ea := math.Frexp(a)
		_, eb := math.Frexp(b)
		switch {
		case ea-eb > 60 || eb-ea > 1000:
			// Too steep, or too flat, for the division below.
			if ea > eb {
				r = quarter
			} else if x > 0 {
				return math.Copysign(a/b, y)
			}
		case x > 0 && eb-ea > 30:
			return math.Copysign(a/b, y) // the cubic term is below half an ulp
		default:
			// Both near one, where products neither overflow nor vanish.
			r = octant(double{Ldexp(a, -max(ea, eb)), 0}, double{Ldexp(b, -max(ea, eb)), 0})
		}
	}
	if math.Signbit(x) {
		half := double{float64(2 * quarter.hi), float64(2 * quarter.lo)}
		r = half.add(r.neg())
	}
	return math.Copysign(r.value(), y)
}

// octant is the angle of a point of the first quadrant that is not the origin.
func octant(y, x double) double {
	if y.hi > x.hi {
		return quarter.add(octant(x, y).neg())
	}
	// With c near y/x, the angle is atan c + atan t, t = (y - c·x)/(x + c·y), |t| <= 1/16.
	i := int(float64(y.hi/x.hi*8) + 0.5)
	c := float64(float64(i) / 8)
	cx, cy := productOf(c, x.hi), productOf(c, y.hi)
	cx.lo += float64(c * x.lo)
	cy.lo += float64(c * y.lo)
	t := y.add(cx.neg()).div(x.add(cy))
	z := float64(t.hi * t.hi)
	p := -1.0 / 15
	p = 1.0/13 + float64(z*p)
	p = -1.0/11 + float64(z*p)
	p = 1.0/9 + float64(z*p)
	p = -1.0/7 + float64(z*p)
	p = 1.0/5 + float64(z*p)
	p = -1.0/3 + float64(z*p)
	cube := float64(float64(t.hi*z) * p)
	return arcs[i].add(fastSum(t.hi, t.lo+cube))
}

// Asin is the arc sine, from -Pi/2 to Pi/2, within 0.6 ulp. Asin(±0) is ±0; outside -1 to 1 the
// result is NaN.
func Asin(x float64) float64 {
	a := Abs(x)
	switch {
	case !(a <= 1):
		return NaN()
	case a < 0x1p-27:
		return x
	}
	return math.Copysign(octant(double{a, 0}, opposite(a)).value(), x)
}

// Acos is the arc cosine, from 0 to Pi, within 0.6 ulp. Outside -1 to 1 the result is NaN.
func Acos(x float64) float64 {
	a := Abs(x)
	if !(a <= 1) {
		return NaN()
	}
	if a == 1 {
		if x < 0 {
			return Pi
		}
		return 0
	}
	r := octant(opposite(a), double{a, 0})
	if x < 0 {
		half := double{float64(2 * quarter.hi), float64(2 * quarter.lo)}
		r = half.add(r.neg())
	}
	return r.value()
}

// opposite is the other side of a right triangle with hypotenuse 1: the root of 1-a².
func opposite(a float64) double {
	if a == 1 {
		return double{}
	}
	p := productOf(a, a)
	s := sumOf(1, -p.hi)
	return fastSum(s.hi, s.lo-p.lo).sqrt()
}

// Hypot is the length of (x, y), within 0.6 ulp (1 ulp where the result is subnormal), without
// overflow or underflow on the way. An infinity gives +Inf, even beside a NaN.
func Hypot(x, y float64) float64 {
	a, b := Abs(x), Abs(y)
	switch {
	case a > math.MaxFloat64 || b > math.MaxFloat64:
		return math.Inf(1)
	case a != a || b != b:
		return NaN()
	}
	if a < b {
		a, b = b, a
	}
	if b == 0 {
		return a
	}
	e := 0
	if a > 0x1p500 || b < 0x1p-450 {
		_, e = math.Frexp(a)
		a, b = Ldexp(a, -e), Ldexp(b, -e)
	}
	if b < float64(a*0x1p-60) {
		return Ldexp(a, e)
	}
	s := productOf(a, a).add(productOf(b, b)).sqrt().value()
	if e != 0 {
		return Ldexp(s, e)
	}
	return s
}

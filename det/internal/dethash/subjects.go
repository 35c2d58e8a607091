package main

import (
	"math"

	"github.com/coeval-dev/coeval/det"
)

// A digest is a hash of every result so far, in integers.
type digest uint64

func (h *digest) word(v uint64) {
	x := uint64(*h) ^ v
	x *= 0x9E3779B97F4A7C15
	*h = digest(x ^ x>>32)
}

// float takes the bits as they are: functions of det must give the one NaN.
func (h *digest) float(x float64) { h.word(math.Float64bits(x)) }

// plain is for results of the plain operators, whose NaNs differ between processors.
func (h *digest) plain(xs ...float64) {
	for _, x := range xs {
		h.float(det.Canon(x))
	}
}

func (h *digest) quat(q det.Quat) { h.plain(q.X, q.Y, q.Z, q.W) }
func (h *digest) vec(v det.Vec3)  { h.plain(v.X, v.Y, v.Z) }

// given makes the arguments.
type given struct{ r det.Rand }

// float is a number of any kind: all bits random, a common magnitude, a power of two with
// neighbours, or a special one.
func (g *given) float() float64 {
	switch g.r.IntN(8) {
	case 0, 1:
		return math.Float64frombits(g.r.Uint64())
	case 2, 3:
		return g.r.Range(-10, 10)
	case 4, 5:
		return g.r.Range(-1000, 1000)
	case 6:
		b := math.Float64bits(det.Ldexp(1, g.r.IntN(128)-64)) + g.r.Uint64N(5) - 2
		return math.Float64frombits(b)
	}
	return special[g.r.IntN(len(special))]
}

var special = []float64{
	0, math.Copysign(0, -1), 1, -1, det.Pi, -det.Pi, det.Pi / 2, det.Pi / 4, math.Inf(1),
	math.Inf(-1), math.NaN(),
	5e-324, -5e-324, 0x1p-1022, math.MaxFloat64, -math.MaxFloat64, 1 << 31, 1 << 32, 1 << 53,
	1 << 63, 1 << 64, 709.79, -745.14,
}

// unit is a number from -1 to 1, sometimes at the ends.
func (g *given) unit() float64 { return det.Clamp(g.r.Range(-1.1, 1.1), -1, 1) }

func (g *given) vec() det.Vec3 {
	if g.r.IntN(8) == 0 {
		return det.Vec3{X: g.float(), Y: g.float(), Z: g.float()}
	}
	return g.r.Unit3().Mul(g.r.Range(0, 100))
}

func (g *given) quat() det.Quat {
	if g.r.IntN(8) == 0 {
		return det.Quat{X: g.float(), Y: g.float(), Z: g.float(), W: g.float()}
	}
	return det.AxisAngle(g.r.Unit3(), g.r.Angle())
}

func (g *given) fixed() det.Fixed { return det.Fixed(g.r.Uint64()) >> g.r.IntN(48) }

// A subject is one function, or a family of small ones whose results go into one hash, which then
// needs fewer rounds.
type subject struct {
	name string
	run  func(h *digest, g *given)
}

// families names the subjects that take at least ten results a round.
var families = map[string]bool{
	"Angle": true, "Vec2": true, "Vec3": true, "Quat": true, "Euler": true, "Rand": true}

func one(name string, f func(float64) float64) subject {
	return subject{name, func(h *digest, g *given) { h.float(f(g.float())) }}
}

func two(name string, f func(x, y float64) float64) subject {
	return subject{name, func(h *digest, g *given) { h.float(f(g.float(), g.float())) }}
}

var subjects = []subject{
	one("Sin", det.Sin), one("Cos", det.Cos), one("Tan", det.Tan), one("Atan", det.Atan),
	{"Asin", func(h *digest, g *given) { h.float(det.Asin(g.unit())) }},
	{"Acos", func(h *digest, g *given) { h.float(det.Acos(g.unit())) }},
	one("Sqrt", det.Sqrt), one("Exp", det.Exp), one("Log", det.Log),
	one("Floor", det.Floor), one("Ceil", det.Ceil), one("Trunc", det.Trunc),
	one("Round", det.Round), one("Abs", det.Abs),
	two("Atan2", det.Atan2), two("Hypot", det.Hypot), two("Mod", det.Mod),
	{"Pow", func(h *digest, g *given) {
		h.float(det.Pow(g.float(), g.float()))
		h.float(det.Pow(g.r.Range(0, 9), g.r.Range(-300, 300)))
	}},
	{"Sincos", func(h *digest, g *given) {
		s, c := det.Sincos(g.float())
		h.float(s)
		h.float(c)
	}},
	{"Frexp", func(h *digest, g *given) {
		f, e := det.Frexp(g.float())
		h.float(f)
		h.word(uint64(e))
		h.float(det.Ldexp(g.float(), g.r.IntN(3000)-1500))
	}},
	{"convert", func(h *digest, g *given) {
		x := g.float()
		h.word(uint64(det.Int8(x)))
		h.word(uint64(det.Int16(x)))
		h.word(uint64(det.Int32(x)))
		h.word(uint64(det.Int64(x)))
		h.word(uint64(det.Uint8(x)))
		h.word(uint64(det.Uint16(x)))
		h.word(uint64(det.Uint32(x)))
		h.word(det.Uint64(x))
	}},
	{"Fixed", func(h *digest, g *given) {
		f, k := g.fixed(), g.fixed()
		h.word(uint64(f.Add(k)))
		h.word(uint64(f.Sub(k)))
		h.word(uint64(f.Mul(k)))
		h.word(uint64(f.Div(k)))
		h.word(uint64(f.Sqrt()))
		h.word(uint64(f.Round()))
		h.float(f.Float())
		h.word(uint64(det.FixedOf(g.float())))
	}},
	{"Angle", func(h *digest, g *given) {
		a, b := det.Angle(g.float()), g.r.Angle()
		h.plain(float64(a.Wrap()), float64(a.Sub(b)), float64(b.Lerp(a, g.unit())),
			float64(b.Toward(a, 0.1)), a.Degrees(),
			float64(det.Degrees(g.float())))
	}},
	{"Vec2", func(h *digest, g *given) {
		v := det.Vec2{X: g.r.Normal(), Y: g.r.Normal()}
		w := det.Vec2{X: g.float(), Y: g.float()}
		for _, r := range []det.Vec2{
			v.Add(w), v.Sub(w), v.Mul(w.X), v.MulAdd(w, v.X), w.Unit(), v.Lerp(w, v.X),
			v.Rotate(det.Angle(w.X)),
			w.ClampLen(3), v.Perp().Neg(), v.Mul(2.1).Add(w.Mul(0.3))} {
			h.plain(r.X, r.Y)
		}
		h.plain(v.Dot(w), v.Cross(w), w.Len(), w.LenSq(), float64(w.Angle()))
	}},
	{"Vec3", func(h *digest, g *given) {
		v, w := g.vec(), g.vec()
		for _, r := range []det.Vec3{
			v.Add(w), v.Sub(w), v.Mul(w.X), v.MulAdd(w, v.X), w.Unit(), v.Lerp(w, v.X), v.Cross(w),
			w.ClampLen(3),
			v.Neg(), v.Mul(2.1).Add(w.Mul(0.3))} {
			h.vec(r)
		}
		h.plain(v.Dot(w), w.Len(), w.LenSq())
	}},
	{"Quat", func(h *digest, g *given) {
		q, p, v := g.quat(), g.quat(), g.vec()
		for _, r := range []det.Quat{
			q.Mul(p), q.Unit(), q.Conj(), q.Nlerp(p, 0.3), q.Slerp(p, 0.7), q.Integrate(v, 1.0/60),
			det.AxisAngle(v, 0.1)} {
			h.quat(r)
		}
		h.vec(q.Rotate(v))
		axis, a := q.AxisAngle()
		h.vec(axis)
		h.plain(float64(a), q.Dot(p))
	}},
	{"Rand", func(h *digest, g *given) {
		h.word(g.r.Uint64())
		h.word(uint64(g.r.IntN(1000)))
		h.float(g.r.Float64())
		h.float(g.r.Range(-3, 7))
		h.float(g.r.Normal())
		h.vec(g.r.Unit3())
		u := g.r.Unit2()
		h.plain(u.X, u.Y, float64(g.r.Angle()))
		h.word(det.Draw(g.r.Uint64(), g.r.Uint64(), 5, 6))
		a := [5]int{0, 1, 2, 3, 4}
		g.r.Shuffle(5, func(i, j int) { a[i], a[j] = a[j], a[i] })
		for _, v := range a {
			h.word(uint64(v))
		}
	}},
	{"Euler", func(h *digest, g *given) {
		q, p, v := g.quat(), g.quat(), g.vec()
		e := q.Euler()
		h.plain(float64(e.Yaw), float64(e.Pitch), float64(e.Roll), float64(q.To(p)))
		h.quat(det.Euler{Yaw: det.Angle(v.X), Pitch: det.Angle(v.Y), Roll: det.Angle(v.Z)}.Quat())
		h.quat(det.TurnBy(v))
		h.quat(q.Spin(v, 1.0/60))
		h.vec(q.Turn())
	}},
}

package det

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

var (
	coordinate = rapid.Float64Range(-1e6, 1e6)
	drawVec2   = rapid.Custom(func(t *rapid.T) Vec2 {
		return Vec2{coordinate.Draw(t, "x"), coordinate.Draw(t, "y")}
	})
	drawVec3 = rapid.Custom(func(t *rapid.T) Vec3 {
		return Vec3{coordinate.Draw(t, "x"), coordinate.Draw(t, "y"), coordinate.Draw(t, "z")}
	})
	drawAngle = rapid.Custom(func(t *rapid.T) Angle {
		return Angle(rapid.Float64Range(-100, 100).Draw(t, "angle"))
	})
	drawQuat = rapid.Custom(func(t *rapid.T) Quat {
		return AxisAngle(drawVec3.Draw(t, "axis"), drawAngle.Draw(t, "turn"))
	})
)

func near(t *rapid.T, name string, got, want, margin float64) {
	t.Helper()
	if !(math.Abs(got-want) <= margin) {
		t.Fatalf("%s is %v, not %v", name, got, want)
	}
}

func near3(t *rapid.T, name string, got, want Vec3, margin float64) {
	t.Helper()
	near(t, name, got.Sub(want).Len(), 0, margin)
}

func TestVec2(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v, w, a := drawVec2.Draw(t, "v"), drawVec2.Draw(t, "w"), drawAngle.Draw(t, "a")
		size := v.Len() + w.Len() + 1e-300
		near(t, "turned length", v.Rotate(a).Len(), v.Len(), 1e-14*size)
		near(t, "dot of both turned", v.Rotate(a).Dot(w.Rotate(a)), v.Dot(w), 1e-14*size*size)
		near(t, "quarter turn", v.Rotate(Pi/2).Sub(v.Perp()).Len(), 0, 1e-14*size)
		near(t, "cross", v.Cross(w), v.Perp().Dot(w), 1e-14*size*size)
		near(t, "length of the sum of a part and the rest",
			v.MulAdd(w, 2).Sub(v.Add(w.Mul(2))).Len(), 0, 1e-14*size)
		if v.Lerp(w, 0) != v || v.Lerp(w, 1) != w {
			t.Fatal("Lerp misses its ends")
		}
		end := w.Add(v.Rotate(a))
		best, part := v.Nearest(w, end), rapid.Float64Range(0, 1).Draw(t, "part")
		if d := v.Sub(best).Len(); d > v.Sub(w.Lerp(end, part)).Len()+1e-14*size {
			t.Fatalf("from %v the nearest of %v and %v is not %v", v, w, end, best)
		}
		if v.Nearest(v, w) != v || v.Nearest(w, w) != w {
			t.Fatal("Nearest misses a point of the line")
		}
		if v != (Vec2{}) {
			near(t, "unit", v.Unit().Len(), 1, 1e-15)
			near(t, "angle of a direction", v.Angle().Vec().Sub(v.Unit()).Len(), 0, 1e-15)
		}
		limit := rapid.Float64Range(0, 100).Draw(t, "limit")
		near(t, "limited length", v.ClampLen(limit).Len(), min(limit, v.Len()), 1e-14*size)
		near(t, "neg", v.Add(v.Neg()).LenSq(), 0, 0)
	})
}

func TestVec3(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v, w := drawVec3.Draw(t, "v"), drawVec3.Draw(t, "w")
		size := v.Len() + w.Len() + 1e-300
		c := v.Cross(w)
		near(t, "cross against v", c.Dot(v), 0, 1e-14*size*size*size)
		near(t, "cross against w", c.Dot(w), 0, 1e-14*size*size*size)
		near(t, "Lagrange's identity", c.LenSq()+v.Dot(w)*v.Dot(w), v.LenSq()*w.LenSq(),
			1e-13*size*size*size*size)
		near3(t, "step", v.MulAdd(w, -3), v.Sub(w.Mul(3)), 1e-14*size)
		if v.Lerp(w, 0) != v || v.Lerp(w, 1) != w || v.Neg().Neg() != v {
			t.Fatal("Lerp misses its ends, or Neg its way back")
		}
		near(t, "limited length", v.ClampLen(5).Len(), min(5, v.Len()), 1e-14*size)
	})
}

func TestUnitAtTheExtremes(t *testing.T) {
	for _, s := range []float64{5e-324, 1e-310, 1e-200, 1, 1e200, math.MaxFloat64} {
		u := Vec3{s, -s, s}.Unit()
		if l := u.Len(); math.Abs(l-1) > 1e-15 {
			t.Errorf("direction of size %v has length %v", s, l)
		}
		if l := (Vec2{s, 0}).Unit(); l != (Vec2{1, 0}) {
			t.Errorf("direction of size %v is %v", s, l)
		}
		if q := (Quat{0, s, 0, 0}).Unit(); q != (Quat{Y: 1}) {
			t.Errorf("orientation of size %v is %v", s, q)
		}
		if l := (Vec3{0, 0, s}).Len(); l != s {
			t.Errorf("length %v is taken for %v", s, l)
		}
	}
	for _, v := range []Vec3{{}, {X: math.Inf(1)}, {Y: math.NaN()}} {
		if v.Unit() != (Vec3{}) {
			t.Errorf("%v has direction %v", v, v.Unit())
		}
		if (Quat{X: v.X, Y: v.Y}).Unit() != Identity {
			t.Errorf("%v is an orientation", v)
		}
	}
}

func TestAngle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawAngle.Draw(t, "a"), drawAngle.Draw(t, "b")
		w := a.Wrap()
		if !(w >= -Pi && w < Pi) || w.Wrap() != w {
			t.Fatalf("%v wraps to %v", a, w)
		}
		near(t, "direction after wrapping", a.Vec().Sub(w.Vec()).Len(), 0, 1e-13)
		d := a.Sub(b)
		if !(d >= -Pi && d < Pi) {
			t.Fatalf("difference %v", d)
		}
		near(t, "b turned by the difference", (b + d).Vec().Sub(a.Vec()).Len(), 0, 1e-13)
		near(t, "end of Lerp", b.Lerp(a, 1).Vec().Sub(a.Vec()).Len(), 0, 1e-13)
		step := Angle(rapid.Float64Range(0, 4).Draw(t, "step"))
		got := b.Toward(a, step)
		near(t, "turn taken", math.Abs(float64(got.Sub(b))),
			min(float64(step), math.Abs(float64(d))), 1e-13)
		near(t, "degrees", float64(Degrees(a.Degrees())), float64(a), 1e-13)
	})
	for _, x := range []float64{math.Inf(1), math.Inf(-1), math.NaN()} {
		if Angle(x).Wrap() != 0 {
			t.Errorf("%v wraps to %v", x, Angle(x).Wrap())
		}
	}
	if w := Angle(Pi).Wrap(); w != -Pi {
		t.Errorf("half a turn wraps to %v", w)
	}
}

func TestQuat(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q, p, v := drawQuat.Draw(t, "q"), drawQuat.Draw(t, "p"), drawVec3.Draw(t, "v")
		size := v.Len() + 1e-300
		near3(t, "turn by the product", q.Mul(p).Rotate(v), q.Rotate(p.Rotate(v)), 1e-14*size)
		near3(t, "there and back", q.Conj().Rotate(q.Rotate(v)), v, 1e-14*size)
		near(t, "turned length", q.Rotate(v).Len(), v.Len(), 1e-14*size)

		axis, turn := q.AxisAngle()
		if turn < 0 || turn > Pi {
			t.Fatalf("turn %v", turn)
		}
		near3(t, "from axis and angle", AxisAngle(axis, turn).Rotate(v), q.Rotate(v), 1e-13*size)

		x := rapid.Float64Range(0, 1).Draw(t, "part")
		s := q.Slerp(p, x)
		near(t, "length on the way", s.Dot(s), 1, 1e-14)
		between := func(a, b Quat) float64 {
			_, turn := b.Mul(a.Conj()).AxisAngle()
			return float64(turn)
		}
		near(t, "turn at part x", between(q, s), x*between(q, p), 1e-7)
		near3(t, "Slerp's end", q.Slerp(p, 1).Rotate(v), p.Rotate(v), 1e-8*size)
		near3(t, "Nlerp's end", q.Nlerp(p, 1).Rotate(v), p.Rotate(v), 1e-8*size)
		near3(t, "Nlerp's middle", q.Nlerp(p, 0.5).Rotate(v), q.Slerp(p, 0.5).Rotate(v), 1e-6*size)

		omega := drawVec3.Draw(t, "omega").Unit()
		once, twice := q.Integrate(omega, 1), q.Integrate(omega, 0.5).Integrate(omega, 0.5)
		near3(t, "two half steps", twice.Rotate(v), once.Rotate(v), 1e-13*size)
		near(t, "turn in a second", between(q, once), omega.Len(), 1e-12)
	})
	if q := AxisAngle(Vec3{Z: 9}, Pi/2).Rotate(Vec3{X: 1}).Sub(Vec3{Y: 1}).Len(); q > 1e-15 {
		t.Errorf("a quarter turn around Z is off by %v", q)
	}
	if AxisAngle(Vec3{}, 1) != Identity || Identity.Integrate(Vec3{}, 1) != Identity {
		t.Error("a turn around nothing is a turn")
	}
}

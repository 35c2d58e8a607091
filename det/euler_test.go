package det

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// The axes of the world as the body sees them, by the formula that simulators print.
func worldToBody(e Euler) [3]Vec3 {
	sy, cy := math.Sincos(float64(e.Yaw))
	sp, cp := math.Sincos(float64(e.Pitch))
	sr, cr := math.Sincos(float64(e.Roll))
	return [3]Vec3{
		{cp * cy, cp * sy, -sp},
		{sr*sp*cy - cr*sy, sr*sp*sy + cr*cy, sr * cp},
		{cr*sp*cy + sr*sy, cr*sp*sy - sr*cy, cr * cp},
	}
}

func TestEuler(t *testing.T) {
	pitches := rapid.OneOf(
		rapid.Float64Range(-Pi/2, Pi/2),
		rapid.SampledFrom([]float64{-Pi / 2, Pi / 2, 0, Pi/2 - 1e-9, 1e-9 - Pi/2}))
	rapid.Check(t, func(t *rapid.T) {
		e := Euler{drawAngle.Draw(t, "yaw"), Angle(pitches.Draw(t, "pitch")),
			drawAngle.Draw(t, "roll")}
		q := e.Quat()
		near(t, "length", q.Dot(q), 1, 1e-15)
		for i, row := range worldToBody(e) {
			axis := [3]Vec3{{X: 1}, {Y: 1}, {Z: 1}}[i]
			near3(t, "axis of the body", q.Rotate(axis), row, 1e-14)
		}
		back := q.Euler()
		if back.Yaw != back.Yaw.Wrap() || back.Roll != back.Roll.Wrap() ||
			Abs(float64(back.Pitch)) > Pi/2 {
			t.Fatalf("%v is out of bounds", back)
		}
		near(t, "way and back", float64(back.Quat().To(q)), 0, 4e-15)
		near(t, "pitch", float64(back.Pitch), float64(e.Pitch), 4e-15)
	})
}

func TestTurn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q, p := drawQuat.Draw(t, "q"), drawQuat.Draw(t, "p")
		near(t, "as a vector and back", float64(TurnBy(q.Turn()).To(q)), 0, 4e-15)
		near(t, "to itself", float64(q.To(q)), 0, 0)
		near(t, "to its negative", float64(q.To(Quat{-q.X, -q.Y, -q.Z, -q.W})), 0, 0)
		near(t, "way between", float64(q.To(p)), p.Mul(q.Conj()).Turn().Len(), 1e-14)
		v := drawVec3.Draw(t, "omega")
		omega := v.Mul(math.Pow(10, rapid.Float64Range(-16, -5).Draw(t, "size")))
		world := q.Rotate(omega)
		near(t, "spin of the body, seen from the world",
			float64(q.Spin(omega, 2).To(q.Integrate(world, 2))), 0, 1e-13)
	})
	for _, tiny := range []float64{1e-300, 1e-20, 1e-9} {
		if got := TurnBy(Vec3{Y: tiny}).Turn(); math.Abs(got.Y/tiny-1) > 1e-15 {
			t.Errorf("a turn by %v comes back as %v", tiny, got.Y)
		}
	}
	if Identity.Turn() != (Vec3{}) || TurnBy(Vec3{}) != Identity {
		t.Error("no turn is a turn")
	}
	if got := Identity.Spin(Vec3{X: math.Inf(1)}, 1); got != Identity {
		t.Errorf("an endless spin leads to %v", got)
	}
}

func TestLook(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f, d := drawVec3.Draw(t, "forward"), drawVec3.Draw(t, "down")
		q := Look(f, d)
		near(t, "length", q.Dot(q), 1, 1e-14)
		if f == (Vec3{}) {
			return
		}
		near3(t, "forward", q.Rotate(Vec3{X: 1}), f.Unit(), 1e-13)
		if d.Cross(f).Len() < 1e-6*d.Len()*f.Len() || d == (Vec3{}) {
			return
		}
		near(t, "level", q.Rotate(Vec3{Y: 1}).Dot(d.Unit()), 0, 1e-8)
		if q.Rotate(Vec3{Z: 1}).Dot(d) < 0 {
			t.Fatal("upside down")
		}
	})
	if got := Look(Vec3{X: -1}, Vec3{Z: 1}).Rotate(Vec3{Z: 1}); got.Sub(Vec3{Z: 1}).Len() > 1e-15 {
		t.Errorf("looking back, down is %v", got)
	}
	if Look(Vec3{}, Vec3{Z: 1}) != Identity {
		t.Error("looking nowhere is a turn")
	}
}

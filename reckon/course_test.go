package reckon

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/coeval-dev/coeval/det"
)

// The velocity and spin that a course gives are how its place and orientation change, and the
// acceleration how its velocity does.
func checkCourse(t *rapid.T, c Course, at float64) {
	const h = 1e-4
	before, mid, after := c.After(at-h), c.After(at), c.After(at+h)
	if d := after.Pos.Sub(before.Pos).Mul(1 / (2 * h)).Sub(mid.Vel).Len(); d > 1e-2 {
		t.Fatalf("%T: velocity is off by %v", c, d)
	}
	if d := after.Vel.Sub(before.Vel).Mul(1 / (2 * h)).Sub(mid.Accel).Len(); d > 1e-2 {
		t.Fatalf("%T: acceleration is off by %v", c, d)
	}
	turn := before.Facing.Conj().Mul(after.Facing).Turn().Mul(1 / (2 * h))
	if d := turn.Sub(mid.Spin).Len(); d > 1e-2 {
		t.Fatalf("%T: spin is off by %v", c, d)
	}
}

func TestCoursesAreSmooth(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		at := rapid.Float64Range(1, 9).Draw(t, "at")
		b := drawBody(t)
		b.Vel, b.Accel = b.Vel.Mul(0.1), b.Accel.Mul(0.1)
		b.Spin = b.Spin.Mul(0.2)
		f := Flight{Model(rapid.IntRange(int(Static), int(FVB)).Draw(t, "model")), b}
		checkCourse(t, f, at)
		arc := Arc{Start: b, Centre: b.Pos.Add(drawVec3(t, "centre", 50)),
			Rate: drawVec3(t, "rate", 0.3), Climb: 3}
		checkCourse(t, arc, at)
		checkCourse(t, Wing[Arc]{Leader: arc, Offset: drawVec3(t, "offset", 30),
			Turned: det.TurnBy(det.Vec3{Z: 0.3})}, at)
	})
}

func TestRoute(t *testing.T) {
	r := Route{Points: []det.Vec3{{}, {X: 10}, {X: 10, Y: 20}}, Speed: 2, Down: det.Vec3{Z: 1}}
	around := r
	around.Around = true
	for _, c := range []struct {
		route    Route
		at, x, y float64
		speed    float64
	}{
		{r, 0, 0, 0, 2}, {r, 4, 8, 0, 2}, {r, 5, 10, 0, 2}, {r, 10, 10, 10, 2}, {r, 15, 10, 20, 0},
		{r, 99, 10, 20, 0}, {r, -1, 0, 0, 2},
		{around, 15 + 22.3606797749979/4, 5, 10, 2}, {around, 30 + 22.3606797749979/2, 10, 20, 2},
		{Route{}, 5, 0, 0, 0}, {Route{Points: []det.Vec3{{X: 3}}}, 5, 3, 0, 0},
		{Route{Points: []det.Vec3{{X: 3}, {X: 3}}, Around: true, Speed: 1}, 5, 3, 0, 0},
	} {
		b := c.route.After(c.at)
		if d := b.Pos.Sub(det.Vec3{X: c.x, Y: c.y}).Len(); d > 1e-9 {
			t.Errorf("after %v s at %v, not (%v, %v)", c.at, b.Pos, c.x, c.y)
		}
		if d := b.Vel.Len() - c.speed; d > 1e-9 || d < -1e-9 {
			t.Errorf("after %v s going %v, not %v", c.at, b.Vel, c.speed)
		}
		if b.Vel != (det.Vec3{}) && b.Facing.Rotate(det.Vec3{X: 1}).Cross(b.Vel).Len() > 1e-9 {
			t.Errorf("after %v s it goes %v but faces %v", c.at, b.Vel, b.Facing.Euler())
		}
	}
}

func TestArcEnds(t *testing.T) {
	a := Arc{Start: Body{Pos: det.Vec3{X: 10}, Facing: det.Identity},
		Rate: det.Vec3{Z: det.Pi / 2}, Ends: 1}
	b := a.After(2) // a quarter of a circle in a second, then straight back along X
	want := det.Vec3{X: -5 * det.Pi, Y: 10}
	if b.Pos.Sub(want).Len() > 1e-9 || b.Spin.Len() != 0 {
		t.Errorf("it is at %v, not %v", b.Pos, want)
	}
}

// A patrol that keeps to its course is told once; one that leaves it is told again.
func TestCourseAsPledge(t *testing.T) {
	rules := Rules{Bounds: StandardBounds}
	route := Route{Points: []det.Vec3{{}, {X: 100}, {X: 100, Y: 100}}, Speed: 5, Around: true}
	var p Pledge[Route]
	updates := 0
	for tick := range 60 * 60 {
		now := time.Duration(tick) * time.Second / 60
		truth := route.After(now.Seconds())
		if tick >= 1800 {
			truth.Pos.Z += float64(tick-1800) / 600
		}
		if p.Check(&rules, now, &truth) != Kept {
			updates++
			next := route
			next.Points = append([]det.Vec3{truth.Pos}, truth.Pos.Add(truth.Vel.Mul(9)))
			next.Around = false
			if updates == 1 {
				next = route
			}
			p.Tell(&rules, now, next)
		}
		if tick == 1799 && updates != 1 {
			t.Errorf("%d updates of a patrol that did as it said", updates)
		}
	}
	if updates < 3 || updates > 60 {
		t.Errorf("%d updates of a patrol that left its way", updates)
	}
}

package reckon

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/coeval-dev/coeval/det"
)

// From three places of a body that speeds up evenly a history reckons it exactly, and from places
// on a line it goes straight on.
func TestTrackFollows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := Body{Pos: drawVec3(t, "pos", 100), Vel: drawVec3(t, "vel", 30),
			Accel: drawVec3(t, "accel", 3), Facing: det.Identity}
		var k Track
		var at time.Duration
		for range 3 {
			is := FVW.After(&b, at.Seconds())
			k.Add(at, is.Pos, is.Facing)
			at += time.Duration(rapid.IntRange(50, 400).Draw(t, "gap")) * time.Millisecond
		}
		got, want := k.At(at), FVW.After(&b, at.Seconds())
		if d := got.Pos.Sub(want.Pos).Len(); k.Order() == Second && d > 1e-6 {
			t.Fatalf("off by %v m", d)
		}
		if d := k.At(k.at[0]).Pos.Sub(k.pos[0]).Len(); d != 0 {
			t.Fatalf("off by %v m at once", d)
		}
	})
}

// What it takes a motion for decides the order and how errors go away.
func TestTrackChooses(t *testing.T) {
	const gap = 200 * time.Millisecond
	circle := func(rate float64) func(int) det.Vec3 {
		return func(i int) det.Vec3 {
			s, c := det.Sincos(rate * 0.2 * float64(i))
			return det.Vec3{X: 10 * c, Y: 10 * s}
		}
	}
	for _, c := range []struct {
		name  string
		at    func(i int) det.Vec3
		order Order
		by    Way
	}{
		{"rests", func(int) det.Vec3 { return det.Vec3{X: 3} }, First, Linear},
		{"goes straight", func(i int) det.Vec3 { return det.Vec3{X: float64(i)} }, First, Linear},
		{"curves", circle(1), Second, Spline},
		{"spins about", circle(10), First, Linear},
		{"turns back", func(i int) det.Vec3 { return det.Vec3{X: float64(i % 2)} }, First, Linear},
	} {
		var k Track
		for i := range 4 {
			k.Add(time.Duration(i)*gap, c.at(i), det.Identity)
		}
		how := k.Converge(time.Second / 60)
		if k.Order() != c.order || how.By != c.by || how.Ticks != 6 {
			t.Errorf("what %s: order %v, %v in %d ticks", c.name, k.Order(), how.By, how.Ticks)
		}
	}
}

func TestTrackTakesAnything(t *testing.T) {
	var k Track
	if got := k.At(time.Second); got.Facing != det.Identity || k.Converge(1) != (Converge{}) {
		t.Errorf("nothing is known, but it is at %v", got)
	}
	k.Add(time.Second, det.Vec3{X: 5}, det.Identity)
	k.Add(time.Second, det.Vec3{X: 9}, det.Identity) // the same time
	k.Add(0, det.Vec3{X: 9}, det.Identity)           // earlier
	if got := k.At(time.Hour).Pos.X; got != 5 || k.Known() != 1 {
		t.Errorf("from one place it is reckoned at %v", got)
	}
	k.Add(2*time.Second, det.Vec3{X: 7}, det.TurnBy(det.Vec3{Z: 1}))
	got := k.At(3 * time.Second)
	if d := got.Facing.To(det.TurnBy(det.Vec3{Z: 2})); got.Pos.X != 9 || d > 1e-12 {
		t.Errorf("from two places it is at %v, turned off by %v", got.Pos, d)
	}
}

// A history with its choice of order beats one that always takes the parabola where a body jerks
// about, and one that never does where it curves.
func TestChoiceOfOrderPays(t *testing.T) {
	run := func(rate float64) (chosen, first, second float64) {
		var k Track
		r := det.At(1, 2, 3)
		pos, heading := det.Vec3{}, 0.0
		var curve Body
		for tick := range 3000 {
			now := time.Duration(tick) * time.Second / 60
			if tick%12 == 0 {
				if rate == 0 {
					heading = r.Range(-3, 3)
				}
				k.Add(now, pos, det.Identity)
			}
			heading += rate / 60
			v := det.Angle(heading).Vec().Mul(6)
			pos = pos.Add(det.Vec3{X: v.X / 60, Y: v.Y / 60})
			if k.Known() < 3 {
				continue
			}
			age := (now - k.at[0]).Seconds()
			straight := k.pos[0].MulAdd(k.leg(0), age)
			curve = Body{Pos: k.pos[0], Vel: k.leg(0), Facing: det.Identity}
			curve.Accel = curve.Vel.Sub(k.leg(1)).Mul(5)
			curve.Vel = curve.Vel.MulAdd(curve.Accel, 0.1)
			bent := FVW.After(&curve, age)
			later := k.At(now)
			chosen += later.Pos.Sub(pos).Len()
			first += straight.Sub(pos).Len()
			second += bent.Pos.Sub(pos).Len()
		}
		return
	}
	if chosen, first, second := run(1.5); !(chosen < 0.5*first) || chosen > second*1.01 {
		t.Errorf("on a curve: chosen %v, straight %v, parabola %v", chosen, first, second)
	}
	if chosen, _, second := run(0); !(chosen < 0.9*second) {
		t.Errorf("jerking about: chosen %v, parabola %v", chosen, second)
	}
}

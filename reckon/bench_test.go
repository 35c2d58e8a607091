package reckon

import (
	"testing"

	"github.com/coeval-dev/coeval/codec"
	"github.com/coeval-dev/coeval/det"
)

func benchmarkNow(b *testing.B, o Options) {
	m := motion(b, bodyFields(), o)
	var h codec.History
	h.Add([]int32{1000, 2000, 300, 400, 5, 0}, 6)
	h.Add([]int32{700, 1600, 300, 410, 3, 0}, 8)
	h.Add([]int32{400, 1100, 300, 420, 1, 0}, 10)
	now := make([]int32, 6)
	b.ReportAllocs()
	for b.Loop() {
		m.Now(&h, now)
	}
}

// Two axes and a heading, six ticks on: stepped as the game does, in one go, and from places alone.
func BenchmarkNow(b *testing.B) {
	third := Ratio{1, 3}
	b.Run("each tick", func(b *testing.B) {
		benchmarkNow(b,
			Options{Axes: []Axis{{Name: "x", Velocity: "vx", Unit: third},
				{Name: "z", Velocity: "vz", Unit: third, Accel: Ratio{Num: -7}}, {Name: "yaw"}}})
	})
	b.Run("once", func(b *testing.B) {
		benchmarkNow(b,
			Options{Once: true,
				Axes: []Axis{
					{Name: "x", Velocity: "vx", Unit: third}, {
						Name: "z", Velocity: "vz", Unit: third, Accel: Ratio{Num: -7}}, {
						Name: "yaw"}}})
	})
	b.Run("watched", func(b *testing.B) {
		benchmarkNow(b,
			Options{Axes: []Axis{{Name: "x", Order: Second}, {Name: "z", Order: Second},
				{Name: "yaw"}}})
	})
}

func BenchmarkCheck(b *testing.B) {
	c := contract(b,
		Terms{Heartbeat: 60,
			Tolerances: []Tolerance{{[]string{"x", "z"}, 20}, {[]string{"yaw"}, 10}}})
	truth, reckoned := []int32{10, 20, 3, 4, 511, 1}, []int32{15, 25, 3, 4, -510, 1}
	var w Watch
	w.Sent(1)
	b.ReportAllocs()
	for b.Loop() {
		if c.Check(&w, 20, truth, reckoned) != Kept {
			b.Fatal("due")
		}
	}
}

func BenchmarkConverge(b *testing.B) {
	for name, way := range map[string]Way{
		"linear": Linear, "quadratic": Quadratic, "cubic": Cubic, "spline": Spline,
		"exponential": Exponential} {
		b.Run(name, func(b *testing.B) {
			c := Converge{By: way, Ticks: 10, Limit: det.FixedInt(1000)}
			truth := VecInt(10, 20, 30)
			var bl Blend
			b.ReportAllocs()
			for b.Loop() {
				bl.Correct(&c, State{Pos: VecInt(1, 2, 3)}, State{})
				bl.Tick(&c)
				bl.Show(&c, truth)
			}
		})
	}
}

// The same for an orientation.
func BenchmarkLean(b *testing.B) {
	for name, way := range map[string]Way{"linear": Linear, "spline": Spline} {
		b.Run(name, func(b *testing.B) {
			c := Converge{By: way, Ticks: 10}
			was := Heading{det.TurnBy(det.Vec3{X: 1, Y: 0.5}), det.Vec3{Z: 0.1}}
			var l Lean
			b.ReportAllocs()
			for b.Loop() {
				l.Correct(&c, was, Heading{Facing: det.Identity})
				l.Tick(&c)
				l.Show(&c, det.Identity)
			}
		})
	}
}

func TestNoAllocations(t *testing.T) {
	m := motion(t, bodyFields(),
		Options{Axes: []Axis{{Name: "x", Velocity: "vx"}, {Name: "yaw", Order: Second}}})
	k := contract(t, Terms{Tolerances: []Tolerance{{[]string{"x", "z"}, 20}}})
	c := Converge{By: Cubic, Ticks: 10}
	var w Watch
	var b Blend
	image, now := make([]int32, 6), make([]int32, 6)
	if n := testing.AllocsPerRun(100, func() {
		m.After(image, 7, now)
		k.Check(&w, 3, image, now)
		b.Correct(&c, State{Pos: VecInt(now[0], 0, 0)}, State{Pos: VecInt(1, 0, 0)})
		b.Tick(&c)
		b.Show(&c, Vec{})
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

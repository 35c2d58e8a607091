package client

import (
	"math"
	"testing"

	"github.com/coeval-dev/coeval/det"
)

// TestSightCovers compares how much of each pixel is in sight with what many points in it say.
func TestSightCovers(t *testing.T) {
	l := newLens(det.Vec2{X: 10, Y: 7}, 320, 180)
	for _, shape := range [][]det.Vec2{
		{{X: 8, Y: 5}, {X: 13.3, Y: 6.1}, {X: 9.2, Y: 9.7}},
		{{X: 9, Y: 5}, {X: 12, Y: 5}, {X: 12, Y: 8}, {X: 9, Y: 8}},
		{{X: -50, Y: 6.5}, {X: 70, Y: 3}, {X: 70, Y: 60}, {X: 10.01, Y: 7.3}}, // beyond the screen
		{{X: 8, Y: 9.7}, {X: 10, Y: 6.2}, {X: 12, Y: 9.9}, {X: 11, Y: 4}, {X: 9, Y: 4.2}},
	} {
		var m lightmap
		m.fit(&l)
		m.sight(shape)
		worst := 0.0
		for i, got := range m.seen {
			const n = 16
			in := 0
			for k := range n * n {
				at := det.Vec2{
					X: m.corner.X + (float64(i%m.wide)+(float64(k%n)+0.5)/n)/fineness,
					Y: m.corner.Y + (float64(i/m.wide)+(float64(k/n)+0.5)/n)/fineness}
				if inside(shape, at) {
					in++
				}
			}
			worst = max(worst, math.Abs(float64(got)-float64(in)/(n*n)))
		}
		if worst > 0.06 {
			t.Errorf("%v: off by %.3f", shape, worst)
		}
	}
}

// inside counts the lines to the right of a point.
func inside(shape []det.Vec2, at det.Vec2) (in bool) {
	for i, a := range shape {
		b := shape[(i+1)%len(shape)]
		if (a.Y > at.Y) != (b.Y > at.Y) && at.X < a.X+(at.Y-a.Y)/(b.Y-a.Y)*(b.X-a.X) {
			in = !in
		}
	}
	return in
}

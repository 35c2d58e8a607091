package bits

import (
	"math"
	"testing"

	"github.com/coeval-dev/coeval/det"
)

// The bits of a hundred thousand quantised values, on every machine: a compiler that fuses a
// product with a sum, or a conversion that differs, shows here.
func TestSameEverywhere(t *testing.T) {
	const want = 0xc0e9f29305cea2af
	h := uint64(14695981039346656037)
	add := func(values ...float64) {
		for _, x := range values {
			b := math.Float64bits(x)
			for range 8 {
				h = (h ^ b&0xff) * 1099511628211
				b >>= 8
			}
		}
	}
	d := definer{random: 1}
	draw := func() float64 { // any size from 2^-16 to 2^16, and now and then anything at all
		u := d.draw()
		if u%61 == 0 {
			x := math.Float64frombits(d.draw())
			if x != x {
				return math.NaN()
			}
			return x
		}
		x := math.Float64frombits(u>>12 | 0x3ff<<52)
		x *= math.Float64frombits((1023 - 16 + d.draw()%32) << 52)
		if u&1 != 0 {
			return -x
		}
		return x
	}
	var s Sync
	s.StartQuantise()
	for i := range 100_000 {
		n := 2 + i%15
		f, g, small, full := draw(), float32(draw()), draw(), draw()
		a := det.Angle(draw())
		u, v := det.Vec2{X: draw(), Y: draw()}, det.Vec3{X: draw(), Y: draw(), Z: draw()}
		fine, coarse := v, v
		q := det.Quat{X: draw(), Y: draw(), Z: draw(), W: draw()}
		s.Float(&f, -1000.3, 1000.7, 0.1)
		s.Float32(&g, -100, 100, 0.01)
		s.SmallFloat(&small, 2+i%7, 1+i%23)
		s.FullFloat(&full)
		s.Angle(&a, 1+i%31)
		s.Vec2(&u, -300, 300, 1.0/3)
		s.Vec3In(&v, det.Vec3{X: -1, Y: -20, Z: -3000}, det.Vec3{X: 1, Y: 20, Z: 3000}, 0.007)
		s.Direction(&fine, n)
		s.CoarseDirection(&coarse)
		s.Quat(&q, n)
		add(f, float64(g), small, full, float64(a), u.X, u.Y, v.X, v.Y, v.Z, fine.X, fine.Y, fine.Z,
			coarse.X, coarse.Y, coarse.Z, q.X, q.Y, q.Z, q.W)
	}
	if h != want {
		t.Errorf("the values hash to %#x, not to %#x", h, uint64(want))
	}
}

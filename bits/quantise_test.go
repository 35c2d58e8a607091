package bits

import (
	"math"
	"testing"

	"github.com/coeval-dev/coeval/det"
	"pgregory.net/rapid"
)

// wild draws any float there is, the awkward ones often.
func wild() *rapid.Generator[float64] {
	return rapid.OneOf(
		rapid.Custom(func(t *rapid.T) float64 {
			return math.Float64frombits(rapid.Uint64().Draw(t, "bits"))
		}),
		rapid.Float64Range(-2000, 2000),
		rapid.Float64Range(-2, 2),
		rapid.SampledFrom([]float64{0, math.Copysign(0, -1), math.NaN(), math.Inf(1), math.Inf(-1),
			math.MaxFloat64, -math.MaxFloat64,
			math.SmallestNonzeroFloat64, 1, -1, math.Pi, -math.Pi, 65536, -65536.5, 0x1p51,
			0x1p63}),
	)
}

func drawVec3(t *rapid.T) det.Vec3 {
	g := wild()
	return det.Vec3{X: g.Draw(t, "x"), Y: g.Draw(t, "y"), Z: g.Draw(t, "z")}
}

func drawQuat(t *rapid.T) det.Quat {
	g := wild()
	return det.Quat{X: g.Draw(t, "x"), Y: g.Draw(t, "y"), Z: g.Draw(t, "z"), W: g.Draw(t, "w")}
}

// quantised is what becomes of v, and fails the test unless that is what becomes of it again, bit
// for bit, and what a reader gets.
func quantised[T any](t *rapid.T, v T, sync func(*T, *Sync)) T {
	once := v
	var s Sync
	s.StartQuantise()
	sync(&once, &s)
	if s.Err() != nil {
		t.Fatal(s.Err())
	}
	twice := once
	s.StartQuantise()
	sync(&twice, &s)
	if !same(once, twice) {
		t.Fatalf("%v becomes %v and then %v", v, once, twice)
	}
	w := NewWriter(make([]byte, 64))
	s.StartWrite(w)
	was := v
	sync(&v, &s)
	if s.Err() != nil || !same(v, was) {
		t.Fatalf("writing %v makes it %v, error %v", was, v, s.Err())
	}
	var read T
	r := NewReader(w.Bytes())
	s.StartRead(r)
	sync(&read, &s)
	if s.Err() != nil || r.Finish() != nil || !same(read, once) {
		t.Fatalf("%v is read, not %v, error %v", read, once, s.Err())
	}
	return once
}

func finite(x float64) bool { return x-x == 0 }

func TestFloat(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		res := rapid.Float64Range(1e-3, 10).Draw(t, "resolution")
		if rapid.Bool().Draw(t, "power of two") {
			res = math.Ldexp(1, rapid.IntRange(-12, 4).Draw(t, "exponent"))
		}
		lo := rapid.Float64Range(-5000, 5000).Draw(t, "min")
		hi := lo + rapid.Float64Range(0, 10000).Draw(t, "span")
		x := rapid.OneOf(wild(), rapid.Float64Range(lo, hi),
			rapid.SampledFrom([]float64{lo, hi})).Draw(t, "x")
		got := quantised(t, x, func(p *float64, s *Sync) { s.Float(p, lo, hi, res) })
		if !(got >= lo && got <= hi) {
			t.Fatalf("%v is outside", got)
		}
		want := min(max(x, lo), hi)
		if x != x {
			want = min(max(0, lo), hi)
		}
		if e := math.Abs(got - want); e > res/2*(1+2e-6) {
			t.Fatalf("%v becomes %v, wrong by %v of a resolution of %v", x, got, e, res)
		}
		if lo <= 0 && hi >= 0 &&
			quantised(t, 0.0, func(p *float64, s *Sync) { s.Float(p, lo, hi, res) }) != 0 {
			t.Fatal("zero is not exact")
		}
	})
}

func TestFloatOfManySteps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		res := rapid.SampledFrom([]float64{0.001, 1.0 / 3, 1, 1e-9, 1e9}).Draw(t, "resolution")
		end := res * (math.MaxInt32 - 0.5)
		x := rapid.Float64Range(-end, end).Draw(t, "x")
		got := quantised(t, x, func(p *float64, s *Sync) { s.Float(p, -end, end, res) })
		if e := math.Abs(got - x); e > res/2*(1+2e-6) {
			t.Fatalf("%v becomes %v, wrong by %v of a resolution of %v", x, got, e, res)
		}
	})
}

func TestFloat32(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		res := float32(rapid.Float64Range(1e-2, 10).Draw(t, "resolution"))
		end := res * float32(rapid.IntRange(1, 1<<22-1).Draw(t, "steps"))
		x := float32(rapid.OneOf(wild(), rapid.Float64Range(-float64(end), float64(end))).Draw(t,
			"x"))
		got := quantised(t, x, func(p *float32, s *Sync) { s.Float32(p, -end, end, res) })
		want := min(max(x, -end), end)
		if x != x {
			want = 0
		}
		ulp := float64(math.Nextafter32(float32(math.Abs(float64(got))),
			math.MaxFloat32)) - math.Abs(float64(got))
		if e := math.Abs(float64(got) - float64(want)); e > float64(res)/2*(1+2e-6)+ulp/2 {
			t.Fatalf("%v becomes %v, wrong by %v of a resolution of %v", x, got, e, res)
		}
	})
}

func TestFullFloats(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := wild().Draw(t, "x")
		got := quantised(t, x, func(p *float64, s *Sync) { s.FullFloat(p) })
		if want := brought(x, math.MaxFloat64); !same(got, want) {
			t.Fatalf("%v becomes %v", x, got)
		}
		x32 := float32(x)
		got32 := quantised(t, x32, func(p *float32, s *Sync) { s.FullFloat32(p) })
		if want := float32(brought(float64(x32), math.MaxFloat32)); !same(got32, want) {
			t.Fatalf("%v becomes %v", x32, got32)
		}
	})
}

func brought(x, most float64) float64 {
	if x != x {
		return 0
	}
	return min(max(x, -most), most)
}

func TestSmallFloat(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := rapid.IntRange(2, 8).Draw(t, "exponent")
		m := rapid.IntRange(1, 23).Draw(t, "mantissa")
		bias := 1<<(e-1) - 1
		largest := math.Ldexp(2-math.Ldexp(1, -m), 1<<e-1-bias)
		normal := math.Ldexp(1, 1-bias)
		x := rapid.OneOf(wild(), rapid.Float64Range(-2*normal, 2*normal),
			rapid.Float64Range(-largest, largest)).Draw(t, "x")
		got := quantised(t, x, func(p *float64, s *Sync) { s.SmallFloat(p, e, m) })
		want := brought(x, largest)
		if err := math.Abs(got - want); err > math.Ldexp(max(math.Abs(want), normal), -m-1) {
			t.Fatalf("%v becomes %v, wrong by %v", x, got, err)
		}
		if got == 0 && math.Signbit(got) {
			t.Fatal("minus zero")
		}
	})
}

// Consecutive numbers of a small float are consecutive values.
func TestSmallFloatInOrder(t *testing.T) {
	last := math.Inf(-1)
	for k := int32(-32767); k <= 32767; k++ {
		x := smallValue(k, 5, 10)
		if x <= last || smallStep(x, 5, 10) != k {
			t.Fatalf("number %d is %v after %v, and back %d", k, x, last, smallStep(x, 5, 10))
		}
		last = x
	}
	if last != 131008 {
		t.Errorf("the largest is %v", last)
	}
}

func TestAngle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 31).Draw(t, "bits")
		x := wild().Draw(t, "x")
		got := float64(quantised(t, det.Angle(x), func(p *det.Angle, s *Sync) { s.Angle(p, n) }))
		if !(got >= -math.Pi && got < math.Pi) {
			t.Fatalf("%v is outside", got)
		}
		if !finite(x) {
			if got != 0 {
				t.Fatalf("%v becomes %v", x, got)
			}
			return
		}
		e := math.Abs(math.Remainder(got-math.Remainder(x, 2*math.Pi), 2*math.Pi))
		if most := math.Pi / math.Ldexp(1, n) * 1.01; e > most {
			t.Fatalf("%v becomes %v, wrong by %v, not %v", x, got, e, most)
		}
	})
}

func TestVectors(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := drawVec3(t)
		lo, hi := det.Vec3{X: -10, Y: 0.03, Z: -3000}, det.Vec3{X: 10, Y: 77, Z: -1}
		got := quantised(t, v, func(p *det.Vec3, s *Sync) { s.Vec3In(p, lo, hi, 0.1) })
		for _, c := range [][4]float64{
			{v.X, lo.X, hi.X, got.X}, {v.Y, lo.Y, hi.Y, got.Y}, {v.Z, lo.Z, hi.Z, got.Z}} {
			x := c[0]
			if x != x {
				x = 0
			}
			if want := min(max(x, c[1]), c[2]); math.Abs(c[3]-want) > 0.05*(1+2e-6) ||
				c[3] < c[1] || c[3] > c[2] {
				t.Fatalf("%v becomes %v", v, got)
			}
		}
		// The shorter forms are the same with one range for all.
		box := quantised(t, v, func(p *det.Vec3, s *Sync) { s.Vec3(p, -10, 10, 0.1) })
		flat := quantised(t, det.Vec2{X: v.X, Y: v.Y},
			func(p *det.Vec2, s *Sync) { s.Vec2(p, -10, 10, 0.1) })
		rect := quantised(t, det.Vec2{X: v.X, Y: v.Y}, func(p *det.Vec2, s *Sync) {
			s.Vec2In(p, det.Vec2{X: -10, Y: -10}, det.Vec2{X: 10, Y: 10}, 0.1)
		})
		one := quantised(t, v.X, func(p *float64, s *Sync) { s.Float(p, -10, 10, 0.1) })
		if !same(box.X, one) || !same(flat, rect) || !same(flat, det.Vec2{X: box.X, Y: box.Y}) {
			t.Fatalf("%v becomes %v, %v, %v, %v", v, box, flat, rect, one)
		}
	})
}

// between is the angle between two vectors, exact for small ones.
func between(a, b det.Vec3) float64 {
	ax := max(math.Abs(a.X), math.Abs(a.Y), math.Abs(a.Z))
	a = det.Vec3{X: a.X / ax, Y: a.Y / ax, Z: a.Z / ax}
	cx, cy, cz := a.Y*b.Z-a.Z*b.Y, a.Z*b.X-a.X*b.Z, a.X*b.Y-a.Y*b.X
	return math.Atan2(math.Sqrt(cx*cx+cy*cy+cz*cz), a.X*b.X+a.Y*b.Y+a.Z*b.Z)
}

func unitLength(v det.Vec3) bool {
	return math.Abs(v.X*v.X+v.Y*v.Y+v.Z*v.Z-1) < 1e-15*4
}

func TestDirection(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 16).Draw(t, "bits")
		v := rapid.OneOf(rapid.Custom(drawVec3), rapid.Custom(func(t *rapid.T) det.Vec3 {
			g := rapid.Float64Range(-1, 1)
			return det.Vec3{X: g.Draw(t, "x"), Y: g.Draw(t, "y"), Z: g.Draw(t, "z")}
		})).Draw(t, "vector")
		fine := quantised(t, v, func(p *det.Vec3, s *Sync) { s.Direction(p, n) })
		coarse := quantised(t, v, func(p *det.Vec3, s *Sync) { s.CoarseDirection(p) })
		if !unitLength(fine) || !unitLength(coarse) {
			t.Fatalf("not of length one: %v, %v", fine, coarse)
		}
		if !finite(v.X) || !finite(v.Y) || !finite(v.Z) || v == (det.Vec3{}) {
			if up := (det.Vec3{Z: 1}); fine != up || coarse != up {
				t.Fatalf("%v becomes %v, %v", v, fine, coarse)
			}
			return
		}
		m := math.Ldexp(1, n-1) - 1
		if e := between(v, fine); e > 2.2/m {
			t.Fatalf("%v becomes %v, wrong by %v/%v", v, fine, e*m, m)
		}
		if e := between(v, coarse) * 180 / math.Pi; e > 13.3 {
			t.Fatalf("%v becomes %v, wrong by %v degrees", v, coarse, e)
		}
	})
}

// Every number that a reader accepts is the one that a writer gives to its vector.
func TestDirectionForms(t *testing.T) {
	for n := 2; n <= 7; n++ {
		m := int32(1)<<(n-1) - 1
		for u := -m; u <= m; u++ {
			for w := -m; w <= m; w++ {
				canonical := !(abs(u) == m && w < 0 || abs(w) == m && u < 0)
				v := fold(u, w, m)
				var s Sync
				gu, gw := unfold(s.unit(nil, KindDirection, v), m)
				if (gu == u && gw == w) != canonical || !same(fold(gu, gw, m), v) {
					t.Fatalf("%d bits: %d, %d is %v and back %d, %d", n, u, w, v, gu, gw)
				}
			}
		}
	}
}

// turnBetween is the angle of the turn from one orientation to another.
func turnBetween(a, b det.Quat) float64 {
	most := max(math.Abs(a.X), math.Abs(a.Y), math.Abs(a.Z), math.Abs(a.W))
	a = det.Quat{X: a.X / most, Y: a.Y / most, Z: a.Z / most, W: a.W / most}
	length := math.Sqrt(a.X*a.X + a.Y*a.Y + a.Z*a.Z + a.W*a.W)
	a = det.Quat{X: a.X / length, Y: a.Y / length, Z: a.Z / length, W: a.W / length}
	if a.X*b.X+a.Y*b.Y+a.Z*b.Z+a.W*b.W < 0 {
		b = det.Quat{X: -b.X, Y: -b.Y, Z: -b.Z, W: -b.W}
	}
	x, y, z, w := a.X-b.X, a.Y-b.Y, a.Z-b.Z, a.W-b.W
	return 4 * math.Asin(min(math.Sqrt(x*x+y*y+z*z+w*w)/2, 1))
}

func TestQuat(t *testing.T) {
	// where all components are nearly the same is where it goes wrong
	near := rapid.Float64Range(0.45, 0.55)
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 16).Draw(t, "bits")
		q := rapid.OneOf(rapid.Custom(drawQuat), rapid.Custom(func(t *rapid.T) det.Quat {
			return det.Quat{
				X: near.Draw(t, "x"), Y: -near.Draw(t, "y"), Z: near.Draw(t, "z"),
				W: near.Draw(t, "w")}
		}), rapid.Custom(func(t *rapid.T) det.Quat {
			g := rapid.Float64Range(-1, 1)
			return det.Quat{
				X: g.Draw(t, "x"), Y: g.Draw(t, "y"), Z: g.Draw(t, "z"), W: g.Draw(t, "w")}
		})).Draw(t, "quaternion")
		got := quantised(t, q, func(p *det.Quat, s *Sync) { s.Quat(p, n) })
		if math.Abs(got.X*got.X+got.Y*got.Y+got.Z*got.Z+got.W*got.W-1) > 1e-15*4 {
			t.Fatalf("%v is not of length one", got)
		}
		if !finite(q.X) || !finite(q.Y) || !finite(q.Z) || !finite(q.W) || q == (det.Quat{}) {
			if got != (det.Quat{W: 1}) {
				t.Fatalf("%v becomes %v", q, got)
			}
			return
		}
		m := math.Ldexp(1, n-1) - 1
		if e := turnBetween(q, got); e > 2.6/m {
			t.Fatalf("%v becomes %v, wrong by %v/%v", q, got, e*m, m)
		}
	})
}

// Every form that a reader accepts is the one that a writer gives, and there is one for each
// orientation.
func TestQuatForms(t *testing.T) {
	for n := 2; n <= 5; n++ {
		m := int32(1)<<(n-1) - 1
		accepted := 0
		for i := int32(0); i < 4; i++ {
			for a := -m; a <= m; a++ {
				for b := -m; b <= m; b++ {
					for c := -m; c <= m; c++ {
						k := [4]int32{i, a, b, c}
						q, ok := fromSmallestThree(&k, m)
						if !ok {
							continue
						}
						accepted++
						var s Sync
						if back := s.smallestThree(nil,
							det.Quat{X: q[0], Y: q[1], Z: q[2], W: q[3]}, m); back != k {
							t.Fatalf("%d bits: %v is %v and back %v", n, k, q, back)
						}
					}
				}
			}
		}
		if accepted == 0 {
			t.Fatal("nothing tried")
		}
	}
}

func TestIntegers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.Int64().Draw(t, "a"), rapid.Int64().Draw(t, "b")
		lo, hi := min(a, b), max(a, b)
		v := rapid.Int64().Draw(t, "v")
		if got := quantised(t, v,
			func(p *int64, s *Sync) { s.Int64(p, lo, hi) }); got != min(max(v, lo), hi) {
			t.Fatalf("%d becomes %d in %d..%d", v, got, lo, hi)
		}
		ua, ub, u := uint64(a), uint64(b), uint64(v)
		ulo, uhi := min(ua, ub), max(ua, ub)
		if got := quantised(t, u,
			func(p *uint64, s *Sync) { s.Uint64(p, ulo, uhi) }); got != min(max(u, ulo), uhi) {
			t.Fatalf("%d becomes %d in %d..%d", u, got, ulo, uhi)
		}
		type own uint64
		if got := quantised(t, own(u),
			func(p *own, s *Sync) {
				Integer(s, p, own(ulo), own(uhi))
			}); got != min(max(own(u), own(ulo)), own(uhi)) {
			t.Fatalf("%d becomes %d in %d..%d", u, got, ulo, uhi)
		}
		l8, h8, v8 := int8(lo>>56), int8(hi>>56), int8(v)
		if got := quantised(t, v8,
			func(p *int8, s *Sync) { s.Int8(p, l8, h8) }); got != min(max(v8, l8), h8) {
			t.Fatalf("%d becomes %d in %d..%d", v8, got, l8, h8)
		}
		count := rapid.IntRange(1, 300).Draw(t, "count")
		if got := quantised(t, v,
			func(p *int64, s *Sync) { Enum(s, p, count) }); got != min(max(v, 0), int64(count-1)) {
			t.Fatalf("%d becomes %d of %d", v, got, count)
		}
		if got := quantised(t, v, func(p *int64, s *Sync) { s.Varint(p) }); got != v {
			t.Fatalf("%d becomes %d", v, got)
		}
		if got := quantised(t, u, func(p *uint64, s *Sync) { s.Uvarint(p) }); got != u {
			t.Fatalf("%d becomes %d", u, got)
		}
	})
}

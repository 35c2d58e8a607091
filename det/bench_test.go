package det

import "testing"

var (
	sinkFloat float64
	sinkWord  uint64
)

func BenchmarkFunctions(b *testing.B) {
	xs := make([]float64, 1024)
	r := At(1, 2, 3)
	for i := range xs {
		xs[i] = r.Range(0.01, 10)
	}
	for _, f := range []struct {
		name string
		fn   func(float64) float64
	}{
		{"Sin", Sin}, {"Cos", Cos}, {"Tan", Tan}, {"Atan", Atan}, {"Sqrt", Sqrt}, {"Exp", Exp}, {
			"Log", Log},
		{"Asin", func(x float64) float64 { return Asin(x / 10) }},
		{"Acos", func(x float64) float64 { return Acos(x / 10) }},
		{"Pow", func(x float64) float64 { return Pow(x, 2.5) }},
		{"Atan2", func(x float64) float64 { return Atan2(x, 2.5) }},
		{"Hypot", func(x float64) float64 { return Hypot(x, 2.5) }},
		{"Mod", func(x float64) float64 { return Mod(x, 0.3) }},
		{"SinOfLarge", func(x float64) float64 { return Sin(x * 1e12) }},
	} {
		b.Run(f.name, func(b *testing.B) {
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				sinkFloat = f.fn(xs[i&1023])
				i++
			}
		})
	}
}

func BenchmarkQuat(b *testing.B) {
	q, p, v := AxisAngle(Vec3{1, 2, 3}, 1), AxisAngle(Vec3{3, 2, 1}, 2), Vec3{4, 5, 6}
	for name, fn := range map[string]func(){
		"Mul": func() { q = q.Mul(p) }, "Rotate": func() { v = q.Rotate(v) }, "Slerp": func() {
			q = q.Slerp(p, 0.1)
		},
		"Integrate": func() { q = q.Integrate(v.Unit(), 1.0/60) },
		"Spin":      func() { q = q.Spin(v.Unit(), 1.0/60) },
		"Euler":     func() { q = q.Euler().Quat() },
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				fn()
			}
		})
	}
}

func BenchmarkRand(b *testing.B) {
	b.Run("Draw", func(b *testing.B) {
		b.ReportAllocs()
		for i := uint64(0); b.Loop(); i++ {
			sinkWord = Draw(1, i, 3, 4)
		}
	})
	r := At(1, 2, 3)
	b.Run("Uint64", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			sinkWord = r.Uint64()
		}
	})
	b.Run("Normal", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			sinkFloat = r.Normal()
		}
	})
}

func BenchmarkFixed(b *testing.B) {
	f, g := FixedOf(1234.567), FixedOf(-0.789)
	b.Run("Mul", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			sinkWord = uint64(f.Mul(g))
		}
	})
	b.Run("Sqrt", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			sinkWord = uint64(f.Sqrt())
		}
	})
}

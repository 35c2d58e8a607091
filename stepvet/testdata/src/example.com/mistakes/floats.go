package mistakes

import (
	"math"
	"math/cmplx"

	"example.com/det"
	"example.com/dice"
	"example.com/world"
)

type vec struct{ X, Y float64 }

func (v vec) add(w vec) vec       { return vec{v.X + w.X, v.Y + w.Y} }
func (v vec) scale(k float64) vec { return vec{v.X * k, v.Y * k} }
func (v vec) flip() vec           { return vec{Y: -v.Y, X: -v.X}.same() }
func (v vec) same() vec           { return v }
func mul(x, y float64) float64    { return x * y }
func add(x, y float64) float64    { return x + y }
func lots(xs ...float64) (s float64) {
	for _, x := range xs {
		s += x
	}
	return s
}
func both(x, y float64) (p, q float64) { p = x * y; q = x; return }

type number interface{ ~float32 | ~float64 }

func blend[T number](a, b, t T) T { return a + (b-a)*t } // want `the product may be fused with the sum on arm64 and newer amd64, which rounds once instead of twice; write T\(\(b - a\) \* t\).*\[fuse\]`

func (b *Ball) products(w *world.World, dt float64) {
	b.X = b.X + b.VX*dt         // want `write float64\(b.VX \* dt\)`
	b.Y += b.VY * dt            // want `write float64\(b.VY \* dt\)`
	b.Spin = 1 - b.VX*b.VY      // want `\[fuse\]`
	b.Spin = -(b.VX * dt) + b.Y // want `\[fuse\]`
	l := b.X*b.X + b.Y*b.Y      // want `write float64\(b.X \* b.X\) and float64\(b.Y \* b.Y\)`
	m := b.X*dt + l             // want `\[fuse\]`
	d := float64(b.X/3) + m*0.1 // want `float64\(m \* 0.1\)`
	_ = d

	b.VX *= 0.9 // want `may be fused with the sum in line 43.*write b.VX = float64\(b.VX \* 0.9\)`
	b.X += b.VX
	p := b.VY * dt // want `may be fused with the sum in line 45`
	b.Y = p + 1
	q := b.VY * dt // want `may be fused with the sum in line 47`
	q++
	a := [2]float64{b.X * dt, 1} // want `in line 49`
	b.X = a[0] - a[1]
	for _, x := range a {
		b.Y += x // the element may be a product, and the loop keeps it in memory
	}

	b.X = mul(b.X, dt) + 1 // want `mul gives a product that is not rounded, and it may be fused with the sum.*write float64\(mul\(b.X, dt\)\)`
	b.X = add(b.X*dt, 1)   // want `may be fused with a sum inside add`
	r, s := both(b.X, dt)  // want `both gives a product`
	b.X = r + s
	f := func(x, y float64) float64 { return x * y }
	b.X = f(b.X, dt) + 1 // want `f gives a product`

	v, u := vec{b.X, b.Y}, vec{b.VX, b.VY}
	v = v.add(u.scale(dt))            // want `u.scale gives a product that is not rounded, and it may be fused with a sum inside v.add`
	v = v.add(vec{u.X * dt, u.Y * 3}) // want `float64\(u.X \* dt\) and float64\(u.Y \* 3\)`
	v = v.add(u.scale(dt).flip())     // want `u.scale gives a product`
	t := det.Vec2{X: u.X * dt, Y: 1}  // want `may be fused with a sum inside \(det.Vec2{}\).Add, called in line 66`
	t = (det.Vec2{}).Add(t.Neg())
	b.X = dice.Mul(b.X, dt) + 1 // want `dice.Mul gives a product`
	b.X = dice.Sum(1, b.X*dt)   // want `a sum inside dice.Sum`
	_ = blend(b.X, b.Y, dt)
	_ = lots(1, 2)

	c := complex(b.X, b.Y)
	c *= c            // want `a product of complex numbers.*\[fuse\]`
	b.X = real(c / c) // want `a product of complex numbers`
}

func (b *Ball) maths() {
	b.X = math.Sin(b.X)  // want `math.Sin gives other bits on other processors; use det.Sin .*\[math\]`
	b.X = math.Exp(b.X)  // want `use det.Exp`
	b.X = math.Tanh(b.X) // want `build it from the functions of det`
	f := math.Pow        // want `use det.Pow`
	b.X = f(b.X, 2)
	b.X = cmplx.Abs(complex(b.X, 0)) // want `math/cmplx.Abs`
}

type cell int32

func (b *Ball) whole() {
	b.Hits = int(b.X)                 // want `b.X may not fit int, and then each kind of processor gives another number; write int\(det.Int32\(b.X\)\), or clamp it first.*\[convert\]`
	_ = uint8(b.X / 4)                // want `write det.Uint8\(b.X / 4\)`
	_ = cell(math.Floor(b.X))         // want `write cell\(det.Int32\(math.Floor\(b.X\)\)\)`
	_ = uint8(det.Clamp(b.X, 0, 300)) // want `may not fit uint8`
	_ = uint32(det.Sin(b.X))          // want `may not fit uint32`
	if b.X > 0 {
		b.Hits = int(b.X) // want `may not fit int`
	}
	switch {
	case b.X < 0:
		b.Hits = 0
	case b.Y > 10:
		b.Hits = int(b.X) // want `may not fit int`
	}
	if b.X < 0 || b.X > 10 {
		b.Hits = int(b.X) // want `may not fit int`
	}
	x := det.Clamp(b.X, 0, 10)
	if b.Hits > 3 {
		x = b.X
	}
	b.Hits = int(x)                         // want `may not fit int`
	b.Hits = int(1 / det.Clamp(b.X, 0, 10)) // want `may not fit int`
}

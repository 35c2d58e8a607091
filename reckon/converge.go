package reckon

import (
	"math/bits"

	"github.com/coeval-dev/coeval/det"
)

// Blend removes an error from what is shown: a receiver keeps one for each entity, or one for its
// place and one for its heading. It holds by how much what is shown differs from what is known, and
// lets that go to nothing. The zero value shows the truth.
type Blend struct {
	from, slope Vec   // the difference and its change a tick, at the last correction
	t           int32 // ticks since then
}

// Converge says how errors go away. All entities of a class share one. The zero value corrects at
// once.
type Converge struct {
	By Way

	// Ticks is how long Linear, Quadratic, Cubic and Spline take, and the time constant of
	// Exponential: after so many ticks 37 % is left. At most MaxTicks; zero or less means at once.
	Ticks int32

	// Limit is the distance beyond which an error is corrected at once, since a thing that slid so
	// far would look worse than one that jumped. Zero means none.
	Limit det.Fixed

	// Turn is a full turn, for numbers that wrap: their errors go away by the short way around.
	// Zero means that they do not wrap.
	Turn det.Fixed
}

// Way is a path from what was shown to what is true.
type Way uint8

const (
	Snap   Way = iota // jump
	Linear            // in equal steps; the velocity jumps at both ends
	// along a Hermite curve: the velocity, too, goes over from the old to the new without a jump
	Cubic
	// a fixed part of what is left in each tick; gone for good after twelve time constants
	Exponential
	// along a parabola: fast first, and still when it arrives
	Quadratic
	// along a curve of the fifth degree: velocity goes over without a jump at both ends, and
	// acceleration too when it arrives
	Spline
)

// MaxTicks is the longest that a Converge may take; longer ones count as this.
const MaxTicks = 1000

// lastConstant is after how many time constants an exponential error, by then 6 millionths, is
// dropped.
const lastConstant = 12

// Vec is up to three numbers that are corrected together: a point, or in its first place a single
// number. Fixed holds numbers of images exactly, and floats of a world finely enough to show.
type Vec [3]det.Fixed

// VecInt makes a Vec of numbers of an image.
func VecInt(x, y, z int32) Vec { return Vec{det.FixedInt(x), det.FixedInt(y), det.FixedInt(z)} }

// VecOf makes a Vec of a point of a world.
func VecOf(v det.Vec3) Vec { return Vec{det.FixedOf(v.X), det.FixedOf(v.Y), det.FixedOf(v.Z)} }

// Vec3 is the Vec as a point of a world, to draw it there.
func (v Vec) Vec3() det.Vec3 { return det.Vec3{X: v[0].Float(), Y: v[1].Float(), Z: v[2].Float()} }

// State is where something is and how far it goes in a tick.
type State struct {
	Pos Vec
	Vel Vec // only Cubic and Spline look at it
}

// Correct is for news that changes what should be shown: was is what was taken to be true of this
// tick, and is is what is now. What is shown stays where it was, and goes over to the new truth
// from here; or it jumps there, if it is beyond the limit, and Correct says false.
func (b *Blend) Correct(c *Converge, was, is State) bool {
	if was == is || !c.curved() && was.Pos == is.Pos {
		return true
	}
	next := Blend{from: b.Offset(c)}
	for i := range next.from {
		next.from[i] = c.short(next.from[i].Add(was.Pos[i].Sub(is.Pos[i])))
	}
	if c.curved() {
		next.slope = b.rate(c)
		for i := range next.slope {
			next.slope[i] = next.slope[i].Add(was.Vel[i].Sub(is.Vel[i]))
		}
	}
	if c.Limit > 0 && next.from.beyond(c.Limit) {
		*b = Blend{}
		return false
	}
	if c.ticks() == 0 {
		*b = Blend{}
		return next.from == Vec{}
	}
	*b = next
	return true
}

// Tick lets a tick pass.
func (b *Blend) Tick(c *Converge) {
	if b.Gone() {
		return
	}
	b.t++
	n := c.ticks()
	if c.By == Exponential {
		n *= lastConstant
	}
	if b.t >= n {
		*b = Blend{}
		return
	}
	if c.By == Exponential {
		left := det.FixedOf(det.Exp(-1 / float64(c.ticks())))
		for i := range b.from {
			b.from[i] = b.from[i].Mul(left)
		}
	}
}

// Gone says that nothing is left of the error: what is shown is the truth.
func (b *Blend) Gone() bool { return *b == Blend{} }

// Offset is what to add to the truth to have what is shown.
func (b *Blend) Offset(c *Converge) (v Vec) {
	n, t := int64(c.ticks()), int64(b.t)
	if t >= n && c.By != Exponential {
		return v
	}
	switch c.By {
	case Linear:
		for i := range v {
			v[i] = scaled(b.from[i], n-t, n)
		}
	case Cubic:
		for i := range v {
			v[i] = scaled(b.from[i], (2*t+n)*(n-t)*(n-t),
				n*n*n).Add(scaled(b.slope[i], t*(n-t)*(n-t), n*n))
		}
	case Exponential:
		v = b.from
	case Quadratic:
		for i := range v {
			v[i] = scaled(b.from[i], (n-t)*(n-t), n*n)
		}
	case Spline:
		left := (n - t) * (n - t) * (n - t)
		for i := range v {
			v[i] = scaled(b.from[i], left*(n*n+3*n*t+6*t*t), n*n*n*n*n).Add(
				scaled(b.slope[i], t*left*(n+3*t), n*n*n*n))
		}
	}
	return v
}

// Show is what to show where the truth is known: the truth and the offset. Where it wraps it lies
// from -Turn/2 up to Turn/2.
func (b *Blend) Show(c *Converge, truth Vec) Vec {
	for i, d := range b.Offset(c) {
		truth[i] = c.short(truth[i].Add(d))
	}
	return truth
}

// curved says whether velocities count.
func (c *Converge) curved() bool { return c.By == Cubic || c.By == Spline }

// rate is how the offset of a curve is changing, a tick.
func (b *Blend) rate(c *Converge) (v Vec) {
	n, t := int64(c.ticks()), int64(b.t)
	if t >= n {
		return v
	}
	square := (n - t) * (n - t)
	for i := range v {
		if c.By == Spline {
			v[i] = scaled(b.from[i], -30*t*t*square, n*n*n*n*n).Add(
				scaled(b.slope[i], square*(n*n+2*n*t-15*t*t), n*n*n*n))
			continue
		}
		v[i] = scaled(b.from[i], 6*t*(t-n), n*n*n).Add(scaled(b.slope[i], (n-t)*(n-3*t), n*n))
	}
	return v
}

// ticks is Ticks within bounds, none for what jumps.
func (c *Converge) ticks() int32 {
	if c.By == Snap || c.By > Spline {
		return 0
	}
	return min(max(c.Ticks, 0), MaxTicks)
}

// short is the same angle by the short way around.
func (c *Converge) short(f det.Fixed) det.Fixed {
	if half := c.Turn / 2; c.Turn > 0 && (f < -half || f >= c.Turn-half) {
		f %= c.Turn
		switch {
		case f < -half:
			f += c.Turn
		case f >= c.Turn-half:
			f -= c.Turn
		}
	}
	return f
}

// beyond says whether the length of v is more than a limit.
func (v Vec) beyond(limit det.Fixed) bool {
	var square float64
	for _, f := range v {
		x := f.Float()
		square += float64(x * x)
	}
	l := limit.Float()
	return square > float64(l*l)
}

// scaled is f·num/den, rounded toward zero, so that it is never more than it should be. den is
// positive.
func scaled(f det.Fixed, num, den int64) det.Fixed {
	minus := f < 0 != (num < 0)
	hi, lo := bits.Mul64(size(int64(f)), size(num))
	if hi >= uint64(den) {
		if minus {
			return det.FixedMin
		}
		return det.FixedMax
	}
	q, _ := bits.Div64(hi, lo, uint64(den))
	q = min(q, 1<<63-1)
	if minus {
		return -det.Fixed(q)
	}
	return det.Fixed(q)
}

// size is the distance from zero.
func size(x int64) uint64 {
	if x < 0 {
		return -uint64(x)
	}
	return uint64(x)
}

package reckon

import (
	"strconv"

	"github.com/coeval-dev/coeval/det"
)

// Body is something that moves and turns in space, in metres, seconds and radians: what a simulator
// says of a vehicle. Unlike images it has floats, so all machines that reckon it use package det.
type Body struct {
	Pos    det.Vec3 // in the world
	Vel    det.Vec3 // a second; in the world, or for models ending in B along the axes of the body
	Accel  det.Vec3 // a second squared; in the same axes as Vel, and in those it stays as it is
	Facing det.Quat // from the axes of the body, X forward, to those of the world
	Spin   det.Vec3 // radians a second, along the axes of the body
}

// Model is a way to reckon a Body: one of the nine of DIS, under their numbers there. The letters
// say whether orientation is Fixed or Rotating, whether Velocity alone or velocity and acceleration
// are used (P, V), and whether they are along the axes of the World or of the Body.
type Model uint8

// The models.
const (
	Static Model = 1 + iota // stays
	FPW                     // goes straight on, does not turn: slow vehicles
	RPW                     // goes straight on and turns
	RVW                     // speeds up evenly and turns: aircraft, missiles
	FVW                     // speeds up evenly, does not turn
	FPB                     // as FPW
	RPB                     // goes on along its own axes and turns, so it flies a circle or helix
	RVB                     // speeds up along its own axes and turns
	FVB                     // as FVW
)

var modelNames = [...]string{"other", "static", "FPW", "RPW", "RVW", "FVW", "FPB", "RPB", "RVB",
	"FVB"}

func (m Model) String() string {
	if int(m) < len(modelNames) {
		return modelNames[m]
	}
	return "model " + strconv.Itoa(int(m))
}

// Turns says whether the orientation changes under a model.
func (m Model) Turns() bool { return m == RPW || m == RVW || m == RPB || m == RVB }

// Own says whether velocity and acceleration are along the axes of the body.
func (m Model) Own() bool { return m >= FPB && m <= FVB }

func (m Model) accelerates() bool { return m == RVW || m == FVW || m == RVB || m == FVB }

// After is the body some seconds later, by a model; a negative time leads back. What comes out can
// go in again: two steps lead to where one of their sum does. Models of other numbers stay. FPB and
// FVB do not turn, so their spin counts for nothing.
func (m Model) After(b *Body, seconds float64) Body {
	next := *b
	if m < FPW || m > FVB || seconds == 0 || seconds-seconds != 0 {
		return next
	}
	way := b.Vel.Mul(seconds)
	var push det.Vec3
	if m.accelerates() {
		push = b.Accel.Mul(float64(seconds * seconds))
		next.Vel = b.Vel.MulAdd(b.Accel, seconds)
	}
	if m.Turns() {
		next.Facing = b.Facing.Spin(b.Spin, seconds)
	}
	switch {
	case m.Own() && m.Turns():
		t := turning(b.Spin.Mul(seconds))
		way = t.straight(way).Add(t.speeding(push))
	default:
		way = way.MulAdd(push, 0.5)
	}
	if m.Own() {
		way = b.Facing.Rotate(way)
	}
	next.Pos = b.Pos.Add(way)
	return next
}

// WorldVel is how fast the body goes, in the axes of the world, whatever the model.
func (m Model) WorldVel(b *Body) det.Vec3 {
	switch {
	case m < FPW || m > FVB:
		return det.Vec3{}
	case m.Own():
		return b.Facing.Rotate(b.Vel)
	}
	return b.Vel
}

// As is the same body, with what another model needs in that model's axes: a sender has the truth
// in one form, and chooses the model by what the body does.
func (m Model) As(to Model, b *Body) Body {
	next := *b
	switch {
	case m.Own() && !to.Own():
		next.Vel, next.Accel = b.Facing.Rotate(b.Vel), b.Facing.Rotate(b.Accel)
		if m.Turns() {
			next.Accel = next.Accel.Add(b.Facing.Rotate(b.Spin.Cross(b.Vel)))
		}
	case !m.Own() && to.Own():
		back := b.Facing.Conj()
		next.Vel, next.Accel = back.Rotate(b.Vel), back.Rotate(b.Accel)
		if to.Turns() {
			next.Accel = next.Accel.Sub(b.Spin.Cross(next.Vel))
		}
	}
	return next
}

// turn is a rotation by a vector over some time, and how the paths of what moves along turning axes
// follow from it: sums of v, w×v and w×(w×v), with parts that depend on the angle alone.
type turn struct {
	by             det.Vec3
	f1, f2, g1, g2 float64
}

// turning finds the parts. Their closed forms lose all digits at small angles, for which there are
// series instead; both are good to about 1e-15 where they are used.
func turning(by det.Vec3) turn {
	t := turn{by: by}
	xx := by.LenSq()
	if xx < 1 {
		t.f1 = series(xx, &seriesF1)
		t.f2 = series(xx, &seriesF2)
		t.g1 = series(xx, &seriesG1)
		t.g2 = series(xx, &seriesG2)
		return t
	}
	x := det.Sqrt(xx)
	s, c := det.Sincos(x)
	half := det.Sin(float64(x * 0.5))
	t.f1 = float64(2*half*half) / xx
	t.f2 = (x - s) / float64(xx*x)
	t.g1 = (s - float64(x*c)) / float64(xx*x)
	t.g2 = (float64(xx*0.5) + 1 - c - float64(x*s)) / float64(xx*xx)
	return t
}

// straight is the way of what goes on along its own turning axes, where v would be the way if they
// did not turn: the integral of exp(W s) over the time.
func (t turn) straight(v det.Vec3) det.Vec3 {
	wv := t.by.Cross(v)
	return v.MulAdd(wv, t.f1).MulAdd(t.by.Cross(wv), t.f2)
}

// speeding is the way that an acceleration adds, where v is the acceleration by the time squared:
// the integral of s·exp(W s).
func (t turn) speeding(v det.Vec3) det.Vec3 {
	wv := t.by.Cross(v)
	return v.Mul(0.5).MulAdd(wv, t.g1).MulAdd(t.by.Cross(wv), t.g2)
}

// The coefficients of the series in x²: 1/(2k+2)!, 1/(2k+3)!, 1/((2k+1)!(2k+3)), 1/((2k+2)!(2k+4)).
var (
	seriesF1 = [...]float64{1.0 / 2, -1.0 / 24, 1.0 / 720, -1.0 / 40320, 1.0 / 3628800,
		-1.0 / 479001600, 1.0 / 87178291200, -1.0 / 20922789888000, 1.0 / 6402373705728000}
	seriesF2 = [...]float64{1.0 / 6, -1.0 / 120, 1.0 / 5040, -1.0 / 362880, 1.0 / 39916800,
		-1.0 / 6227020800, 1.0 / 1307674368000, -1.0 / 355687428096000, 1.0 / 121645100408832000}
	seriesG1 = [...]float64{1.0 / 3, -1.0 / (6 * 5), 1.0 / (120 * 7), -1.0 / (5040 * 9),
		1.0 / (362880 * 11), -1.0 / (39916800 * 13), 1.0 / (6227020800 * 15),
		-1.0 / (1307674368000 * 17), 1.0 / (355687428096000 * 19)}
	seriesG2 = [...]float64{1.0 / (2 * 4), -1.0 / (24 * 6), 1.0 / (720 * 8), -1.0 / (40320 * 10),
		1.0 / (3628800 * 12), -1.0 / (479001600 * 14), 1.0 / (87178291200 * 16),
		-1.0 / (20922789888000 * 18), 1.0 / (6402373705728000 * 20)}
)

// series is a polynomial, from its smallest term.
func series(xx float64, of *[9]float64) float64 {
	sum := of[8]
	for i := 7; i >= 0; i-- {
		sum = of[i] + float64(sum*xx)
	}
	return sum
}

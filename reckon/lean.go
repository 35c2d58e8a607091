package reckon

import "github.com/coeval-dev/coeval/det"

// Lean is a Blend for orientations: it removes the turn between what is shown and what is known.
// The way is one in the space of turns, so it is the shortest, and there are no poles. A Converge
// for it has its Limit in radians, and Turn does not count. The zero value shows the truth.
type Lean struct{ b Blend }

// Heading is an orientation and how it turns in a tick.
type Heading struct {
	Facing det.Quat
	Spin   det.Vec3 // radians a tick, in the axes of the world; only Cubic and Spline look at it
}

// Correct is for news that changes what should be shown: was is what was taken to be true of this
// tick, and is is what is now. It says false where the error is beyond the limit, and what is shown
// jumps.
func (l *Lean) Correct(c *Converge, was, is Heading) bool {
	if was == is || !c.curved() && was.Facing == is.Facing {
		return true
	}
	over := l.offset(c)
	from := det.TurnBy(over).Mul(was.Facing).Mul(is.Facing.Conj()).Turn()
	next := Blend{from: VecOf(from)}
	if c.curved() {
		rate := l.b.rate(c)
		spin := turning(over).straight(rate.Vec3()).Add(det.TurnBy(over).Rotate(was.Spin))
		next.slope = VecOf(slopeOf(from, spin.Sub(det.TurnBy(from).Rotate(is.Spin))))
	}
	if c.Limit > 0 && next.from.beyond(c.Limit) {
		l.b = Blend{}
		return false
	}
	if c.ticks() == 0 {
		l.b = Blend{}
		return next.from == Vec{}
	}
	l.b = next
	return true
}

// Tick lets a tick pass.
func (l *Lean) Tick(c *Converge) { l.b.Tick(c) }

// Gone says that nothing is left of the error: what is shown is the truth.
func (l *Lean) Gone() bool { return l.b.Gone() }

// Show is what to show where the truth is known.
func (l *Lean) Show(c *Converge, truth det.Quat) det.Quat {
	if l.b.Gone() {
		return truth
	}
	return det.TurnBy(l.offset(c)).Mul(truth).Unit()
}

// offset is the turn, in the axes of the world, from the truth to what is shown.
func (l *Lean) offset(c *Converge) det.Vec3 { return l.b.Offset(c).Vec3() }

// slopeOf is how the vector of a turn changes where the turn itself has an angular velocity: the
// inverse of turn.straight.
func slopeOf(by, spin det.Vec3) det.Vec3 {
	xx := by.LenSq()
	part := 1.0/12 + float64(xx*(1.0/720+float64(xx*(1.0/30240))))
	if xx > 0.01 {
		half := float64(0.5 * det.Sqrt(xx))
		part = (1 - half/det.Tan(half)) / xx
	}
	across := by.Cross(spin)
	return spin.MulAdd(across, -0.5).MulAdd(by.Cross(across), part)
}

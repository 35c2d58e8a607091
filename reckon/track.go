package reckon

import (
	"time"

	"github.com/coeval-dev/coeval/det"
)

// Track reckons a body from where it was, without anything sent of its velocity: the position
// history of Singhal and Cheriton. How it does so depends on what the history shows. What goes
// straight is carried on straight, since the noise of three places would look like acceleration;
// what curves is carried on along a parabola; what jerks about is carried on straight again, for a
// parabola would follow the last jerk and magnify it. The zero value knows nothing.
type Track struct {
	at     [3]time.Duration // the newest first
	pos    [3]det.Vec3
	facing [3]det.Quat
	n      int
}

// These part the straight from the curved and the curved from the jerky, by how much the velocity
// between the last two places and that before differ, as a part of the greater one: of a circle it
// is the angle in radians between the two legs.
const (
	straightChange = 0.02
	jerkyChange    = 1.0
)

// Add notes a place and orientation at a time. What is not newer than the last is ignored.
func (t *Track) Add(at time.Duration, pos det.Vec3, facing det.Quat) {
	if t.n > 0 && at <= t.at[0] {
		return
	}
	copy(t.at[1:], t.at[:2])
	copy(t.pos[1:], t.pos[:2])
	copy(t.facing[1:], t.facing[:2])
	t.at[0], t.pos[0], t.facing[0] = at, pos, facing
	t.n = min(t.n+1, len(t.at))
}

// Known is how many places are remembered, at most three.
func (t *Track) Known() int { return t.n }

// change is by which part of itself the velocity has changed, zero with too few places.
func (t *Track) change() float64 {
	if t.n < 3 {
		return 0
	}
	v1, v0 := t.leg(1), t.leg(0)
	fast := max(v0.Len(), v1.Len())
	if !(fast > 0) {
		return 0
	}
	return v0.Sub(v1).Len() / fast
}

// leg is the mean velocity from place i+1 to i.
func (t *Track) leg(i int) det.Vec3 {
	return t.pos[i].Sub(t.pos[i+1]).Mul(1 / (t.at[i] - t.at[i+1]).Seconds())
}

// Order is which derivative the history allows to follow.
func (t *Track) Order() Order {
	if c := t.change(); t.n == 3 && c >= straightChange && c <= jerkyChange {
		return Second
	}
	return First
}

// At is the body at a time. Its velocity and acceleration are those that the history shows, in the
// axes of the world.
func (t *Track) At(now time.Duration) Body {
	if t.n == 0 {
		return Body{Facing: det.Identity}
	}
	b := Body{Pos: t.pos[0], Facing: t.facing[0]}
	if t.n == 1 {
		return b
	}
	b.Vel = t.leg(0)
	last := (t.at[0] - t.at[1]).Seconds()
	turn := t.facing[1].Conj().Mul(t.facing[0]).Turn()
	b.Spin = turn.Mul(1 / last)
	if t.Order() == Second {
		// The parabola through three places: the mean velocities hold in the middle of the legs.
		before := (t.at[1] - t.at[2]).Seconds()
		b.Accel = b.Vel.Sub(t.leg(1)).Mul(2 / (last + before))
		b.Vel = b.Vel.MulAdd(b.Accel, float64(last*0.5))
	}
	return RVW.After(&b, (now - t.at[0]).Seconds())
}

// Converge is how the error that a new place reveals had best go away, in ticks of a length: over
// half of the time that usually passes between updates, so that one is gone before the next comes;
// along a spline where the body flies a curve, evenly where it goes straight, and at once where
// nothing is known of it.
func (t *Track) Converge(tick time.Duration) Converge {
	if t.n < 2 || tick <= 0 {
		return Converge{}
	}
	gap := (t.at[0] - t.at[t.n-1]) / time.Duration(t.n-1)
	c := Converge{By: Linear, Ticks: int32(min(max(gap/(2*tick), 1), MaxTicks))}
	if t.Order() == Second {
		c.By = Spline
	}
	return c
}

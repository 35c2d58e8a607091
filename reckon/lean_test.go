package reckon

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/coeval-dev/coeval/det"
)

func drawHeading(t *rapid.T) Heading {
	return Heading{det.TurnBy(drawVec3(t, "facing", 3)), drawVec3(t, "spin", 0.05)}
}

// What is shown of an orientation does not jump at a correction, nor does its turning where the way
// is a curve; and it arrives.
func TestLeanIsContinuousAndArrives(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawWay(t)
		var l Lean
		was := drawHeading(t)
		for range rapid.IntRange(1, 4).Draw(t, "corrections") {
			is := drawHeading(t)
			shown, before := l.Show(&c, was.Facing), l.spin(&c, was)
			if !l.Correct(&c, was, is) {
				t.Fatal("jumped although there is no limit")
			}
			if d := l.Show(&c, is.Facing).To(shown); d > 1e-8 {
				t.Fatalf("jumped by %v", d)
			}
			if after := l.spin(&c, is); c.curved() && after.Sub(before).Len() > 1e-7 {
				t.Fatalf("turned by %v a tick, now by %v", before, after)
			}
			was = is
			for range rapid.IntRange(0, 50).Draw(t, "wait") {
				l.Tick(&c)
				was.Facing = det.TurnBy(was.Spin).Mul(was.Facing).Unit()
			}
		}
		for range c.life() {
			l.Tick(&c)
		}
		if !l.Gone() || l.Show(&c, was.Facing) != was.Facing {
			t.Fatal("something is left")
		}
	})
}

// spin is how what is shown turns in a tick.
func (l *Lean) spin(c *Converge, truth Heading) det.Vec3 {
	over, rate := l.offset(c), l.b.rate(c)
	return turning(over).straight(rate.Vec3()).Add(det.TurnBy(over).Rotate(truth.Spin))
}

// The formulas of turning, against how a turn changes when its vector does.
func TestTurningOfTurns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		by, rate := drawVec3(t, "turn", 1.8), drawVec3(t, "rate", 1)
		if rapid.Bool().Draw(t, "tiny") {
			by = by.Mul(1e-5)
		}
		const h = 1e-5
		moved := det.TurnBy(by.MulAdd(rate, h)).Mul(det.TurnBy(by.MulAdd(rate, -h)).Conj())
		spin := turning(by).straight(rate)
		if d := moved.Turn().Mul(1 / (2 * h)).Sub(spin).Len(); d > 1e-8 {
			t.Fatalf("off by %v", d)
		}
		if d := slopeOf(by, spin).Sub(rate).Len(); d > 1e-9 {
			t.Fatalf("there and back: off by %v", d)
		}
	})
}

func TestLeanLimit(t *testing.T) {
	c := Converge{By: Linear, Ticks: 10, Limit: det.FixedInt(1)}
	far, near := det.TurnBy(det.Vec3{Z: 2}), det.TurnBy(det.Vec3{Z: 0.5})
	var l Lean
	if l.Correct(&c, Heading{Facing: det.Identity}, Heading{Facing: far}) || !l.Gone() {
		t.Error("slid over more than the limit")
	}
	if !l.Correct(&c, Heading{Facing: det.Identity}, Heading{Facing: near}) || l.Gone() {
		t.Error("jumped within the limit")
	}
	for range 5 {
		l.Tick(&c)
	}
	if d := l.Show(&c, near).To(det.TurnBy(det.Vec3{Z: 0.25})); d > 1e-9 {
		t.Errorf("half way it is off by %v", d)
	}
}

package reckon

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/coeval-dev/coeval/det"
)

func drawVec(t *rapid.T, name string, most int32) Vec {
	var v Vec
	for i := range v {
		v[i] = det.Fixed(rapid.Int64Range(-int64(most)<<32, int64(most)<<32).Draw(t, name))
	}
	return v
}

func drawWay(t *rapid.T) Converge {
	return Converge{
		By: rapid.SampledFrom([]Way{
			Linear, Cubic, Exponential, Quadratic, Spline}).Draw(t, "by"),
		Ticks: rapid.Int32Range(1, 40).Draw(t, "ticks")}
}

// life is how many ticks after the last correction the truth must be shown.
func (c *Converge) life() int32 {
	if c.By == Exponential {
		return c.Ticks * lastConstant
	}
	return c.Ticks
}

// A correction moves nothing at the moment it comes, however many came before; and when no more
// come, the truth is shown exactly, in time.
func TestShownIsContinuousAndArrives(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawWay(t)
		var b Blend
		was := State{drawVec(t, "start", 1000), drawVec(t, "velocity", 10)}
		for range rapid.IntRange(1, 5).Draw(t, "corrections") {
			is := State{drawVec(t, "truth", 1000), drawVec(t, "velocity", 10)}
			shown, rate := b.Show(&c, was.Pos), b.rate(&c)
			if !b.Correct(&c, was, is) {
				t.Fatal("jumped although there is no limit")
			}
			for i, f := range b.Show(&c, is.Pos) {
				if f != shown[i] {
					t.Fatalf("axis %d jumped from %v to %v", i, shown[i].Float(), f.Float())
				}
			}
			if c.curved() {
				for i, f := range b.rate(&c) {
					if before, now := was.Vel[i]+rate[i], is.Vel[i]+f; before != now {
						t.Fatalf("velocity on axis %d jumped from %v to %v", i, before.Float(),
							now.Float())
					}
				}
			}
			was = is
			for range rapid.IntRange(0, 50).Draw(t, "wait") {
				b.Tick(&c)
				for i := range was.Pos {
					was.Pos[i] += was.Vel[i]
				}
			}
		}
		for range c.life() {
			b.Tick(&c)
		}
		if !b.Gone() || b.Show(&c, was.Pos) != was.Pos {
			t.Fatalf("%v is left", b.Offset(&c))
		}
	})
}

// On its way, an error that is not on a curve only ever shrinks, and takes all the time it was
// given.
func TestNeverOvershoots(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawWay(t)
		if c.curved() {
			c.By = Linear
		}
		var b Blend
		b.Correct(&c, State{Pos: drawVec(t, "error", 1000)}, State{})
		first := b.Offset(&c)
		for tick := int32(1); tick <= c.life(); tick++ {
			before := b.Offset(&c)
			b.Tick(&c)
			for i, f := range b.Offset(&c) {
				if f.Abs() > before[i].Abs() || f != 0 && f < 0 != (before[i] < 0) {
					t.Fatalf("tick %d: from %v to %v", tick, before[i], f)
				}
				if want := scaled(first[i], int64(c.Ticks-tick), int64(c.Ticks)); c.By == Linear &&
					f != want {
					t.Fatalf("tick %d: %v is left instead of %v", tick, f, want)
				}
			}
		}
	})
}

// After one time constant a share of 1/e is left.
func TestTimeConstant(t *testing.T) {
	for _, n := range []int32{1, 6, 60} {
		c := Converge{By: Exponential, Ticks: n}
		var b Blend
		b.Correct(&c, State{Pos: VecInt(1000, 0, 0)}, State{})
		for range n {
			b.Tick(&c)
		}
		if got := b.Offset(&c)[0].Float(); got < 367.879 || got > 367.880 {
			t.Errorf("constant of %d ticks: %v of 1000 is left", n, got)
		}
	}
}

// A spline starts with the velocity that was shown, and arrives without a jerk: what is left of it
// vanishes as the cube of what is left of the time.
func TestSplineArrivesSoftly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Int32Range(10, 400).Draw(t, "ticks")
		c := Converge{By: Spline, Ticks: n}
		e, dv := rapid.Int32Range(-1000, 1000).Draw(t, "error"),
			rapid.Int32Range(-20, 20).Draw(t, "velocity")
		var b Blend
		b.Correct(&c, State{VecInt(e, 0, 0), VecInt(dv, 0, 0)}, State{})
		size := max(e, -e) + max(dv, -dv)*n
		for left := n - 1; left > 0; left-- {
			b.Tick(&c)
			part := float64(left) / float64(n)
			most := 10 * part * part * part * float64(size)
			if got := b.Offset(&c)[0].Abs().Float(); got > most+1e-6 {
				t.Fatalf("%d ticks before the end %v is left, more than %v", left, got, most)
			}
		}
	})
}

// A quadratic error is a quarter of itself when half of the time is over.
func TestQuadratic(t *testing.T) {
	c := Converge{By: Quadratic, Ticks: 20}
	var b Blend
	b.Correct(&c, State{Pos: VecInt(1000, 0, 0)}, State{})
	for range 10 {
		b.Tick(&c)
	}
	if got := b.Offset(&c); got != VecInt(250, 0, 0) {
		t.Errorf("%v is left", got)
	}
}

// A cubic is smooth: from one tick to the next its velocity changes by no more than the curve's
// bend, also where it begins and where it ends.
func TestCubicIsSmooth(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := Converge{By: Cubic, Ticks: rapid.Int32Range(2, 40).Draw(t, "ticks")}
		e, dv := rapid.Int32Range(-1000, 1000).Draw(t, "error"),
			rapid.Int32Range(-20, 20).Draw(t, "velocity")
		// Before the correction what is shown moves with dv against a truth that rests at 0.
		shown := []det.Fixed{det.FixedInt(e - dv), det.FixedInt(e)}
		var b Blend
		b.Correct(&c, State{VecInt(e, 0, 0), VecInt(dv, 0, 0)}, State{})
		for range c.Ticks + 1 {
			b.Tick(&c)
			shown = append(shown, b.Offset(&c)[0])
		}
		n := float64(c.Ticks)
		size := func(x int32) float64 { return float64(max(x, -x)) }
		// the largest second derivative of the Hermite curve
		bend := 6*size(e)/(n*n) + 4*size(dv)/n + 1e-6
		for i := 2; i < len(shown); i++ {
			if got := (shown[i] - 2*shown[i-1] + shown[i-2]).Abs().Float(); got > bend {
				t.Fatalf("velocity changes by %v in tick %d, the curve bends by %v", got, i-1, bend)
			}
		}
	})
}

// The velocity that a second correction starts from is that of the curve it interrupts. The central
// difference of a cubic is its slope and a sixth of its third derivative, which is the same
// everywhere.
func TestRateIsThatOfTheCurve(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := Converge{By: Cubic, Ticks: rapid.Int32Range(2, 40).Draw(t, "ticks")}
		e, dv := rapid.Int32Range(-1000, 1000).Draw(t, "error"),
			rapid.Int32Range(-20, 20).Draw(t, "velocity")
		var b Blend
		b.Correct(&c, State{VecInt(e, 0, 0), VecInt(dv, 0, 0)}, State{})
		n := float64(c.Ticks)
		sixth := (12*float64(e)/(n*n*n) + 6*float64(dv)/(n*n)) / 6
		for before := b; ; before = b {
			b.Tick(&c)
			if b.Gone() {
				return
			}
			after := b
			after.Tick(&c)
			want := (after.Offset(&c)[0]-before.Offset(&c)[0]).Float()/2 - sixth
			if got := b.rate(&c)[0].Float(); det.Abs(got-want) > 1e-6 {
				t.Fatalf("rate %v instead of %v after %d ticks", got, want, b.t)
			}
		}
	})
}

// A heading just past the end of the circle is next to one just before it.
func TestHeadingsGoTheShortWay(t *testing.T) {
	turn := det.FixedInt(1024)
	rapid.Check(t, func(t *rapid.T) {
		c := drawWay(t)
		c.Turn = turn
		c.Limit = det.FixedInt(512)
		angle := func(name string) Vec {
			return VecInt(rapid.Int32Range(-512, 511).Draw(t, name), 0, 0)
		}
		var b Blend
		was, is := angle("was"), angle("is")
		if !b.Correct(&c, State{Pos: was}, State{Pos: is}) {
			t.Fatal("jumped: no two headings are more than half a turn apart")
		}
		if got := b.Show(&c, is); got != was {
			t.Fatalf("shows %v instead of %v", got[0].Float(), was[0].Float())
		}
		before := b.Offset(&c)[0]
		for range c.life() {
			b.Tick(&c)
			if s := b.Show(&c, is)[0]; s < -turn/2 || s >= turn/2 {
				t.Fatalf("shows %v, outside the circle", s.Float())
			}
			if o := b.Offset(&c)[0]; o.Abs() > before.Abs() {
				t.Fatalf("went away from the truth: %v", o.Float())
			}
		}
		if b.Show(&c, is) != is {
			t.Fatal("did not arrive")
		}
	})
}

func TestBeyondTheLimitItJumps(t *testing.T) {
	var zero Converge
	var b Blend
	here, there := State{Pos: VecInt(3, 4, 0)}, State{}
	if b.Correct(&zero, here, there) || !b.Gone() || b.Offset(&zero) != (Vec{}) {
		t.Error("the zero value does not jump")
	}
	c := Converge{By: Linear, Ticks: 10, Limit: det.FixedInt(5)}
	if !b.Correct(&c, here, there) || b.Offset(&c) != here.Pos {
		t.Error("jumped at the limit")
	}
	if b.Correct(&c, State{Pos: VecInt(0, 1, 0)}, there) || !b.Gone() {
		t.Error("errors that add up to more than the limit do not jump")
	}
	c.Ticks = 0
	if b.Correct(&c, here, there) || !b.Gone() {
		t.Error("no ticks do not jump")
	}
	c = Converge{By: Cubic, Ticks: MaxTicks * 2}
	b.Correct(&c,
		State{Pos: Vec{det.FixedMax, det.FixedMin, 0}, Vel: Vec{det.FixedMax, det.FixedMin, 0}},
		State{Vel: Vec{det.FixedMin}})
	for range MaxTicks {
		if o := b.Offset(&c); o[0] < 0 || o[1] > 0 {
			t.Fatalf("overflow: %v", o)
		}
		b.Tick(&c)
	}
	if !b.Gone() {
		t.Error("takes longer than the longest time")
	}
}

// News that changes nothing must not begin a blend anew, or a stream of snapshots would keep it
// from ending.
func TestNoNewsIsNoCorrection(t *testing.T) {
	c := Converge{By: Linear, Ticks: 4}
	var b Blend
	b.Correct(&c, State{Pos: VecInt(8, 0, 0)}, State{})
	for range 4 {
		b.Tick(&c)
		b.Correct(&c, State{Pos: VecInt(5, 5, 5)},
			State{Pos: VecInt(5, 5, 5), Vel: VecInt(1, 0, 0)})
	}
	if !b.Gone() {
		t.Errorf("%v is left", b.Offset(&c))
	}
}

package reckon

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/coeval-dev/coeval/det"
)

// A pilot flies: throttle, pitch and roll rate change now and then. It is the truth that nobody
// reckons exactly.
type pilot struct {
	r    det.Rand
	body Body // along its own axes
	left int
}

func (p *pilot) tick(seconds float64) {
	if p.left--; p.left <= 0 {
		p.left = 60 + p.r.IntN(540)
		p.body.Spin = det.Vec3{X: p.r.Range(-0.2, 0.2), Y: p.r.Range(-0.1, 0.1),
			Z: p.r.Range(-0.1, 0.1)}
		p.body.Accel = det.Vec3{X: p.r.Range(-4, 4)}
	}
	if v := p.body.Vel.X; v > 300 && p.body.Accel.X > 0 || v < 80 && p.body.Accel.X < 0 {
		p.body.Accel.X = 0
	}
	p.body = RVB.After(&p.body, seconds)
}

// Whatever is flown, what receivers reckon is within the bounds at every tick, with far fewer
// updates than one each 1/30 s.
func TestPledgeIsKept(t *testing.T) {
	models := []Model{Static, FPW, RPW, RVW, FVW, FPB, RPB, RVB, FVB}
	rules := Rules{Bounds: StandardBounds, Beats: StandardBeats}
	rapid.Check(t, func(t *rapid.T) {
		m := rapid.SampledFrom(models).Draw(t, "model")
		flown := pilot{r: det.At(rapid.Uint64().Draw(t, "seed"), 1, 1),
			body: Body{Vel: det.Vec3{X: 150}, Facing: det.Identity}}
		pledge := Pledge[Flight]{Seed: 7}
		updates, now := 0, time.Duration(0)
		const seconds = 30
		for range seconds * 60 {
			flown.tick(1.0 / 60)
			now += time.Second / 60
			if pledge.Check(&rules, now, &flown.body) != Kept {
				pledge.Tell(&rules, now, Flight{m, RVB.As(m, &flown.body)})
				updates++
			}
			shown := pledge.At(now)
			if d := shown.Pos.Sub(flown.body.Pos).Len(); d > 1 {
				t.Fatalf("%v: off by %v m", m, d)
			}
			if d := shown.Facing.To(flown.body.Facing); d.Degrees() > 3 {
				t.Fatalf("%v: off by %v degrees", m, d.Degrees())
			}
		}
		if m == RVB && updates*8 > seconds*30 {
			t.Fatalf("%d updates in %d s", updates, seconds)
		}
		if updates < seconds/6 {
			t.Fatalf("%d updates: a heartbeat was missed", updates)
		}
	})
}

func TestPledgeReasons(t *testing.T) {
	rules := Rules{Bounds: Bounds{Pos: 1}, Beats: Beats{Moving: time.Second, Still: time.Minute}}
	var p Pledge[Flight]
	at := func(x float64) *Body { return &Body{Pos: det.Vec3{X: x}, Facing: det.Identity} }
	if got := p.Check(&rules, 0, at(0)); got != Unsent {
		t.Errorf("at first: %v", got)
	}
	p.Tell(&rules, 0, Flight{FPW, Body{Vel: det.Vec3{X: 10}, Facing: det.Identity}})
	for _, c := range []struct {
		at   time.Duration
		x    float64
		want Reason
	}{
		{time.Second / 2, 5.9, Kept},
		{time.Second / 2, 6.1, Drifted},
		{time.Second / 2, 5.6, Drifted}, // not yet released
		{time.Second / 2, 5.4, Kept},
		{time.Second, 10, Heartbeat},
		{time.Second, math.NaN(), Drifted},
	} {
		if got := p.Check(&rules, c.at, at(c.x)); got != c.want {
			t.Errorf("after %v at %v: %v, not %v", c.at, c.x, got, c.want)
		}
	}
	p.Tell(&rules, time.Second, Flight{FPW, Body{Pos: det.Vec3{X: 3}, Facing: det.Identity}})
	if got := p.Check(&rules, 59*time.Second, at(3)); got != Kept {
		t.Errorf("what stands still, after a minute: %v", got)
	}
	if got := p.Check(&rules, 61*time.Second, at(3)); got != Heartbeat {
		t.Errorf("what stands still, after more than a minute: %v", got)
	}
}

func TestBeats(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := StandardBeats
		seed, n := rapid.Uint64().Draw(t, "seed"), rapid.Uint64().Draw(t, "number")
		for still, mean := range map[bool]time.Duration{false: 5 * time.Second, true: time.Minute} {
			got := b.Next(still, seed, n)
			if got < mean*9/10-1 || got > mean*11/10+1 || got != b.Next(still, seed, n) {
				t.Fatalf("a beat after %v", got)
			}
			if gone := b.Gone(still); gone != mean*12/5 || gone <= 2*got {
				t.Fatalf("gone after %v, which two beats of %v take", gone, got)
			}
		}
	})
	var none Beats
	if none.Next(false, 1, 1) != 0 || none.Gone(true) != 0 {
		t.Error("no beats, but one is due")
	}
}

func TestSight(t *testing.T) {
	s := Sight{Angle: det.Degrees(0.05), Least: Bounds{0.05, det.Degrees(1)},
		Most: Bounds{20, det.Degrees(90)}}
	for _, c := range []struct{ distance, size, pos, turn float64 }{
		{0, 10, 0.05, 1},
		{1000, 10, 0.87, 10},   // a tank a kilometre away
		{1000, 60, 0.87, 1.67}, // a ship there
		{1000, 1, 0.87, 90},    // a person there
		{1e6, 10, 20, 90},
		{math.NaN(), 10, 0.05, 1},
	} {
		got := s.Bounds(c.distance, c.size)
		if math.Abs(got.Pos-c.pos) > 0.01 || math.Abs(got.Turn.Degrees()-c.turn) > 0.05 {
			t.Errorf("at %v m, size %v: %v m and %v degrees, not %v and %v", c.distance, c.size,
				got.Pos, got.Turn.Degrees(), c.pos, c.turn)
		}
	}
}

func TestPledgeNoAllocations(t *testing.T) {
	rules := Rules{Bounds: StandardBounds, Beats: StandardBeats}
	var p Pledge[Flight]
	b := Body{Vel: det.Vec3{X: 10}, Facing: det.Identity, Spin: det.Vec3{Z: 1}}
	if n := testing.AllocsPerRun(100, func() {
		p.Tell(&rules, 0, Flight{RVB, b})
		p.Check(&rules, time.Second, &b)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkPledge(b *testing.B) {
	rules := Rules{Bounds: StandardBounds, Beats: StandardBeats}
	p := Pledge[Flight]{}
	body := Body{Vel: det.Vec3{X: 10}, Facing: det.Identity, Spin: det.Vec3{Z: 0.1}}
	p.Tell(&rules, 0, Flight{RVB, body})
	truth := RVB.After(&body, 1)
	b.ReportAllocs()
	for b.Loop() {
		if p.Check(&rules, time.Second, &truth) != Kept {
			b.Fatal("due")
		}
	}
}

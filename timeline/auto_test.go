package timeline_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/member"
	"github.com/coeval-dev/coeval/timeline"
	"github.com/coeval-dev/coeval/world"
)

// A spread tells shares and quantiles to an eighth.
func TestSpread(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s timeline.Spread
		all := rapid.SliceOfN(rapid.IntRange(0, 3_000_000), 1, 300).Draw(t, "µs")
		for _, d := range all {
			s.Add(time.Duration(d) * time.Microsecond)
		}
		d := time.Duration(rapid.IntRange(100, 3_000_000).Draw(t, "at")) * time.Microsecond
		low, high := 0, 0 // what surely is within, and what may be
		for _, x := range all {
			if float64(x)*1.13+64 <= float64(d/time.Microsecond) {
				low++
			}
			if float64(x)/1.13-64 <= float64(d/time.Microsecond) {
				high++
			}
		}
		got := s.Within(d) * float64(len(all))
		if slack := 0.02 * float64(len(all)); got < float64(low)-slack-0.1 || got > float64(high)+
			slack+0.1 {
			t.Fatalf("within %v are %.2f, which should be %d to %d of %d", d, got, low, high,
				len(all))
		}
		if s.Within(s.Quantile(1)) < 0.9999 {
			t.Fatalf("within %v is not everything: %v", s.Quantile(1), s.Within(s.Quantile(1)))
		}
	})
}

// On a network without jitter the plan covers the path if that is cheap for players, and does not
// wait if it is dear.
func TestPlan(t *testing.T) {
	var s timeline.Spread
	for range 500 {
		s.Add(0)
		s.Add(50 * time.Millisecond)
	}
	m := timeline.Model{
		Spread: &s, Tick: time.Second / 60, Rate: 360, Harm: 0.2, Step: 50 * time.Microsecond,
		Copy: 20 * time.Microsecond, Size: 1 << 20, Window: time.Second}
	plan, err := m.Plan()
	if err != nil {
		t.Fatal(err)
	}
	if d := plan.Delays[0]; d < 50*time.Millisecond || d > 60*time.Millisecond ||
		len(plan.Delays) != 2 {
		t.Errorf("with waiting cheap: %v\n%s", plan.Delays, plan.Explain())
	}
	m.Weights = timeline.Weights{Delay: 1000, Rewind: 1, Memory: 0.1}
	if plan, err = m.Plan(); err != nil || plan.Delays[0] != 0 || len(plan.Delays) < 3 {
		t.Errorf("with waiting dear: %v %v", plan, err)
	}
	if text := plan.Explain(); !strings.Contains(text, "<- chosen") ||
		!strings.Contains(text, "state 1 waits") {
		t.Error(text)
	}
	// No other set of the same choices costs less.
	rapid.Check(t, func(t *rapid.T) {
		m := m
		m.Weights = timeline.Weights{
			Delay:  rapid.Float64Range(0.1, 20).Draw(t, "delay"),
			Rewind: rapid.Float64Range(0.1, 20).Draw(t, "rewind"), Memory: 0.1}
		plan, err := m.Plan()
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range plan.Next {
			if c.Cost.Total() < plan.Cost.Total() {
				t.Fatalf("%v is cheaper than %v", c, plan.Candidate)
			}
		}
		if sum := m.Cost(plan.Delays).Total(); math.Abs(sum-plan.Cost.Total()) > 1e-9 {
			t.Fatalf("%v and %v", sum, plan.Cost)
		}
	})
	for _, bad := range []timeline.Model{
		{}, {Spread: &s, Tick: 1, Window: 1}, {
			Spread: &s, Tick: 1, Window: 1, Step: 1, Copy: 1, States: 1}} {
		if _, err := bad.Plan(); err == nil {
			t.Errorf("%+v was planned", bad)
		}
	}
}

// Where the leading state goes back at once, it is not worth waiting for others as long as steps
// are cheap and little of what is shown is wrong; it is where they are dear, or much is.
func TestPlanBack(t *testing.T) {
	var s timeline.Spread
	for range 500 {
		s.Add(0)
		s.Add(40 * time.Millisecond)
	}
	usual := timeline.Model{
		Spread: &s, Tick: time.Second / 60, Rate: 1440, Harm: 0.6, Back: 250 * time.Millisecond,
		Wrong: 0.03, Taken: 0.02, Step: 30 * time.Microsecond, Copy: 3 * time.Microsecond,
		Size: 1 << 15, Window: time.Second}
	for what, x := range map[string]struct {
		change func(m *timeline.Model)
		waits  bool
	}{
		"as usual":           {func(*timeline.Model) {}, false},
		"steps are dear":     {func(m *timeline.Model) { m.Step = 4 * time.Millisecond }, true},
		"copies are dear":    {func(m *timeline.Model) { m.Copy = 4 * time.Millisecond }, true},
		"much is wrong":      {func(m *timeline.Model) { m.Wrong = 0.5 }, true},
		"much is taken back": {func(m *timeline.Model) { m.Taken = 0.5 }, true},
		"nothing goes back":  {func(m *timeline.Model) { m.Back = 0 }, true},
		"players shall not wait": {
			func(m *timeline.Model) { m.Wrong, m.Taken, m.Prompt = 0.5, 0.5, true }, false},
		"but they have to": {
			func(m *timeline.Model) { m.Step, m.Prompt = 4*time.Millisecond, true }, true},
		"nobody minds events": {
			func(m *timeline.Model) { m.Taken, m.Weights = 0.5, careless }, false},
	} {
		m := usual
		x.change(&m)
		plan, err := m.Plan()
		if err != nil {
			t.Fatal(err)
		}
		if d := plan.Delays[0]; (d > 0) != x.waits || x.waits && d < 40*time.Millisecond {
			t.Errorf("%s: %v\n%s", what, plan.Delays, plan.Explain())
		}
	}
}

var careless = timeline.Weights{Delay: 2, Wrong: 1, Rewind: 1, Memory: 0.1}

// Auto measures what steps and copies take, and what players are shown.
func TestAutoMeasures(t *testing.T) {
	clock := time.Duration(0)
	m := maker{name: "auto",
		make: func(start *world.World, o timeline.Options, _ []member.ID) (timeline.Timeline,
			error) {
			o.Clock = func() time.Duration { clock += 7 * time.Microsecond; return clock }
			return timeline.NewAuto(start, timeline.AutoOptions{
				TrailingOptions: timeline.TrailingOptions{
					Options: o, Back: 250 * time.Millisecond,
					Delays: timeline.DelaysOf(0, 500*time.Millisecond)},
				Every: time.Second,
			})
		}}
	k := talk{ticks: 600, mirrors: 2, players: 2, do: busy,
		delay: func(m member.ID, n world.Tick) time.Duration {
			return time.Duration(m-1) * 40 * time.Millisecond
		}}
	out := mustPlay(t, m, k.script(), 600)
	plan := out.line.(*timeline.Auto).Plan()
	s := out.stats
	if plan == nil || plan.Model.Step != 7*time.Microsecond ||
		plan.Model.Copy != 7*time.Microsecond || plan.Model.Back < 200*time.Millisecond {
		t.Fatalf("%+v", plan)
	}
	if plan.Model.Wrong <= 0 || plan.Model.Taken <= 0 || s.Wrong == 0 || s.Wrong >= s.Bodies ||
		s.Taken == 0 || s.Taken >= s.Events || s.Spoiled == 0 || s.Spoiled > s.Late {
		t.Errorf("%+v\n%+v", plan.Model, s)
	}
	if d := out.line.Delays(); d.Lead != 0 {
		t.Errorf("players wait for others, %v:\n%s", d, plan.Explain())
	}
}

// Auto follows a network that changes, and settles the same worlds as anyone.
func TestAuto(t *testing.T) {
	var delays [][]time.Duration
	m := maker{name: "auto",
		make: func(start *world.World, o timeline.Options, _ []member.ID) (timeline.Timeline,
			error) {
			return timeline.NewAuto(start, timeline.AutoOptions{
				TrailingOptions: timeline.TrailingOptions{
					Options: o, Delays: timeline.DelaysOf(0, 500*time.Millisecond)},
				Step: 50 * time.Microsecond, Copy: 20 * time.Microsecond, Every: time.Second,
			})
		}}
	const ticks = 3600
	k := talk{ticks: ticks, mirrors: 2, players: 2, do: busy,
		delay: func(m member.ID, n world.Tick) time.Duration {
			switch {
			case m == 1:
				return 0
			case n < 600:
				return 30 * time.Millisecond
			case n < 1200:
				return 120*time.Millisecond +
					time.Duration(det.Draw(3, uint64(n), 0, 0)%60)*time.Millisecond
			}
			return 2 * time.Millisecond
		}}
	start := begin(t)
	out, err := play(start, m, nil, k.script(), ticks,
		func(now time.Duration, line timeline.Timeline) error {
			d := line.Delays().List()
			if len(delays) == 0 || len(d) != len(delays[len(delays)-1]) ||
				d[0] != delays[len(delays)-1][0] {
				delays = append(delays, d)
			}
			return nil
		})
	if err == nil {
		err = judge(start, out, ticks)
	}
	if err != nil {
		t.Fatal(err)
	}
	most := time.Duration(0)
	for _, d := range delays {
		most = max(most, d[0])
	}
	if last := delays[len(delays)-1][0]; most < 120*time.Millisecond || last > 30*time.Millisecond {
		t.Errorf("the leading world's delay was at most %v and is %v in the end: %v", most, last,
			delays)
	}
	auto := out.line.(*timeline.Auto)
	t.Log(delays)
	if auto.Plan() == nil || out.stats.TooLate > 0 {
		t.Errorf("%v %+v", auto.Plan(), out.stats)
	}
}

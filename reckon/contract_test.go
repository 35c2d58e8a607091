package reckon

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/coeval-dev/coeval/world"
)

func contract(t testing.TB, terms Terms) *Contract {
	t.Helper()
	c, err := NewContract(bodyFields(), terms)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// A thing that wanders is shown from its updates alone. Whenever it is shown further off than was
// agreed, an update was due; what is never sent costs nothing else; and a heartbeat comes when
// nothing was wrong for long.
func TestNoErrorBeyondTheToleranceGoesUnsaid(t *testing.T) {
	fields := bodyFields()
	rapid.Check(t, func(t *rapid.T) {
		within, turn := rapid.Int32Range(0, 60).Draw(t, "within"),
			rapid.Int32Range(0, 100).Draw(t, "turn")
		slack := rapid.Int32Range(1, 3).Draw(t, "slack")
		beat := world.Tick(rapid.IntRange(0, 12).Draw(t, "heartbeat"))
		c, err := NewContract(fields, Terms{Heartbeat: beat, Tolerances: []Tolerance{
			{Fields: []string{"x", "z"}, Within: within}, {Fields: []string{"yaw"}, Within: turn}}})
		if err != nil {
			t.Fatal(err)
		}
		m, err := New(fields,
			Options{Axes: []Axis{{Name: "x", Velocity: "vx"}, {Name: "z", Velocity: "vz"}}})
		if err != nil {
			t.Fatal(err)
		}
		w := Watch{Slack: Ratio{Num: slack}}
		truth, sent, shown := make([]int32, len(fields)), make([]int32, len(fields)),
			make([]int32, len(fields))
		var last world.Tick
		for tick := world.Tick(1); tick < 60; tick++ {
			truth[2] += rapid.Int32Range(-8, 8).Draw(t, "ax")
			truth[3] += rapid.Int32Range(-8, 8).Draw(t, "az")
			truth[0] += truth[2]
			truth[1] += truth[3]
			truth[4] = (truth[4] + rapid.Int32Range(-60, 60).Draw(t, "turned")) << 22 >> 22
			if rapid.IntRange(0, 20).Draw(t, "event") == 0 {
				truth[5] = (truth[5] + 1) % 8
			}
			m.After(sent, int32(tick-last), shown)
			dx, dz, dyaw := int64(truth[0]-shown[0]), int64(truth[1]-shown[1]),
				int64((truth[4]-shown[4])<<22>>22)
			limit := int64(within * slack)
			off := dx*dx+dz*dz > limit*limit || max(dyaw, -dyaw) > int64(turn*slack) ||
				truth[5] != shown[5]
			got := c.Check(&w, tick, truth, shown)
			want := Kept
			switch {
			case last == 0:
				want = Unsent
			case off:
				want = Drifted
			case beat > 0 && tick-last >= beat:
				want = Heartbeat
			}
			if got != want {
				t.Fatalf("tick %d: %v instead of %v, truth %v, shown %v", tick, got, want, truth,
					shown)
			}
			// delivered at once, so that the error is gone and nothing holds it due
			if got != Kept {
				copy(sent, truth)
				w.Sent(tick)
				last = tick
				if again := c.Check(&w, tick, truth, truth); again != Kept {
					t.Fatalf("tick %d: %v right after an update", tick, again)
				}
			}
		}
	})
}

// Once due, an update is due until the error is down to the release, so that one that was lost is
// sent again and an error near the bound does not flicker.
func TestHysteresis(t *testing.T) {
	for _, c := range []struct {
		release Ratio
		errors  []int32
		due     string // d or k for each
	}{
		{Ratio{}, []int32{9, 10, 11, 10, 6, 5, 6, 10, 11}, "kkdddkkkd"},
		{Ratio{1, 1}, []int32{10, 11, 10, 11}, "kdkd"},
		{Ratio{0, 1}, []int32{11, 1, 0, 1}, "ddkk"},
	} {
		k := contract(t, Terms{Release: c.release, Tolerances: []Tolerance{{[]string{"x"}, 10}}})
		var w Watch
		w.Sent(1)
		var got strings.Builder
		for _, e := range c.errors {
			got.WriteByte(k.Check(&w, 2, []int32{-e, 0, 0, 0, 0, 0}, make([]int32, 6)).String()[0])
		}
		if got.String() != c.due {
			t.Errorf("release %v, errors %v: %s instead of %s", c.release, c.errors, &got, c.due)
		}
	}
}

func TestContractAtTheExtremes(t *testing.T) {
	fields := bodyFields()
	for i := range 3 {
		fields[i].Min, fields[i].Max = -1<<31, 1<<31-1
	}
	c, err := NewContract(fields,
		Terms{Heartbeat: 5, Tolerances: []Tolerance{{[]string{"x", "z", "vx"}, maxDistance - 1}}})
	if err != nil {
		t.Fatal(err)
	}
	low, high := []int32{-1 << 31, -1 << 31, -1 << 31, 0, 0, 0}, []int32{
		1<<31 - 1, 1<<31 - 1, 1<<31 - 1, 0, 0, 0}
	w := Watch{Slack: Ratio{Num: MaxTerm}}
	w.Sent(10)
	if got := c.Check(&w, 11, low, high); got != Drifted {
		t.Errorf("as far apart as can be: %v", got)
	}
	if got := c.Check(&w, 9, low, slices.Clone(low)); got != Kept {
		t.Errorf("equal, before the last update: %v", got)
	}
	if got := c.Check(&w, 11, low, low[:3]); got != Drifted {
		t.Errorf("an image of another class: %v", got)
	}
}

func TestNewContractRefusesNonsense(t *testing.T) {
	for _, c := range []struct {
		want string
		t    Terms
	}{
		{"no field", Terms{Tolerances: []Tolerance{{[]string{"y"}, 1}}}},
		{"0 fields", Terms{Tolerances: []Tolerance{{nil, 1}}}},
		{"4 fields", Terms{Tolerances: []Tolerance{{[]string{"x", "z", "vx", "vz"}, 1}}}},
		{"tolerance of -1", Terms{Tolerances: []Tolerance{{[]string{"x"}, -1}}}},
		{"release", Terms{Release: Ratio{3, 2}}},
		{"release", Terms{Release: Ratio{-1, 2}}},
	} {
		if _, err := NewContract(bodyFields(), c.t); err == nil ||
			!strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: error %v, want one about %q", c.t, err, c.want)
		}
	}
}

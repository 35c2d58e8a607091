package predict

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/reckon"
	"github.com/coeval-dev/coeval/world"
)

// thing has a number of every kind that moves, and some that do not.
type thing struct {
	Pos    det.Vec2
	Yaw    det.Angle
	Rot    det.Quat
	Health int
	On     bool
	Heat   float64
}

func (x *thing) Sync(s *bits.Sync) {
	s.Vec2(&x.Pos, -100, 100, 1.0/64)
	s.Angle(&x.Yaw, 10)
	s.Quat(&x.Rot, 10)
	s.Int(&x.Health, 0, 100)
	if s.Bool(&x.On) {
		s.Float(&x.Heat, 0, 10, 0.1)
	}
}

func thingClass(t interface{ Fatal(...any) }, o Class) *class {
	g := world.Define("things", world.Class[thing]())
	if err := g.Err(); err != nil {
		t.Fatal(err)
	}
	c, err := newClass(g.Classes()[0], o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func (c *class) imageOf(t interface{ Fatal(...any) }, x thing) []int32 {
	var s bits.Sync
	image := make([]int32, c.info.Layout().Len())
	if err := c.info.Layout().Pack(&s, &x, image); err != nil {
		t.Fatal(err)
	}
	return image
}

// TestBetween: an image between two is one that the game has, lies between them, and is each of
// them at its end.
func TestBetween(t *testing.T) {
	c := thingClass(t, Class{})
	draw := func(t *rapid.T, name string) thing {
		x := thing{Pos: det.Vec2{X: rapid.Float64Range(-100, 100).Draw(t, name+" x"),
			Y: rapid.Float64Range(-100, 100).Draw(t, name+" y")},
			Yaw:    det.Angle(rapid.Float64Range(-3.1, 3.1).Draw(t, name+" yaw")),
			Health: rapid.IntRange(0, 100).Draw(t, name+" health"),
			On:     rapid.Bool().Draw(t, name+" on")}
		x.Rot = det.Quat{
			X: rapid.Float64Range(-1, 1).Draw(t, name+" a"),
			Y: rapid.Float64Range(-1, 1).Draw(t, name+" b"), Z: 0.1, W: 0.2}.Unit()
		return x
	}
	rapid.Check(t, func(t *rapid.T) {
		a, b := c.imageOf(t, draw(t, "from")), c.imageOf(t, draw(t, "to"))
		part := rapid.Float64Range(0, 1).Draw(t, "part")
		got := make([]int32, len(a))
		c.fields.between(got, a, b, part)
		if err := c.info.Schema().Check(got); err != nil {
			t.Fatal(err)
		}
		for i, m := range c.fields.moves {
			lo, hi := min(a[i], b[i]), max(a[i], b[i])
			if (m == slides || m == steps) && (got[i] < lo || got[i] > hi) {
				t.Fatalf("%s: %d is not between %d and %d", c.fields.slots[i].Name, got[i], a[i],
					b[i])
			}
			if m == steps && got[i] != a[i] {
				t.Fatalf("%s changed before its time", c.fields.slots[i].Name)
			}
		}
		c.fields.between(got, a, b, 0)
		for i := range got {
			if got[i] != a[i] {
				t.Fatalf("at the beginning %s is %d, not %d", c.fields.slots[i].Name, got[i], a[i])
			}
		}
		c.fields.beyond(got, a, b, 4*part)
		if err := c.info.Schema().Check(got); err != nil {
			t.Fatal(err)
		}
	})
}

// TestAround: an angle takes the short way.
func TestAround(t *testing.T) {
	c := thingClass(t, Class{})
	a, b := c.imageOf(t, thing{Yaw: 3}), c.imageOf(t, thing{Yaw: -3})
	got := make([]int32, len(a))
	c.fields.between(got, a, b, 0.5)
	slot := c.fields.slots[2]
	if yaw := float64(got[2]) * slot.Scale; math.Abs(math.Abs(yaw)-math.Pi) > 0.01 {
		t.Errorf("half way from 3 to -3 is %v", yaw)
	}
}

// TestTrack: what a track shows at each moment, by hand.
func TestTrack(t *testing.T) {
	c := thingClass(t,
		Class{Smooth: reckon.Converge{By: reckon.Linear, Ticks: 5, Limit: det.FixedInt(10)}})
	at := func(x float64) []int32 { return c.imageOf(t, thing{Pos: det.Vec2{X: x}}) }
	ts := tracks{pool[track]{of: map[world.ID]*track{}}}
	id := world.MakeID(0, 0, 1, 1)
	e := world.Entry{}
	ts.held(100, id, e, at(0))
	ts.of[id].kept[0].until = 106 // it is known to have stood still
	ts.held(109, id, e, at(3))
	ts.held(112, id, e, at(50)) // it was put there
	ts.held(115, id, e, at(51))
	ts.held(105, id, e, at(99)) // out of order
	got := make([]int32, len(c.image))
	for _, x := range []struct {
		view, want float64
		ok         bool
	}{{99, 0, false}, {100, 0, true}, {103, 0, true}, {106, 0, true}, {107, 1, true}, {
		108.5, 2.5, true}, {109, 3, true}, {111.9, 3, true}, {112, 50, true}, {113.5, 50.5, true},
		{115, 51, true}, {118, 52, true}, {121, 53, true}, {160, 53, true}} {
		_, ok := ts.of[id].at(c, x.view, 6, got)
		if pos := float64(got[0]) / 64; ok != x.ok || ok && math.Abs(pos-x.want) > 0.02 {
			t.Errorf("at %v it is shown at %v, %v; it should be %v", x.view, pos, ok, x.want)
		}
	}
	ts.left(118, id)
	if _, ok := ts.of[id].at(c, 119, 6, got); ok {
		t.Error("shown after it left")
	}
	ts.prune(117)
	if len(ts.of) != 1 {
		t.Error("forgotten before it left")
	}
	ts.prune(118)
	if len(ts.of) != 0 || len(ts.free) != 1 {
		t.Error("not forgotten")
	}
}

// TestClassErrors: what an author can get wrong is said.
func TestClassErrors(t *testing.T) {
	for name, o := range map[string]Options{
		"place":   {Classes: map[string]Class{"walker": {Place: "Nowhere"}}},
		"heading": {Classes: map[string]Class{"walker": {Heading: "Health"}}},
		"class":   {Classes: map[string]Class{"nobody": {}}},
		"state":   {Classes: map[string]Class{"tally": {Alone: true}}},
		"keep":    {Keep: 3},
	} {
		if _, err := New(yard, o); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	for _, s := range []Style{Doom3, Quake3, HalfLife} {
		if p, err := ParseStyle(s.String()); p != s || err != nil {
			t.Errorf("%v: %v, %v", s, p, err)
		}
	}
	if _, err := ParseStyle("quake2"); err == nil {
		t.Error("an unknown style")
	}
}

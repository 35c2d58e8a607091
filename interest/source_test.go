package interest

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/world"
)

func entity(n int) world.ID { return world.MakeID(0, 0, n, 1) }

func at(x float64) Traits { return Traits{Pos: det.Vec3{X: x}} }

// ids lists who is in view.
func ids(v *View) (out []world.ID) {
	for _, e := range v.Entries() {
		out = append(out, e.ID)
	}
	return out
}

// A thing is shown from the tick on at which it could be in range when the client's answer to it
// arrives: the margin is what both can travel in the round trip, and no more than that.
func TestMargin(t *testing.T) {
	for _, c := range []struct {
		name         string
		thing, me    float64 // speeds
		lag, horizon time.Duration
		nimbus       float64
		margin       float64
	}{
		{"at rest", 0, 0, 200 * time.Millisecond, 0, 0, 0},
		{"no round trip", 40, 40, 0, 0, 0, 0},
		{"it moves", 40, 0, 200 * time.Millisecond, 0, 0, 8},
		{"both move", 40, 20, 200 * time.Millisecond, 0, 0, 12},
		{"rounded up", 40, 0, 176 * time.Millisecond, 0, 0, 8},
		{"beyond the horizon", 40, 0, 9 * time.Second, 0, 0, 10},
		{"another horizon", 40, 0, 9 * time.Second, time.Second, 0, 40},
		{"a horizon between steps", 40, 0, 99 * time.Millisecond, 90 * time.Millisecond, 0, 3.6},
		{"large", 40, 0, 200 * time.Millisecond, 0, 5, 13},
		{"absurd", math.Inf(-1), math.NaN(), -time.Hour, 0, math.NaN(), 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			ix, f := NewIndex(Options{Horizon: c.horizon}), NewFinder()
			r := &Rules{Sources: []Source{&Radius{Enter: 100}}}
			o := Observer{Speed: c.me, RoundTrip: c.lag}
			for _, off := range []float64{-0.001, 0.001} {
				var v View
				thing := at(100 + c.margin + off)
				thing.Speed, thing.Nimbus = c.thing, c.nimbus
				ix.Set(1, thing)
				f.Update(&v, ix, r, o)
				if got := len(v.Entries()) == 1; got != (off < 0) {
					t.Errorf("at %v: shown %v", thing.Pos.X, got)
				}
			}
		})
	}
}

// The jitter of a measured round trip does not make a view look again.
func TestJitter(t *testing.T) {
	ix, f, v := NewIndex(Options{}), NewFinder(), View{}
	asked := 0
	r := &Rules{
		Sources: []Source{
			&Relevance{Of: &Radius{Enter: 10}, Steady: true,
				Judge: func(*Observer, world.ID, *Traits) float64 { asked++; return 1 }}}}
	ix.Set(entity(1), at(3))
	for ms := range 20 {
		f.Update(&v, ix, r, Observer{Speed: 5, RoundTrip: time.Duration(51+ms) * time.Millisecond})
	}
	if asked != 2 { // once to see it, once to know that it stays
		t.Errorf("looked %d times", asked)
	}
}

// A game's judgement is asked for again each time, unless it is steady and nothing happened where
// the client looks.
func TestRelevanceAsks(t *testing.T) {
	for _, c := range []struct {
		name   string
		steady bool
		change func(ix *Index)
		asks   int
	}{
		{"not steady", false, func(*Index) {}, 1},
		{"nothing happened", true, func(*Index) {}, 0},
		{"something far away", true, func(ix *Index) { ix.Set(entity(2), at(5000)) }, 0},
		{"it moved", true, func(ix *Index) { ix.Set(entity(1), at(4)) }, 1},
		{"the same again", true, func(ix *Index) { ix.Set(entity(1), at(3)) }, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			ix, f, v := NewIndex(Options{}), NewFinder(), View{}
			asked := 0
			r := &Rules{
				Sources: []Source{
					&Relevance{Of: &Radius{Enter: 10}, Steady: c.steady,
						Judge: func(*Observer, world.ID, *Traits) float64 { asked++; return 1 }}}}
			ix.Set(entity(1), at(3))
			ix.Set(entity(2), at(4000))
			f.Update(&v, ix, r, Observer{})
			f.Update(&v, ix, r, Observer{})
			asked = 0
			c.change(ix)
			f.Update(&v, ix, r, Observer{})
			if asked != c.asks {
				t.Errorf("asked %d times, want %d", asked, c.asks)
			}
		})
	}
}

// sticky shows entity 1 when told to, and as long as it holds it.
type sticky struct{ show *bool }

func (s sticky) Find(q *Query) {
	if *s.show || q.Held(entity(1)) {
		q.Add(entity(1), 0.5)
	}
	q.Add(entity(9), 1) // does not exist
	q.Add(entity(2), math.NaN())
	q.Add(entity(2), -1)
}

func (s sticky) Quiet(*Query) bool { return false }

// What a source of the game's own holds is what that source showed, not what another did; and what
// it adds in vain is not shown.
func TestOwnSource(t *testing.T) {
	ix, f, v := NewIndex(Options{}), NewFinder(), View{}
	ix.Set(entity(1), at(3))
	ix.Set(entity(2), at(3000))
	show := false
	r := &Rules{Sources: []Source{Any{&Radius{Enter: 10}}, sticky{&show}}}
	update := func(o Observer) { f.Update(&v, ix, r, o) }
	by := func() []bool {
		e := v.Entries()[0]
		return []bool{e.By(0), e.By(1), e.By(2), e.By(3), e.By(-1)}
	}

	update(Observer{})
	if !slices.Equal(ids(&v), []world.ID{entity(1)}) ||
		!slices.Equal(by(), []bool{true, true, false, false, false}) {
		t.Fatal(v.Entries())
	}
	show = true
	update(Observer{})
	show = false
	update(Observer{})
	if !slices.Equal(by(), []bool{true, true, true, false, false}) {
		t.Fatal("it does not hold on", v.Entries())
	}
	update(Observer{Pos: det.Vec3{X: 500}})
	if !slices.Equal(by(), []bool{false, false, true, false, false}) ||
		v.Entries()[0].Priority != 0.5 {
		t.Fatal("it does not hold on alone", v.Entries())
	}
	v.Reset()
	if len(v.Entries())+len(v.Left())+len(v.Removed()) != 0 {
		t.Fatal("something is left after Reset", v)
	}
	update(Observer{Pos: det.Vec3{X: 500}})
	if len(v.Entries()) != 0 {
		t.Fatal("it holds on to what was before Reset", v.Entries())
	}
}

// From the 32nd on sources share a number; they work all the same.
func TestManySources(t *testing.T) {
	ix, f, v := NewIndex(Options{}), NewFinder(), View{}
	r := &Rules{}
	for n := range 40 {
		ix.Set(entity(n), Traits{Channels: 1 << n, Nowhere: true})
		r.Sources = append(r.Sources, &Channel{Of: 1 << n})
	}
	f.Update(&v, ix, r, Observer{Channels: math.MaxUint64})
	if len(v.Entries()) != 40 {
		t.Fatal(ids(&v))
	}
	for n, e := range v.Entries() {
		if !e.By(n) || e.By(31) != (n >= 31) || e.By(30) != (n == 30) {
			t.Errorf("entity %d: %b", n, e.by)
		}
	}
}

// A view that is handed to another index, as when the map changes, says who is gone.
func TestOtherIndex(t *testing.T) {
	one, two, f, v := NewIndex(Options{}), NewIndex(Options{}), NewFinder(), View{}
	r := &Rules{Sources: []Source{&Everything{}}}
	for n := range 5 {
		one.Set(entity(n), at(1))
	}
	two.Set(entity(7), at(1))
	two.Set(entity(3), at(1))
	f.Update(&v, one, r, Observer{})
	f.Update(&v, two, r, Observer{})
	if !slices.Equal(v.Entered(), []world.ID{entity(7)}) ||
		!slices.Equal(v.Removed(), []world.ID{entity(0), entity(1), entity(2), entity(4)}) ||
		len(v.Left()) != 0 {
		t.Error(v.Entered(), v.Removed(), v.Left())
	}
}

// What is set can be read, and set again without a change. No entity is None.
func TestTraits(t *testing.T) {
	ix := NewIndex(Options{Cell: math.NaN()})
	ix.Set(world.None, at(1))
	ix.Remove(entity(1))
	if ix.Len() != 0 || ix.Traits(entity(1)) != nil || ix.Revision() != 1 {
		t.Fatal("there is something in an empty index")
	}
	for _, absurd := range []Traits{
		{}, {Importance: -3}, {Importance: float32(math.NaN())}, {Importance: float32(math.Inf(1))},
		{Speed: math.Inf(1), Sound: math.Inf(1), Nimbus: math.Inf(1)},
		{Pos: det.Vec3{Z: math.NaN()}},
	} {
		ix.Set(entity(1), absurd)
		before := ix.Revision()
		ix.Set(entity(1), *ix.Traits(entity(1)))
		if ix.Revision() != before {
			t.Errorf("%+v is not what was read: %+v", absurd, *ix.Traits(entity(1)))
		}
	}
}

// An entity with absurd speed, reach and sound does no harm to others: searches still find what
// they should.
func TestAbsurdEntity(t *testing.T) {
	ix, f, v := NewIndex(Options{}), NewFinder(), View{}
	r := &Rules{Sources: []Source{&Radius{Enter: 10}, &Sound{}}}
	ix.Set(entity(1),
		Traits{Speed: math.Inf(1), Nimbus: math.MaxFloat64, Sound: math.Inf(1),
			Pos: det.Vec3{X: -1e300, Y: 1e300}})
	ix.Set(entity(2), at(3))
	ix.Set(entity(3), at(1e9))
	f.Update(&v, ix, r, Observer{RoundTrip: time.Second})
	if !slices.Equal(ids(&v), []world.ID{entity(2)}) {
		t.Error(ids(&v))
	}
	ix.Set(entity(1),
		Traits{Speed: math.Inf(1), Nimbus: math.MaxFloat64, Sound: math.Inf(1),
			Pos: det.Vec3{X: -1e10}})
	f.Update(&v, ix, r, Observer{RoundTrip: time.Second})
	if !slices.Equal(ids(&v), []world.ID{entity(1), entity(2)}) {
		t.Error(ids(&v))
	}
}

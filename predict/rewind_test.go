package predict

import (
	"math"
	"strings"
	"testing"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/world"
)

// A runner circles around a tree.
type runner struct {
	Pos   det.Vec2
	Angle det.Angle
}

func (r *runner) Sync(s *bits.Sync) {
	s.Vec2(&r.Pos, -10, 10, 1.0/1024)
	s.Angle(&r.Angle, 16)
}

func (r *runner) Step(w *world.World, me world.ID) {
	r.Angle += det.Angle(math.Pi / 90) // around once in three seconds
	r.Pos = r.Angle.Vec().Mul(3)
}

const treeRadius = 1.0

var forest = world.Define("forest", world.Class[runner](), world.OnStart(func(w *world.World) {
	for _, a := range []det.Angle{0, math.Pi} { // opposite each other, always
		world.Spawn(w, runner{Pos: a.Vec().Mul(3), Angle: a})
	}
}))

// clearOfTree says whether the tree, which stands in the middle, is not between two places.
func clearOfTree(a, b det.Vec3) bool {
	d := b.Sub(a)
	t := det.Clamp(-a.Dot(d)/d.Dot(d), 0, 1)
	return a.Add(d.Mul(t)).Len() > treeRadius
}

// TestTree is the case of the DOOM III paper: two players circle a tree so that it is always
// between them. One of them has a long ping, sees the other where that one was a while ago, and has
// a free line of fire on the screen. Without a look at the present he hits through the tree, again
// and again.
func TestTree(t *testing.T) {
	for _, c := range []struct {
		ago     float64 // ticks
		through bool
		hits    bool
	}{
		{0, true, false}, // no delay, no free line
		{25, true, true},
		{25, false, false},
		{12.5, false, false},
	} {
		w, err := forest.New(world.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		r, err := NewRewind(forest,
			RewindOptions{Classes: map[string]string{"runner": ""}, Through: c.through})
		if err != nil {
			t.Fatal(err)
		}
		ids := []world.ID{}
		for id := range w.Entities() {
			ids = append(ids, id)
		}
		shots, hits := 0, 0
		for range 400 {
			if err := w.Host().Step(nil); err != nil {
				t.Fatal(err)
			}
			r.Remember(w)
			if w.Tick() < 60 {
				continue
			}
			shooter, _ := r.At(ids[0], float64(w.Tick()))
			victim, _ := r.At(ids[1], float64(w.Tick()))
			if clearOfTree(shooter, victim) {
				t.Fatal("the tree is not between them")
			}
			seen := float64(w.Tick()) - c.ago
			target, _ := r.At(ids[1], seen)
			if !clearOfTree(shooter, target) {
				continue // the shooter would not fire
			}
			shots++
			// The server goes back to what the shooter saw, if it may.
			at, ok := r.Where(ids[1], seen,
				func(present det.Vec3) bool { return clearOfTree(shooter, present) })
			if !ok {
				at = victim
			}
			if at.Sub(target).Len() < 0.4 && clearOfTree(shooter, at) {
				hits++
			}
		}
		if (hits > 0) != c.hits || c.ago == 25 && shots < 300 {
			t.Errorf("%v ticks ago, through %v: %d hits of %d shots", c.ago, c.through, hits, shots)
		}
	}
}

// TestRewindExact: where something was is told exactly, between ticks too, and not further back
// than the limit.
func TestRewindExact(t *testing.T) {
	w, err := forest.New(world.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := NewRewind(forest,
		RewindOptions{Classes: map[string]string{"runner": "Pos"}, Limit: 10})
	if err != nil {
		t.Fatal(err)
	}
	var id world.ID
	for id = range w.Entities() {
		break
	}
	if _, ok := r.At(id, 0); ok {
		t.Error("something is known before anything was recorded")
	}
	var was []det.Vec3
	for range 40 {
		if err := w.Host().Step(nil); err != nil {
			t.Fatal(err)
		}
		r.Remember(w)
		p := world.Get[runner](w, id).Pos
		was = append(was, det.Vec3{X: p.X, Y: p.Y})
	}
	for back := range 11 {
		if p, ok := r.At(id, float64(40-back)); !ok || p != was[39-back] {
			t.Errorf("%d ticks ago: %v, %v", back, p, ok)
		}
	}
	for _, back := range []float64{11, 39, 1e9, math.Inf(1)} {
		if p, ok := r.At(id, 40-back); !ok || p != was[29] {
			t.Errorf("%v ticks ago: %v, %v; the limit is 10", back, p, ok)
		}
	}
	if p, _ := r.At(id, 99); p != was[39] {
		t.Errorf("the future: %v", p)
	}
	mid := was[34].Add(was[35].Sub(was[34]).Mul(0.25))
	if p, _ := r.At(id, 35.25); p.Sub(mid).Len() > 1e-9 {
		t.Errorf("between ticks: %v, not %v", p, mid)
	}
	if _, ok := r.At(world.MakeID(0, 0, 7, 1), 38); ok {
		t.Error("someone who was never there")
	}
	if n := testing.AllocsPerRun(50, func() { r.Remember(w); r.At(id, 35.5) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
	for name, o := range map[string]RewindOptions{
		"no class":         {Classes: map[string]string{"tree": ""}},
		"no number or vec": {Classes: map[string]string{"runner": "Angle"}},
		"at most":          {Limit: 5000},
	} {
		if _, err := NewRewind(forest, o); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

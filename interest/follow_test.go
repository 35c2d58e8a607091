package interest

import (
	"slices"
	"testing"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/world"
)

type ant struct{ Pos det.Vec2 }

func (a *ant) Sync(s *bits.Sync) { s.Vec2(&a.Pos, -1000, 1000, 1.0/16) }

// Step walks about, breeds and dies.
func (a *ant) Step(w *world.World, me world.ID) {
	r := w.Rand()
	a.Pos = a.Pos.Add(r.Unit2())
	switch {
	case r.Chance(0.05):
		w.Remove(me)
	case r.Chance(0.06):
		world.Spawn(w, ant{a.Pos})
	case r.Chance(0.05):
		w.SetOwner(me, world.Player(r.IntN(3)))
	}
}

type hill struct{ Size int }

func (h *hill) Sync(s *bits.Sync) { s.Int(&h.Size, 0, 9) }

type weather struct{ Rain bool }

func (h *weather) Sync(s *bits.Sync) { s.Bool(&h.Rain) }

var ants = world.Define("ants", world.Class[hill](), world.State[weather](), world.Class[ant](),
	world.OnStart(func(w *world.World) {
		world.Spawn(w, hill{3})
		for i := range 50 {
			world.Spawn(w, ant{det.Vec2{X: float64(i)}})
		}
	}))

// The index holds what the world holds, tick after tick, also where ticks are left out or the world
// goes back.
func TestFollow(t *testing.T) {
	w, err := ants.New(world.Settings{Seed: 4})
	if err != nil {
		t.Fatal(err)
	}
	ix := NewIndex(Options{})
	f := NewFollower(ix, Describe(func(_ *world.World, _ world.ID, a *ant) Traits {
		return Traits{Pos: det.Vec3{X: a.Pos.X, Y: a.Pos.Y}, Speed: 60}
	}))
	past := w.Host().Clone()
	spawned, removed := 0, 0
	check := func() {
		t.Helper()
		before := slices.Clone(ix.ids)
		f.Follow(w)
		n := 0
		for id := range w.Entities() {
			n++
			got := ix.Traits(id)
			want := Traits{Importance: 1, Owner: w.Owner(id)}
			if a := world.Get[ant](w, id); a != nil {
				want.Pos, want.Speed = det.Vec3{X: a.Pos.X, Y: a.Pos.Y}, 60
			} else {
				want.Always, want.Nowhere = true, true
			}
			if got == nil || *got != want {
				t.Fatalf("tick %d: %v is %+v, want %+v", w.Tick(), id, got, want)
			}
			if !slices.Contains(before, id) {
				spawned++
			}
		}
		for _, id := range before {
			if id != world.None && !w.Has(id) {
				removed++
			}
		}
		if n != ix.Len() {
			t.Fatalf("tick %d: %d in the index, %d in the world", w.Tick(), ix.Len(), n)
		}
	}
	check()
	for tick := range 120 {
		if err := w.Host().Step(nil); err != nil {
			t.Fatal(err)
		}
		switch {
		case tick == 70:
			past.Host().CopyFrom(w)
		case tick == 90:
			w.Host().CopyFrom(past)
		case tick%10 == 3:
			continue
		}
		check()
	}
	if spawned < 100 || removed < 100 {
		t.Fatalf("%d came and %d went: too little for the test to mean anything", spawned, removed)
	}
}

// A part of a class number is asked about the entities of that class alone, and wins over what
// stands after it; what has no part has no place.
func TestDescribeClass(t *testing.T) {
	w, err := ants.New(world.Settings{Seed: 4})
	if err != nil {
		t.Fatal(err)
	}
	const ofAnts = 2
	ix, asked := NewIndex(Options{}), 0
	never := func(*world.World, world.ID) Traits {
		t.Error("a part was asked about another class")
		return Traits{}
	}
	f := NewFollower(ix,
		DescribeClass(-1, never), DescribeClass(99, never), DescribeClass(1, never),
		DescribeClass(ofAnts, func(w *world.World, id world.ID) Traits {
			if id.Class() != ofAnts {
				t.Errorf("asked about %v", id)
			}
			asked++
			return Traits{Sound: 3}
		}),
		Describe(func(*world.World, world.ID, *ant) Traits { return never(nil, 0) }))
	f.Follow(w)
	if asked != 50 {
		t.Errorf("asked %d times about 50 ants", asked)
	}
	for id := range w.Entities() {
		want := Traits{Importance: 1, Sound: 3}
		if id.Class() != ofAnts {
			want = Traits{Importance: 1, Always: true, Nowhere: true}
		}
		if got := ix.Traits(id); got == nil || *got != want {
			t.Errorf("%v is %+v, want %+v", id, got, want)
		}
	}
}

// Following a world at rest allocates nothing.
func TestFollowAllocations(t *testing.T) {
	w, err := ants.New(world.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	f := NewFollower(NewIndex(Options{}),
		Describe(func(_ *world.World, _ world.ID, a *ant) Traits {
			return Traits{Pos: det.Vec3{X: a.Pos.X}}
		}))
	f.Follow(w)
	f.Follow(w)
	if n := testing.AllocsPerRun(100, func() { f.Follow(w) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

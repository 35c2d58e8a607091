package world

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/det"
	"pgregory.net/rapid"
)

// A spark flies on and goes out. What it does besides, a test says.
type spark struct {
	Pos, Vel det.Vec2
	Age, Of  int
	do       func(w *World, me ID)
}

func (s *spark) Step(w *World, me ID) {
	s.Pos = s.Pos.Add(s.Vel)
	s.Age++
	if s.do != nil {
		s.do(w, me)
	}
	if s.Of > 0 && s.Age >= s.Of {
		w.Remove(me)
	}
}

// dust lies where it fell.
type dust struct{ X int }

// A torch draws lots, throws brands, tells of it, and throws sparks in between if it is one that
// does.
type torch struct {
	N    int
	seen int `world:"server"`
}

func (x *torch) Sync(s *bits.Sync) { s.Int(&x.N, 0, 1<<20) }

type brand struct{ X int }

func (x *brand) Sync(s *bits.Sync) { s.Int(&x.X, 0, 100) }
func (x *brand) Step(w *World, me ID) {
	if x.X++; x.X >= 20 {
		w.Remove(me)
	}
}

func (x *torch) Step(w *World, me ID) {
	r := w.Rand()
	for range 2 {
		if throwSparks {
			if id := Spawn(w, spark{Of: 5}); id != None {
				x.seen++
			}
			for range All[spark](w) {
				x.seen++
			}
			x.seen += Count[spark](w) + Count[dust](w)
		}
		x.N = (x.N + int(r.Uint64N(7))) % 1000
		Spawn(w, brand{X: int(r.Uint64N(5))})
		Emit(w, me, fired{Loud: int(r.Uint64N(7))})
	}
}

// throwSparks tells whether torches throw sparks. A game must not ask such a variable; these tests
// do, to compare a game with itself without the sparks.
var throwSparks bool

func sparkle(t *testing.T, sparks bool) {
	throwSparks = sparks
	t.Cleanup(func() { throwSparks = false })
}

func torches(locals ...Declaration) *Game {
	parts := []Declaration{Class[torch](), Class[brand](), Event[fired](),
		OnStart(func(w *World) { Spawn(w, torch{}); Spawn(w, torch{}) })}
	return Define("torches", append(parts, locals...)...)
}

var sparkling = torches(Local[spark](), Local[dust]())

func newOf(t testing.TB, g *Game, s Settings) *World {
	t.Helper()
	w, err := g.New(s)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func TestLocalEntitiesAreNoPartOfTheWorld(t *testing.T) {
	plain := torches()
	if plain.Describe() != sparkling.Describe() || plain.Hash() != sparkling.Hash() ||
		len(plain.Classes()) != len(sparkling.Classes()) {
		t.Errorf("the games differ:\n%s", sparkling.Describe())
	}
	a, b, c := newOf(t, plain, Settings{}), newOf(t, sparkling, Settings{}),
		newOf(t, sparkling, Settings{})
	l := sparkling.NewLocals()
	if err := c.Host().SetLocals(l); err != nil {
		t.Fatal(err)
	}
	sparkle(t, true)
	for range 50 {
		throwSparks = false
		if err := a.Host().Step(nil); err != nil {
			t.Fatal(err)
		}
		throwSparks = true
		if err := errors.Join(b.Host().Step(nil), c.Host().Step(nil), l.Step(c)); err != nil {
			t.Fatal(err)
		}
		for _, w := range []*World{b, c} {
			if w.Hash() != a.Hash() || !slices.Equal(w.Host().Save(nil), a.Host().Save(nil)) ||
				w.Host().Size() != a.Host().Size() {
				t.Fatalf("tick %d: sparks changed the world: %v", w.Tick(), Differ(b, c))
			}
			if e, same := sameEvents(a, w); !same {
				t.Fatalf("tick %d: sparks changed the names of events: %+v", w.Tick(), e)
			}
			for id := range a.Entities() {
				if !w.Has(id) || w.Origin(id) != a.Origin(id) {
					t.Fatalf("tick %d: sparks changed names: %v is %+v and %+v", a.Tick(), id,
						a.Origin(id), w.Origin(id))
				}
			}
		}
	}
	// Each torch makes two a tick, and each lasts for five ticks after that in which it came.
	if n := Count[spark](c); n != 2*2*5 || l.Len() != n || Count[spark](b) != 0 ||
		Count[dust](c) != 0 {
		t.Errorf("%d sparks, %d in all, %d without Locals", n, l.Len(), Count[spark](b))
	}
	for _, x := range All[torch](c) {
		if x.seen != 0 {
			t.Error("a rule could see local entities")
		}
	}
	if d := c.Host().Clone(); Count[spark](d) != 0 || c.Host().CopyFrom(b) != nil ||
		Count[spark](c) == 0 {
		t.Error("a copy took the local entities along, or lost its own")
	}
}

func TestLocalEntitiesPassTheChecks(t *testing.T) {
	sparkle(t, true)
	if d, err := CheckRollback(sparkling, CheckOptions{Ticks: 100}); d != nil || err != nil {
		t.Error(d, err)
	}
	rep, err := CheckHidden(sparkling, CheckOptions{Ticks: 100})
	if err != nil || rep.Wrong != 0 || rep.Exact == 0 {
		t.Errorf("%+v, %v", rep, err)
	}
}

// A grasping spark writes to what it sees, as no local entity must.
type grasping struct{ Age int }

func (s *grasping) Step(w *World, me ID) {
	if s.Age++; s.Age < 10 {
		return
	}
	for _, b := range All[waxing](w) {
		b.N++
	}
}

type waxing struct{ N int }

func (x *waxing) Sync(s *bits.Sync) { s.Int(&x.N, 0, 1<<20) }
func (x *waxing) Step(w *World, me ID) {
	if w.Tick() == 1 {
		Spawn(w, grasping{})
	}
}

func TestRollbackFindsALocalEntityThatWrites(t *testing.T) {
	g := Define("grasping", Class[waxing](), Local[grasping](),
		OnStart(func(w *World) { Spawn(w, waxing{}) }))
	d, err := CheckRollback(g, CheckOptions{Ticks: 30})
	if err != nil || d == nil || d.Class != "waxing" {
		t.Error(d, err)
	}
}

func withLocals(t testing.TB, g *Game) (*World, *Locals) {
	w, l := newOf(t, g, Settings{Partial: true}), g.NewLocals()
	if err := w.Host().SetLocals(l); err != nil {
		t.Fatal(err)
	}
	return w, l
}

// tick computes the next tick of a world, and of its local entities.
func tick(t testing.TB, w *World, l *Locals) {
	t.Helper()
	if err := errors.Join(w.Host().Step(nil), l.Step(w)); err != nil {
		t.Fatal(err)
	}
}

func TestLocalEntitiesComeStepAndGo(t *testing.T) {
	w, l := withLocals(t, sparkling)
	id := Spawn(w, spark{Vel: det.Vec2{X: 1}, Of: 3}) // as one who draws may
	lying := Spawn(w, dust{X: 4})
	s := Get[spark](w, id)
	if !id.Local() || s == nil || !w.Has(id) || Count[spark](w) != 1 || Get[dust](w, id) != nil ||
		id == lying {
		t.Fatalf("%v: %+v", id, s)
	}
	if w.Owner(id) != Nobody || w.Origin(id) != (Name{}) || w.Host().Image(id) != nil ||
		w.Host().Changed(id) || w.Removing(id) ||
		w.Host().HashEntity(id) != 0 || w.Host().Fields(id) != nil ||
		w.Host().Entry(id) != (Entry{}) {
		t.Error("a local entity has what only ordinary ones have")
	}
	if err := w.Host().Put(id, Entry{}, nil); !errors.Is(err, ErrPlace) {
		t.Error(err)
	}
	w.SetOwner(id, 1)
	w.Host().Drop(id)
	w.Host().Forget(id)
	w.Host().Lend(id)
	before := w.Hash()
	for i := 1; i <= 3; i++ {
		if s.Age != i-1 {
			t.Errorf("at tick %d it is %+v", i, s)
		}
		tick(t, w, l)
	}
	if w.Has(id) || Get[spark](w, id) != nil || Count[spark](w) != 0 || !w.Has(lying) {
		t.Error("it did not go out")
	}
	if w.Remove(lying); w.Has(lying) || Get[dust](w, lying) != nil {
		t.Error("what is removed between ticks is gone at once")
	}
	w.Remove(lying)
	if again := Spawn(w, dust{}); again == lying || w.Has(lying) || Count[dust](w) != 1 {
		t.Error("an ID names two")
	}
	w.tick = 0
	if w.Hash() != before {
		t.Error("it left something in the world")
	}
	if err := w.Host().SetLocals(nil); err != nil || Count[dust](w) != 0 ||
		Spawn(w, dust{}) != None || w.takeError() != nil {
		t.Error("a world without Locals has local entities, or complains")
	}
}

func TestALocalEntityChangesNothingElse(t *testing.T) {
	g := torches(Local[spark]())
	for _, x := range []struct {
		what string
		do   func(w *World, me ID)
	}{
		{"Spawn of brand", func(w *World, me ID) { Spawn(w, brand{}) }},
		{"Emit of fired", func(w *World, me ID) { Emit(w, None, fired{}) }},
		{"Remove of torch", func(w *World, me ID) { w.Remove(first[torch](w)) }},
		{"SetOwner of torch", func(w *World, me ID) { w.SetOwner(first[torch](w), 1) }},
	} {
		w, l := newOf(t, g, Settings{}), g.NewLocals()
		if err := w.Host().SetLocals(l); err != nil {
			t.Fatal(err)
		}
		id := Spawn(w, spark{do: x.do})
		if err := w.Host().Step(nil); err != nil {
			t.Fatal(err)
		}
		hash := w.Hash()
		err := l.Step(w)
		var e *Error
		if !errors.As(err, &e) || e.Entity != id || e.Class != "spark" ||
			!strings.Contains(err.Error(), "a local entity cannot do "+x.what) {
			t.Errorf("%s: %v", x.what, err)
		}
		if w.Hash() != hash {
			t.Errorf("%s changed the world", x.what)
		}
		w.Remove(id)
		if err := w.Host().Step(nil); err != nil {
			t.Errorf("%s: the world itself complains: %v", x.what, err)
		}
	}
}

func first[T any](w *World) ID {
	for id := range All[T](w) {
		return id
	}
	return None
}

func TestALocalEntitySeesAndSpawns(t *testing.T) {
	g := torches(Local[spark](), Local[dust](ClassOptions{Name: "ash", Limit: 10}))
	w, l := newOf(t, g, Settings{}), g.NewLocals()
	if err := w.Host().SetLocals(l); err != nil {
		t.Fatal(err)
	}
	var seen, fell int
	Spawn(w, spark{Of: 3, do: func(w *World, me ID) {
		seen += Count[torch](w) + Count[spark](w)
		id := Spawn(w, dust{X: 7})
		if x := Get[dust](w, id); x == nil || x.X != 7 {
			t.Error("it does not see what it spawned")
		}
		for range All[dust](w) {
			fell++
		}
		w.Rand().Float64()
	}})
	if err := w.Host().SetLocals(nil); err != nil {
		t.Fatal(err)
	}
	for range 5 {
		tick(t, w, l) // which attaches them to the world for as long as they step
	}
	if seen != 3*3 || fell != 1+2+3 || Count[dust](w) != 0 || l.Len() != 3 {
		t.Errorf("seen %d, fell %d, %d left", seen, fell, l.Len())
	}
}

func TestTheOldestLocalEntityGivesWay(t *testing.T) {
	g := torches(Local[spark](ClassOptions{Limit: 3}))
	w, l := withLocals(t, g)
	ages := func() (out []int) {
		for _, s := range All[spark](w) {
			out = append(out, int(s.Pos.X))
		}
		return out
	}
	for i := range 5 {
		Spawn(w, spark{Pos: det.Vec2{X: float64(i)}})
	}
	if got := ages(); !slices.Equal(got, []int{2, 3, 4}) || Count[spark](w) != 3 {
		t.Error(got)
	}
	// One that spawns more than there may be loses itself, and its memory stays its own meanwhile.
	for id := range All[spark](w) {
		w.Remove(id)
	}
	me := Spawn(w, spark{do: func(w *World, me ID) {
		s := Get[spark](w, me)
		for i := range 100 {
			Spawn(w, spark{Pos: det.Vec2{X: float64(10 + i)}})
		}
		if s.Age != 1 || w.Has(me) {
			t.Errorf("its memory is %+v", s)
		}
	}})
	tick(t, w, l)
	if w.Has(me) || Count[spark](w) > 3 {
		t.Error("it is still there")
	}
	for i := range 1000 {
		Spawn(w, spark{Pos: det.Vec2{X: float64(i)}})
	}
	if got := ages(); !slices.Equal(got, []int{997, 998, 999}) {
		t.Error(got)
	}
}

// A loop over local entities may remove and spawn what it likes.
func TestLoopsOverLocalEntitiesEnd(t *testing.T) {
	g := torches(Local[dust](ClassOptions{Limit: 8}))
	rapid.Check(t, func(r *rapid.T) {
		w, l := withLocals(t, g)
		var model []ID // the oldest first
		spawn := func() {
			if len(model) == 8 {
				model = model[1:]
			}
			model = append(model, Spawn(w, dust{X: len(model)}))
		}
		remove := func(id ID) {
			w.Remove(id)
			model = slices.DeleteFunc(model, func(x ID) bool { return x == id })
		}
		for range rapid.IntRange(1, 12).Draw(r, "spawned") {
			spawn()
		}
		for range rapid.IntRange(1, 8).Draw(r, "loops") {
			begin := slices.Clone(model)
			var visited []ID
			for id := range All[dust](w) {
				if !slices.Contains(model, id) {
					r.Fatalf("%v is gone, and was visited", id)
				}
				visited = append(visited, id)
				for range rapid.IntRange(0, 3).Draw(r, "changes") {
					if len(model) > 0 && rapid.Bool().Draw(r, "remove") {
						remove(rapid.SampledFrom(model).Draw(r, "which"))
					} else {
						spawn()
					}
				}
			}
			for _, id := range begin {
				if slices.Contains(model, id) && !slices.Contains(visited, id) {
					r.Fatalf("%v was left out: %v of %v", id, visited, begin)
				}
			}
			for _, id := range visited {
				if !slices.Contains(begin, id) {
					r.Fatalf("%v came later", id)
				}
			}
			if rapid.Bool().Draw(r, "tick") {
				tick(t, w, l)
			}
			var now []ID
			for id := range All[dust](w) {
				now = append(now, id)
			}
			if !slices.Equal(now, model) || Count[dust](w) != len(model) {
				r.Fatalf("there are %v, want %v", now, model)
			}
		}
	})
}

type wrongSpark struct{}

func (*wrongSpark) Step(w *World) {}

func TestLocalDeclarations(t *testing.T) {
	for _, x := range []struct {
		parts []Declaration
		want  string
	}{
		{[]Declaration{Local[spark](), Local[spark]()},
			"local class spark: another class has the same name"},
		{[]Declaration{Local[torch](ClassOptions{Name: "t"}), Class[torch]()},
			"its type is that of class t"},
		{[]Declaration{Class[torch](), Local[torch](ClassOptions{Name: "t"})},
			"its type is that of class torch"},
		{[]Declaration{Local[int]()}, "make it a struct"},
		{[]Declaration{Local[wrongSpark]()}, "method Step is"},
		{[]Declaration{Local[spark](ClassOptions{Limit: -1})}, "a limit of -1 entities"},
		{[]Declaration{Local[spark](ClassOptions{Limit: MaxEntities})}, "entities; choose 1 to"},
	} {
		if err := Define("wrong", x.parts...).Err(); err == nil ||
			!strings.Contains(err.Error(), x.want) {
			t.Errorf("%v, want %q", err, x.want)
		}
	}
	other := torches(Local[spark]())
	w := newOf(t, sparkling, Settings{})
	if err := w.Host().SetLocals(other.NewLocals()); err == nil ||
		other.NewLocals().Step(w) == nil {
		t.Error("a world took what is local to another game:", err)
	}
}

// BenchmarkLocals is a client with a thousand sparks, of which some go out and others come.
func BenchmarkLocals(b *testing.B) {
	g := torches(Local[spark](ClassOptions{Limit: 1000}))
	w, l := withLocals(b, g)
	for i := range 1000 {
		Spawn(w, spark{Vel: det.Vec2{X: 1}, Of: 10 + i%50})
	}
	b.ReportAllocs()
	for b.Loop() {
		for range 1000/30 + 10 {
			Spawn(w, spark{Vel: det.Vec2{X: 1}, Of: 30})
		}
		w.tick++
		if err := l.Step(w); err != nil {
			b.Fatal(err)
		}
		for _, s := range All[spark](w) {
			if s.Age > 1000 {
				b.Fatal("an old spark")
			}
		}
	}
}

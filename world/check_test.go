package world

import (
	"strings"
	"testing"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/det"
)

func TestTheArenaPassesItsChecks(t *testing.T) {
	o := CheckOptions{Ticks: 1200, Players: 3, Settings: Settings{Seed: 2}, Seed: 9}
	if testing.Short() {
		o.Ticks = 240
	}
	if d, err := CheckRollback(arena, o); d != nil || err != nil {
		t.Error(d, err)
	}
	rep, err := CheckHidden(arena, o)
	if err != nil {
		t.Fatal(err)
	}
	if rep.Wrong != 0 {
		t.Error(rep.First)
	}
	if rep.Exact < rep.Compared*9/10 || rep.Explained == 0 || rep.Runs != o.Ticks/8 {
		t.Errorf("%+v shows nothing", rep)
	}
}

// Each of these games has one of the mistakes that the checks are for.

var global int // what no game may have

type leaky struct{ N int }

func (x *leaky) Sync(s *bits.Sync) { s.Int(&x.N, 0, 1<<20) }
func (x *leaky) Step(w *World, me ID) {
	global++
	x.N = global % 1000
}

type aliased struct{ Items []plainRock }

func (x *aliased) Sync(s *bits.Sync)      { bits.Slice(s, &x.Items, 4, (*plainRock).Sync) }
func (x *aliased) CopyFrom(from *aliased) { *x = *from } // shares the slice
func (x *aliased) Step(w *World, me ID)   { x.Items[0].Size = (x.Items[0].Size + 1) % 10 }

type misderived struct {
	N    int
	Last int `world:"derived"`
}

func (x *misderived) Sync(s *bits.Sync)    { s.Int(&x.N, 0, 1<<20) }
func (x *misderived) Derive()              {}
func (x *misderived) Step(w *World, me ID) { x.Last++; x.N = x.Last % 1000 }

// A fragile thing breaks only where that is decided.
type fragile struct{ N int }

func (x *fragile) Sync(s *bits.Sync) { s.Int(&x.N, 0, 1<<20) }
func (x *fragile) Step(w *World, me ID) {
	if w.Decides() {
		x.N = (x.N + 1) % 1000
	}
}

type guided struct{ N int }

func (x *guided) Sync(s *bits.Sync)    { s.Int(&x.N, 0, 1<<20) }
func (x *guided) Step(w *World, me ID) { x.N = w.Secret().IntN(1000) }

func TestRollbackFindsMistakes(t *testing.T) {
	for _, x := range []struct {
		game *Game
		want string
	}{
		{Define("leaky", Class[leaky](), OnStart(func(w *World) { Spawn(w, leaky{}) })), "leaky"},
		{Define("aliased", Class[aliased](),
			OnStart(func(w *World) { Spawn(w, aliased{Items: make([]plainRock, 1)}) })), "aliased"},
		{Define("misderived", Class[misderived](),
			OnStart(func(w *World) { Spawn(w, misderived{}) })), "misderived"},
	} {
		d, err := CheckRollback(x.game, CheckOptions{Ticks: 50})
		if err != nil {
			t.Error(err)
		}
		if d == nil || d.Class != x.want || d.Entity == None || d.Tick == 0 || d.A == d.B {
			t.Errorf("%s: %v", x.want, d)
		} else if !strings.Contains(d.String(), d.Field) {
			t.Error(d)
		}
	}
}

// careless looks for a neighbour and does not ask whether it is there.
type careless struct {
	Pos det.Vec2
	Of  uint64
}

func (x *careless) Sync(s *bits.Sync) {
	s.Vec2(&x.Pos, -100, 100, 1.0/64)
	s.Uvarint(&x.Of)
}

func (x *careless) Step(w *World, me ID) {
	if x.Of != 0 {
		x.Pos = Get[careless](w, ID(x.Of)).Pos
	}
}

// counting depends on how many others there are, by way that the world cannot see.
type counting struct{ N int }

func (x *counting) Sync(s *bits.Sync)    { s.Int(&x.N, 0, 1<<20) }
func (x *counting) Step(w *World, me ID) { x.N = (x.N + w.tables[0].count) % 1000 }

func TestHiddenFindsMistakes(t *testing.T) {
	g := Define("careless", Class[careless](), OnStart(func(w *World) {
		id := Spawn(w, careless{})
		for range 5 {
			id = Spawn(w, careless{Of: uint64(id)})
		}
	}))
	_, err := CheckHidden(g, CheckOptions{})
	if err == nil || !strings.Contains(err.Error(), "careless") ||
		!strings.Contains(err.Error(), "panic") {
		t.Error(err)
	}
	spawn := func(w *World) {
		for range 5 {
			Spawn(w, counting{})
		}
	}
	rep, err := CheckHidden(Define("counting", Class[counting](), OnStart(spawn)), CheckOptions{})
	if err != nil || rep.Wrong == 0 || rep.First == nil || rep.First.Field != "N" {
		t.Errorf("%+v, %v", rep, err)
	}
	rep, err = CheckHidden(Define("guided", Class[guided](),
		OnStart(func(w *World) { Spawn(w, guided{}) })), CheckOptions{
		Settings: Settings{Secret: 8}})
	if err != nil || rep.Wrong != 0 || rep.Explained == 0 {
		t.Errorf("what comes of secrets cannot be predicted: %+v, %v", rep, err)
	}
}

func TestDecides(t *testing.T) {
	g := Define("fragile", Class[fragile](), OnStart(func(w *World) { Spawn(w, fragile{}) }))
	for _, partial := range []bool{false, true} {
		w, err := g.New(Settings{Partial: partial})
		if err != nil {
			t.Fatal(err)
		}
		if w.Decides() == partial || w.Host().Clone().Decides() == partial {
			t.Errorf("partial %v: Decides is %v, of a copy %v", partial, w.Decides(),
				w.Host().Clone().Decides())
		}
	}
	if d, err := CheckRollback(g, CheckOptions{Ticks: 60}); d != nil || err != nil {
		t.Error(d, err)
	}
	rep, err := CheckHidden(g, CheckOptions{Ticks: 60})
	if err != nil || rep.Wrong != 0 || rep.Explained == 0 {
		t.Errorf("what only the one that decides does is no mistake: %+v, %v", rep, err)
	}
}

func TestRandomInputsAreRandom(t *testing.T) {
	in, seen := arena.NewInputs(), map[steer]bool{}
	f := RandomInputs(arena, 1, 2)
	missing, joins, leaves := 0, 0, 0
	for tick := Tick(1); tick < 4000; tick++ {
		f(tick, in)
		joins += len(in.Joins())
		leaves += len(in.Leaves())
		if c, ok := Given[steer](in, 1); ok {
			seen[c] = true
		} else {
			missing++
		}
	}
	if len(seen) < 300 || missing < 100 || joins < 6 || leaves < 4 {
		t.Errorf("%d commands, %d missing, %d joins, %d leaves", len(seen), missing, joins, leaves)
	}
}

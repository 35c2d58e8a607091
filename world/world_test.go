package world

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/coeval-dev/coeval/bits"
)

func newArena(t interface{ Fatal(...any) }, s Settings) *World {
	w, err := arena.New(s)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// run steps a world with players who press everything.
func run(t interface{ Fatal(...any) }, w *World, seed uint64, ticks int) {
	inputs, in := RandomInputs(w.game, seed, 3), w.game.NewInputs()
	for range ticks {
		inputs(w.tick+1, in)
		if err := w.Host().Step(in); err != nil {
			t.Fatal(err)
		}
	}
}

func TestSameInputsSameWorld(t *testing.T) {
	a, b := newArena(t, Settings{Seed: 1, Secret: 2}), newArena(t, Settings{Seed: 1, Secret: 2})
	for range 50 {
		run(t, a, 7, 20)
		run(t, b, 7, 20)
		if d := Differ(a, b); d != nil {
			t.Fatal(d)
		}
	}
	if Count[shell](a) == 0 || Count[ship](a) == 0 {
		t.Error("the run is too quiet to show anything")
	}
	if c := newArena(t, Settings{Seed: 2, Secret: 2}); c.Hash() == newArena(t,
		Settings{Seed: 1, Secret: 2}).Hash() {
		t.Error("another seed, the same hash")
	}
}

func TestFieldsOfABranchNotTakenAreZero(t *testing.T) {
	w := newArena(t, Settings{Seed: 3})
	burned := 0
	for range 2000 {
		run(t, w, 3, 1)
		for _, s := range All[ship](w) {
			if s.Burning {
				burned++
			} else if s.Heat != 0 {
				t.Fatalf("tick %d: not burning with heat %d", w.tick, s.Heat)
			}
		}
	}
	if burned == 0 {
		t.Error("no ship ever burned")
	}
}

func TestLastGenerationIsGivenUp(t *testing.T) {
	w := newArena(t, Settings{})
	tab := w.tables[classOf[drone](arena).number]
	pg := tab.banks[0].pages[0]
	pg.slots[3].generation = lastGeneration
	id := makeID(tab.class.number, 0, 3, lastGeneration)
	if !w.Has(id) {
		t.Fatal("no drone 3")
	}
	w.busy = true
	w.Remove(id)
	w.finish()
	w.busy = true
	for range 100 {
		if got := Spawn(w, drone{}); got.Index() == 3 {
			t.Fatal("index 3 is used beyond its last generation")
		}
	}
	w.finish()
	l, err := arena.Load(w.Host().Save(nil))
	if err != nil {
		t.Fatal(err)
	}
	l.busy = true
	if got := Spawn(l, drone{}); got.Index() == 3 {
		t.Fatal("forgotten by saving and loading")
	}
}

func TestPointersStayGood(t *testing.T) {
	w := newArena(t, Settings{})
	w.busy = true
	first := Spawn(w, drone{Turn: 1})
	p := Get[drone](w, first)
	for range 5000 {
		Spawn(w, drone{Turn: 2})
	}
	p.Turn = 3
	if got := Get[drone](w, first); got != p || got.Turn != 3 {
		t.Error("the entity moved")
	}
}

func TestMembershipHoldsForATick(t *testing.T) {
	w := newArena(t, Settings{})
	before := Count[drone](w)
	w.busy = true
	id := Spawn(w, drone{})
	n := 0
	for other := range All[drone](w) {
		n++
		if n == 1 {
			w.Remove(other)
			if Get[drone](w, other) == nil || !w.Removing(other) {
				t.Error("what is removed must be there until the end of the tick")
			}
		}
		if other == id {
			t.Error("what is spawned must not be found before the next tick")
		}
	}
	if n != before {
		t.Errorf("%d drones, want %d", n, before)
	}
	if Get[drone](w, id) == nil {
		t.Error("what is spawned must be found by its ID")
	}
	w.finish()
	if n := len(slices.Collect(w.Host().Of(classOf[drone](arena).number))); n != before {
		t.Errorf("%d drones at the end, want %d", n, before)
	}
}

func TestOutsideOfATick(t *testing.T) {
	w := newArena(t, Settings{})
	at := w.Hash()
	if id := Spawn(w, drone{}); id != None {
		t.Error("spawned", id)
	}
	for id := range w.Entities() {
		w.Remove(id)
		break
	}
	if w.Hash() != at {
		t.Error("the world changed")
	}
	if err := w.Host().Step(nil); err == nil ||
		!strings.Contains(err.Error(), "Spawn outside of a tick") {
		t.Error(err)
	}
}

func TestSpawnLimitNamesTheClass(t *testing.T) {
	w := newArena(t, Settings{})
	w.busy = true
	for range 300 {
		if Spawn(w, shell{Life: 9}) == None {
			t.Fatal("refused too early")
		}
	}
	if Spawn(w, shell{}) != None {
		t.Error("spawned beyond the limit")
	}
	err := w.Host().Step(nil)
	if !errors.Is(err, ErrLimit) || !strings.Contains(err.Error(), "shell") ||
		!strings.Contains(err.Error(), "300") {
		t.Error(err)
	}
	if err := w.Host().Step(nil); err != nil {
		t.Error("the error stays:", err)
	}
}

func TestMissingCommandsRepeatLevelsAndNotEdges(t *testing.T) {
	w := newArena(t, Settings{})
	in := arena.NewInputs()
	in.Join(4)
	if err := Give(in, 4, steer{Aim: 1, Thrust: 9, Fire: true}); err != nil {
		t.Fatal(err)
	}
	if err := w.Host().Step(in); err != nil {
		t.Fatal(err)
	}
	first := CommandOf[steer](w, 4)
	if !first.Fire || first.Thrust != 9 || w.Repeated(4) {
		t.Fatalf("%+v, repeated %v", first, w.Repeated(4))
	}
	if got, _ := Given[steer](in, 4); got != first {
		t.Errorf("the player beside the world aims finer: %+v, %+v", got, first)
	}
	in.Reset()
	if err := w.Host().Step(in); err != nil {
		t.Fatal(err)
	}
	second := CommandOf[steer](w, 4)
	if second.Fire || second.Thrust != 9 || second.Aim != first.Aim || !w.Repeated(4) {
		t.Errorf("%+v, repeated %v", second, w.Repeated(4))
	}
	in.Leave(4)
	if err := w.Host().Step(in); err != nil {
		t.Fatal(err)
	}
	if CommandOf[steer](w, 4) != (steer{}) || w.Present(4) || Count[ship](w) != 0 {
		t.Error("the player left something behind")
	}
	if err := Give(in, 4, match{}); err == nil {
		t.Error("a match was taken for a command")
	}
}

func TestEventsHaveNames(t *testing.T) {
	w := newArena(t, Settings{})
	in := arena.NewInputs()
	in.Join(1)
	_ = w.Host().Step(in)
	in.Reset()
	if err := Give(in, 1, steer{Fire: true}); err != nil {
		t.Fatal(err)
	}
	if err := w.Host().Step(in); err != nil {
		t.Fatal(err)
	}
	var me ID
	for id := range All[ship](w) {
		me = id
	}
	n := 0
	for e, v := range Events[fired](w) {
		n++
		if e.By != me || e.About != me || e.Tick != w.Tick() || e.Ordinal != 0 || v.Loud != 1 {
			t.Errorf("%+v %+v", e, v)
		}
	}
	if n != 1 {
		t.Errorf("%d events", n)
	}
	for id := range w.Host().Of(classOf[shell](arena).number) {
		if o := w.Origin(id); o.By != me || o.Tick != w.Tick() || o.Ordinal != 0 {
			t.Errorf("%+v", o)
		}
	}
	if err := w.Host().Step(nil); err != nil {
		t.Fatal(err)
	}
	for range Events[fired](w) {
		t.Error("an event happened twice")
	}
}

func TestSavedEventsStay(t *testing.T) {
	w := newArena(t, Settings{Seed: 4})
	run(t, w, 11, 3000)
	n := 0
	for e := range SavedEvents[sunk](w) {
		if e.About != None {
			t.Error(e)
		}
		n++
	}
	if n == 0 {
		t.Fatal("no ship sank")
	}
	l, err := arena.Load(w.Host().Save(nil))
	if err != nil {
		t.Fatal(err)
	}
	m := 0
	for range l.Host().SavedHappened {
		m++
	}
	if m != n {
		t.Errorf("%d saved events, %d after loading", n, m)
	}
}

func TestStatesBeginAsGiven(t *testing.T) {
	w := newArena(t, Settings{States: []bits.Syncer{&match{Sunk: 7}}})
	if StateOf[match](w).Sunk != 7 {
		t.Error(StateOf[match](w))
	}
	if _, err := arena.New(Settings{States: []bits.Syncer{&fired{}}}); err == nil {
		t.Error("an event was taken for a state")
	}
}

func TestStepAllocatesNothing(t *testing.T) {
	w := newArena(t, Settings{Seed: 1})
	inputs, in := RandomInputs(arena, 1, 3), arena.NewInputs()
	step := func() {
		inputs(w.tick%700+2, in) // without joins and leaves, whose names are made of strings
		if err := w.Host().Step(in); err != nil {
			t.Fatal(err)
		}
	}
	run(t, w, 1, 1)
	for range 600 {
		step()
	}
	if n := testing.AllocsPerRun(200, step); n > 0 {
		t.Errorf("%v allocations a tick", n)
	}
	c := w.Host().Clone()
	if n := testing.AllocsPerRun(50, func() {
		if err := c.Host().CopyFrom(w); err != nil {
			t.Fatal(err)
		}
	}); n > 0 {
		t.Errorf("%v allocations a copy", n)
	}
	if n := testing.AllocsPerRun(50, func() { w.Hash() }); n > 0 {
		t.Errorf("%v allocations a hash", n)
	}
}

// TestRepeatIsWhatAWorldRepeats: what Repeat leaves of a command is what a world uses when none
// comes.
func TestRepeatIsWhatAWorldRepeats(t *testing.T) {
	n := len(arena.Commands().Slots)
	alone, repeated := make([]int32, n), make([]int32, n)
	inputs := RandomInputs(arena, 5, 3)
	in := arena.NewInputs()
	edges := 0
	for tick := Tick(1); tick < 300; tick++ {
		inputs(tick, in)
		w := newArena(t, Settings{Partial: true})
		if err := w.Host().Step(in); err != nil {
			t.Fatal(err)
		}
		if err := w.Host().Step(nil); err != nil {
			t.Fatal(err)
		}
		for p := Player(0); p < 5; p++ {
			was, there := Given[steer](in, p)
			if got := in.Repeat(p); got != there {
				t.Fatalf("tick %d: Repeat of player %d says %v", tick, p, got)
			}
			if !there {
				continue
			}
			if !in.Image(p, alone) || !w.Host().CommandImage(p, repeated) ||
				!slices.Equal(alone, repeated) {
				t.Fatalf("tick %d, player %d: %v, and a world repeats %v", tick, p, alone, repeated)
			}
			if was.Fire {
				edges++
			}
		}
	}
	if edges < 10 {
		t.Errorf("only %d commands had an edge", edges)
	}
	if Define("silent", Class[plainRock]()).NewInputs().Repeat(1) {
		t.Error("a game without commands repeats one")
	}
}

package server

import (
	"slices"
	"testing"

	"github.com/coeval-dev/coeval/world"
)

func newYard(t *testing.T) *world.World {
	t.Helper()
	w, err := yard.New(world.Settings{})
	must(t, err)
	return w
}

// granted are the players that an engine has given since it was asked last.
func (l *local) granted() (list []world.Player) {
	for _, d := range l.Decisions() {
		list = append(list, d.Player)
	}
	return list
}

// TestLocalEngine: numbers are the lowest that are free, and who came and went between two ticks
// was never there.
func TestLocalEngine(t *testing.T) {
	l := newLocal(yard, 100)
	must(t, l.Begin(newYard(t), Level{}))
	step := func() Progress {
		t.Helper()
		p, err := l.Advance(0)
		must(t, err)
		must(t, p.Fault)
		return p
	}
	expect := func(what string, want ...world.Player) {
		t.Helper()
		if got := slices.Collect(l.World().Players); !slices.Equal(got, want) {
			t.Errorf("%s: players %v, want %v", what, got, want)
		}
	}
	for client := range uint64(3) {
		l.Claim(Visitor{Client: client})
	}
	if got := l.granted(); !slices.Equal(got, []world.Player{1, 2, 3}) || len(l.Decisions()) > 0 {
		t.Fatalf("granted %v", got)
	}
	l.Enter(1)
	l.Enter(2)
	l.Release(1, 2)
	if p := step(); !slices.Equal(p.Inputs.Joins(), []world.Player{1}) ||
		len(p.Inputs.Leaves()) > 0 {
		t.Errorf("joins %v, leaves %v", p.Inputs.Joins(), p.Inputs.Leaves())
	}
	expect("one came, one came and went, one is not ready", 1)
	l.Release(2, 3)
	if p := step(); len(p.Inputs.Leaves()) > 0 {
		t.Error("who was never ready leaves")
	}
	l.Release(0, 1)
	l.Claim(Visitor{Client: 9})
	if got := l.granted(); !slices.Equal(got, []world.Player{1}) {
		t.Fatalf("granted %v", got)
	}
	l.Enter(1)
	if p := step(); !slices.Equal(p.Inputs.Joins(), []world.Player{1}) ||
		!slices.Equal(p.Inputs.Leaves(), []world.Player{1}) {
		t.Error("a number changes hands in a tick without anyone leaving")
	}
	expect("another has the number", 1)
	must(t, l.Give(1, l.Open(), []int32{1, 0, 0}, world.Sight{}))
	if p := step(); len(p.Inputs.Players()) != 1 || len(p.Inputs.Joins()) > 0 {
		t.Error("the command is not in the tick, or what was in the last one is")
	}
	if p := step(); len(p.Inputs.Players()) != 0 {
		t.Error("a command counts twice")
	}
	if l.Give(1, l.Open(), []int32{1}, world.Sight{}) == nil {
		t.Error("half a command is taken")
	}

	// In another level all have to enter again, with the numbers that they have.
	l.Enter(1)
	must(t, l.Begin(newYard(t), Level{}))
	step()
	expect("a new world")
	l.Claim(Visitor{Client: 10})
	if got := l.granted(); !slices.Equal(got, []world.Player{2}) {
		t.Errorf("granted %v", got)
	}
	if f := l.flight.take(); f == nil || f.World == nil || f.World.Tick() != 0 ||
		len(f.Inputs) != 1 {
		t.Errorf("kept of the new world are %v", f)
	}
}

// TestFlightFromTheBeginning: what is kept of a world that is younger than that begins with its
// first tick, after a change of level as well.
func TestFlightFromTheBeginning(t *testing.T) {
	f := &flightRecorder{span: 10}
	in := yard.NewInputs()
	for round := range 2 {
		w := newYard(t)
		f.begin(w)
		for range 7 + round {
			f.note(w, in)
			must(t, w.Host().Step(in))
		}
	}
	out := f.take()
	if out == nil || out.World.Tick() != 0 || len(out.Inputs) != 8 {
		t.Errorf("kept are %v", out)
	}
	if f.take() != nil {
		t.Error("it was given away, and is still there")
	}
}

// TestFlightReachesBack: never less than the span, never more than twice that, and the world fits
// the inputs.
func TestFlightReachesBack(t *testing.T) {
	for ticks := 10; ticks < 60; ticks++ {
		f := &flightRecorder{span: 10}
		w, in := newYard(t), yard.NewInputs()
		f.begin(w)
		for i := range ticks {
			in.Reset()
			in.Join(world.Player(i + 1))
			f.note(w, in)
			must(t, w.Host().Step(in))
		}
		out := f.take()
		if n := len(out.Inputs); n < 10 || n > 20 || int(out.World.Tick())+n != ticks {
			t.Errorf("after %d ticks: %v", ticks, out)
		}
		for _, in := range out.Inputs {
			must(t, out.World.Host().Step(in))
		}
		if d := world.Differ(w, out.World); d != nil {
			t.Errorf("after %d ticks: %v", ticks, d)
		}
	}
}

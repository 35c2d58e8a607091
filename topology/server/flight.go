package server

import (
	"fmt"

	"github.com/coeval-dev/coeval/world"
)

// A Flight is how a world came to the tick in which its game panicked, or to where it is: a world
// some time before, and what went in since. trace.WriteRun makes a trace of it.
type Flight struct {
	// World is as it was before the first of Inputs. It is whoever's this is given to.
	World *world.World
	// Inputs are those of each tick since, the last of them that in which the game panicked.
	Inputs []*world.Inputs
	// Exact says that the same comes of them again. Where shots were judged by what players saw,
	// which is not among the inputs, something else may.
	Exact bool
}

// A flightRecorder keeps the last span ticks of a world, and up to as many before them, in memory
// that does not grow: the world as it was at two moments, and what went in since the older of them.
//
//	older ── span inputs ──> newer ── 0 to span inputs ──> the present
//
// It costs a copy of the inputs for each tick and one of the world for each span. With a span of
// zero it keeps nothing.
type flightRecorder struct {
	span         int
	older, newer *world.World
	inputs       []*world.Inputs // since older; those from n on are spare
	n            int
}

// begin forgets what was, and begins with a world at its first tick.
func (f *flightRecorder) begin(w *world.World) {
	if f.span == 0 {
		return
	}
	f.n = 0
	keep(&f.older, w)
}

// keep makes one world the same as another.
func keep(to **world.World, w *world.World) {
	if *to == nil || (*to).Host().CopyFrom(w) != nil {
		*to = w.Host().Clone()
	}
}

// note keeps what is about to go into a world.
func (f *flightRecorder) note(w *world.World, in *world.Inputs) {
	switch {
	case f.span == 0:
		return
	case f.n == 2*f.span:
		f.older, f.newer = f.newer, f.older
		for i := range f.span {
			f.inputs[i], f.inputs[f.span+i] = f.inputs[f.span+i], f.inputs[i]
		}
		f.n = f.span
	}
	if f.n == f.span {
		keep(&f.newer, w)
	}
	if f.n == len(f.inputs) {
		f.inputs = append(f.inputs, w.Game().NewInputs())
	}
	_ = f.inputs[f.n].CopyFrom(in) // they are of one game
	f.n++
}

// take gives away what was kept, or nil if nothing was, and begins anew.
func (f *flightRecorder) take() *Flight {
	if f.span == 0 || f.n == 0 {
		return nil
	}
	out := &Flight{World: f.older, Inputs: f.inputs[:f.n]}
	*f = flightRecorder{span: f.span}
	return out
}

// copy gives what was kept and keeps it, or gives nil if there is nothing.
func (f *flightRecorder) copy(g *world.Game) *Flight {
	if f.span == 0 || f.n == 0 {
		return nil
	}
	out := &Flight{World: f.older.Host().Clone(), Inputs: make([]*world.Inputs, f.n), Exact: true}
	for i, in := range f.inputs[:f.n] {
		out.Inputs[i] = g.NewInputs()
		_ = out.Inputs[i].CopyFrom(in) // they are of one game
	}
	return out
}

// Flight is a copy of how the world came to where it is, as far as Options.Flight remembers, or
// nil: for a diagnosis of a game that runs. It takes as long as copying a world and the inputs of
// some seconds does.
func (s *Server) Flight() *Flight {
	if s.own == nil || s.failed.err != nil {
		return nil
	}
	return s.own.flight.copy(s.game)
}

func (f *Flight) String() string {
	if f == nil {
		return "no ticks"
	}
	return fmt.Sprintf("%d ticks from tick %d on", len(f.Inputs), f.World.Tick()+1)
}

package world

import (
	"fmt"
	"path"
	"runtime"
	"strings"
)

// A Panic is that a game panicked in a tick: where, and with what. The world stopped in the middle
// of the tick, so it is no state that the rules know, and must not be used any more.
type Panic struct {
	Tick   Tick     // the one that was being computed
	Class  string   // of who was stepping; empty for a hook such as OnJoin
	Entity ID       // who was stepping, or None
	Value  any      // what it panicked with
	Frames []string // of the game's code, the innermost first: function, file and line
}

func (p *Panic) Error() string {
	b := &strings.Builder{}
	fmt.Fprintf(b, "world: the game panicked at tick %d", p.Tick)
	if p.Class != "" {
		fmt.Fprintf(b, ", in %s %v", p.Class, p.Entity)
	}
	fmt.Fprintf(b, ": %v", p.Value)
	for _, f := range p.Frames {
		fmt.Fprintf(b, "\n\tat %s", f)
	}
	return b.String()
}

// Unwrap gives what the game panicked with, if that is an error.
func (p *Panic) Unwrap() error {
	err, _ := p.Value.(error)
	return err
}

// TryStep is Step for a host that outlives its game: if the game panics, the error is a *Panic, and
// the world must not be used any more.
func (w Host) TryStep(in *Inputs) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = w.panicked(v)
		}
	}()
	return w.Step(in)
}

// TryNew is New for a host that outlives its game: if OnStart panics, the error is a *Panic.
func (g *Game) TryNew(s Settings) (w *World, err error) {
	defer func() {
		if v := recover(); v != nil {
			w, err = nil, &Panic{Value: v, Frames: gameFrames()}
		}
	}()
	return g.New(s)
}

// panicked says where. It is called while the stack still is as it was when the game panicked.
func (w *World) panicked(v any) *Panic {
	p := &Panic{Tick: w.tick, Entity: w.me, Value: v, Frames: gameFrames()}
	if w.me != None && w.me.Class() < len(w.game.classes) {
		p.Class = w.game.classes[w.me.Class()].name
	}
	return p
}

// mostFrames is how many lines of the game's code are worth reading.
const mostFrames = 8

// gameFrames lists the calls between the panic and this package's Step or New.
func gameFrames() (out []string) {
	pcs := make([]uintptr, 64)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(1, pcs)])
	const here = "github.com/coeval-dev/coeval/world."
	begun := false
	for {
		f, more := frames.Next()
		switch {
		case f.Function == "runtime.gopanic":
			begun = true
		case !begun || strings.HasPrefix(f.Function, "runtime."):
		case f.Function == here+"Host.Step", f.Function == here+"(*Game).New",
			len(out) == mostFrames:
			more = false
		default:
			out = append(out, fmt.Sprintf("%s (%s:%d)", f.Function, path.Base(f.File), f.Line))
		}
		if !more {
			break
		}
	}
	for len(out) > 0 && len(out) < mostFrames && strings.Contains(out[len(out)-1], here) {
		out = out[:len(out)-1] // how this package came to call the game
	}
	return out
}

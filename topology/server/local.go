package server

import (
	"slices"
	"time"

	"github.com/coeval-dev/coeval/world"
)

// local is the engine of a server that has its world to itself.
//
// Between two ticks it gathers what goes into the next: who leaves, who enters, and one command for
// each player at most. A player who enters and leaves between two ticks was never there. Numbers
// are given by Claim and free again after Release.
type local struct {
	world    *world.World
	in       *world.Inputs
	computed bool // in is that of the last tick
	entering []world.Player
	leaving  []world.Player
	taken    []bool // by number; nobody's is taken
	decided  []Decision
	flight   flightRecorder
	resumed  *world.World // to begin with, or nil
}

// newLocal makes an engine that remembers so many ticks, in case the game panics.
func newLocal(g *world.Game, remember int) *local {
	return &local{in: g.NewInputs(), taken: []bool{true}, flight: flightRecorder{span: remember}}
}

func (*local) Traits() Traits { return Traits{Pausable: true, Levels: true} }

// Begin forgets who was in the world before. They keep their numbers, and enter when they are
// ready.
func (l *local) Begin(w *world.World, _ Level) error {
	if l.resumed != nil {
		w, l.resumed = l.resumed, nil
	}
	l.world = w
	l.in.Reset()
	l.entering, l.leaving, l.computed = l.entering[:0], l.leaving[:0], false
	for p := range w.Players { // of a world that was saved when they had given up their seats
		if int(p) >= len(l.taken) || !l.taken[p] {
			l.leaving = append(l.leaving, p)
		}
	}
	l.flight.begin(w)
	return nil
}

func (l *local) World() *world.World { return l.world }
func (l *local) Open() world.Tick    { return l.world.Tick() + 1 }

// Advance computes the next tick.
func (l *local) Advance(time.Duration) (Progress, error) {
	in := l.next()
	for _, p := range l.leaving {
		in.Leave(p)
	}
	for _, p := range l.entering {
		in.Join(p)
	}
	l.entering, l.leaving, l.computed = l.entering[:0], l.leaving[:0], true
	l.flight.note(l.world, in)
	err := l.world.Host().TryStep(in)
	if panicOf(err) != nil {
		return Progress{Inputs: in, Flight: l.flight.take()}, err
	}
	return Progress{Inputs: in, Asks: true, Fault: err}, nil
}

// next are the inputs of the next tick.
func (l *local) next() *world.Inputs {
	if l.computed {
		l.computed = false
		l.in.Reset()
	}
	return l.in
}

// Claim grants the lowest number that is free. The server does not ask for more than there may be.
func (l *local) Claim(v Visitor) {
	i := slices.Index(l.taken, false)
	if i < 0 {
		i = len(l.taken)
		l.taken = append(l.taken, false)
	}
	l.taken[i] = true
	l.decided = append(l.decided, Decision{Kind: Grant, Client: v.Client, Player: world.Player(i)})
}

func (l *local) Enter(p world.Player) { l.entering = append(l.entering, p) }

func (l *local) Give(p world.Player, _ world.Tick, image []int32, s world.Sight) error {
	in := l.next()
	if err := in.GiveImage(p, image); err != nil || l.world.Game().Rewinds() == 0 {
		return err
	}
	// What is not said is as it was with the command before.
	last := l.world.Sight(p)
	off := max(s.Ago, last.Ago) - min(s.Ago, last.Ago)
	if s.Claimed == 0 && off <= sightSlack && (s.Ago == 0) == (last.Ago == 0) {
		return nil
	}
	return in.Show(p, s)
}

func (l *local) Tell(t world.Told, data []byte) error { return l.next().Tell(t, data) }

// sightSlack is by how many sixteenths of a tick what a player is shown may be older or newer than
// before without being said: a hundredth of a unit of who runs.
const sightSlack = 1

func (l *local) Said(Line) {}

func (l *local) Release(_ uint64, p world.Player) {
	if p == world.Nobody {
		return
	}
	l.taken[p] = false
	if i := slices.Index(l.entering, p); i >= 0 {
		l.entering = slices.Delete(l.entering, i, i+1)
	} else if l.world.Present(p) {
		l.leaving = append(l.leaving, p)
	}
}

func (l *local) Decisions() []Decision {
	list := l.decided
	l.decided = nil
	return list
}

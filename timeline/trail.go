package timeline

import (
	"time"

	"github.com/coeval-dev/coeval/world"
)

// A trail is one copy of the world, its own delay behind the time. The leading world is the first
// of them.
type trail struct {
	w       *world.World
	delay   time.Duration
	history History
	late    Overdue
	// Between these ticks it was told something else than the book says by now; 0 if it was not. It
	// may be wrong from the first of them on.
	from, last world.Tick
	// Between these ticks it had commands later than others and had guessed them; 0 if it had none.
	// That makes a difference only to a game that asks World.Repeated.
	guessFrom, guessLast world.Tick
	// It was copied from the one behind at this tick. Outcomes of earlier ticks are of another past
	// than its own; they still tell what was announced.
	since       world.Tick
	corrections int // in a row
}

// miss notes a command for a tick that the copy has passed. It will be executed next, unless the
// copy has had a newer one. If the copy guessed it right there is nothing wrong.
func (s *trail) miss(c *Command, image []int32, newer world.Tick, asks bool) {
	if newer == 0 || newer > s.w.Tick() {
		s.late.Add(c, image)
	}
	if !s.foresaw(c, image, asks) {
		s.doubt(c.Tick)
	}
}

// doubt says that the copy was told something wrong at a tick.
func (s *trail) doubt(t world.Tick) { widen(&s.from, &s.last, t) }

// widen lets a range of ticks hold one more.
func widen(from, last *world.Tick, t world.Tick) {
	if *from == 0 || t < *from {
		*from = t
	}
	*last = max(*last, t)
}

// guessed says that the copy goes by a guess at a tick.
func (s *trail) guessed(t world.Tick) bool { return s.guessFrom != 0 && s.guessFrom <= t }

// sure says that nothing can be wrong with the copy up to a tick.
func (s *trail) sure(t world.Tick) bool { return s.from == 0 || t < s.from }

// clear says that the copy is right at a tick, whatever it was told before.
func (s *trail) clear(n world.Tick) {
	narrow(&s.from, &s.last, n)
	narrow(&s.guessFrom, &s.guessLast, n)
}

// narrow takes all ticks up to one out of a range.
func narrow(from, last *world.Tick, n world.Tick) {
	switch {
	case *from == 0 || n < *from:
	case *last <= n:
		*from, *last = 0, 0
	default:
		*from = n + 1
	}
}

// goOnFrom makes what is known of the copy that of the one behind it, whose world it has been
// given.
func (s *trail) goOnFrom(o *trail) {
	s.late.copyFrom(&o.late)
	s.from, s.last, s.since, s.corrections = o.from, o.last, o.w.Tick(), 0
	s.guessFrom, s.guessLast = o.guessFrom, o.guessLast
}

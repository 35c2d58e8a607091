package tunnel

import (
	"time"

	"github.com/coeval-dev/coeval/world"
)

// A Film is shown what is measured, in the order in which it happens. Instants are since measuring
// began, or before that, below zero. Worlds are good during the call, and must not be changed.
type Film interface {
	// Begin is called when all play, with who that is.
	Begin(seats []*Seat)
	// Truth is shown each tick that is decided, when that is known.
	Truth(at time.Duration, w *world.World)
	// Held is shown what a player's server holds from now on, where servers are ahead of what is
	// decided.
	Held(s *Seat, at time.Duration, w *world.World)
	// Shown is shown what a player sees from now on.
	Shown(s *Seat, at time.Duration, w *world.World)
}

// roll begins to film, now that all play.
func (t *Trial) roll() {
	if t.Film != nil {
		t.filming, t.zero = true, t.Net.Now()+t.Warm
		t.Film.Begin(t.Seats)
	}
}

// Held says what the player's server holds from now on, where that may still change.
func (s *Seat) Held(w *world.World) {
	if t := s.trial; t.filming {
		t.think(func() { t.Film.Held(s, t.Net.Now()-t.zero, w) })
	}
}

package tunnel

import (
	"time"

	"github.com/coeval-dev/coeval/world"
)

// A Film is shown all that is measured, in the order in which it happens. Worlds are good during
// the call.
type Film interface {
	// Truth is shown each tick that is decided, when that is known.
	Truth(now time.Duration, w *world.World)
	// Shown is shown what a player sees from now on.
	Shown(s *Seat, now time.Duration, w *world.World)
}

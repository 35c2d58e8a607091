package session

import (
	"time"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/games/arena"
	"github.com/coeval-dev/coeval/predict"
)

// An Undone is an event that was shown and did not happen after all: a server that is one of
// several mirrors shows what it knows, and another may know better.
type Undone struct {
	Event    bits.Syncer   // *arena.Killed, and so on
	Believed time.Duration // for how long it was shown
}

// mostUndone bounds what waits for someone to look.
const mostUndone = 32

// retracted keeps what did not happen until the next View.
func (s *Session) retracted(n *predict.Notice) {
	e := arena.Game.Events()[n.Kind].New()
	if n.Read(e) == nil && len(s.undone) < mostUndone {
		s.undone = append(s.undone, Undone{Event: e, Believed: n.Believed})
	}
}

package session

import (
	"net/netip"
	"time"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/games/arena"
	"github.com/coeval-dev/coeval/predict"
)

// An Undone is an event that was shown and did not happen after all: a server that is one of several mirrors shows what it knows, and another may know better.
type Undone struct {
	Event    bits.Syncer   // *arena.Killed, and so on
	Believed time.Duration // for how long it was shown
}

// mostUndone bounds what waits for someone to look.
const mostUndone = 32

// retracted keeps what did not happen until the next View.
func (s *Session) retracted(n *predict.Notice) {
	e := arena.Game.Events()[n.Kind].New()
	if n.Read(e) != nil {
		return
	}
	s.numbers.Retracted++
	if len(s.undone) < mostUndone {
		s.undone = append(s.undone, Undone{Event: e, Believed: n.Believed})
	}
}

// Server is where the server is that the player plays at, as far as the link tells, or the zero address. It changes when the player goes on at another mirror.
func (s *Session) Server() netip.AddrPort {
	if s.client == nil || s.client.Conn() == nil {
		return netip.AddrPort{}
	}
	return s.client.Conn().Addr()
}

// Moving says whether the session is looking for another server to go on at.
func (s *Session) Moving() bool { return s.client != nil && s.client.Moving() }

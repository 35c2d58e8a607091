package server

import (
	"slices"

	"github.com/coeval-dev/coeval/replica"
)

// This file is what tools see of a seat beyond its connection.

// Shown goes through what the person is shown, and how far they have been told of it. Nothing is
// while they are away.
func (s *Seat) Shown(yield func(replica.Shown) bool) {
	if s.peer != nil && s.peer.sender != nil {
		s.peer.sender.Shown(yield)
	}
}

// Unused is how often the person's client asked for something anew, and how many packets it could
// not use.
func (s *Seat) Unused() (repairs, rejects uint64) {
	if s.peer == nil || s.peer.sender == nil {
		return 0, 0
	}
	l := s.peer.sender.Ledger()
	return l.Repairs, l.Rejects
}

// Snapshots books the bits of the snapshots that the person was sent since their client began the
// level.
func (s *Seat) Snapshots() replica.Ledger {
	if s.peer == nil || s.peer.sender == nil {
		return replica.Ledger{}
	}
	l := *s.peer.sender.Ledger()
	l.Classes = slices.Clone(l.Classes)
	return l
}

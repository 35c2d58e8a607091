package interest

import (
	"cmp"
	"math/bits"
)

// Always shows whatever has the trait Always, wherever it is: the ball, the flags.
type Always struct {
	// Weight is the relevance of each. Default: 1.
	Weight float64
}

// Find is for Rules to call.
func (s *Always) Find(q *Query) {
	for _, slot := range q.ix.always.slots {
		q.addSlot(slot, cmp.Or(s.Weight, 1))
	}
}

// Quiet is for Rules to call.
func (s *Always) Quiet(q *Query) bool { return q.ix.always.stamp <= q.since }

// Owned shows what the client's player owns, wherever it is: the avatar, its shells, its pack.
type Owned struct {
	// Weight is the relevance of each. Default: 1.
	Weight float64
}

// Find is for Rules to call.
func (s *Owned) Find(q *Query) {
	if l := q.ix.ownedBy(q); l != nil {
		for _, slot := range l.slots {
			q.addSlot(slot, cmp.Or(s.Weight, 1))
		}
	}
}

// Quiet is for Rules to call.
func (s *Owned) Quiet(q *Query) bool {
	l := q.ix.ownedBy(q)
	return l == nil || l.stamp <= q.since
}

func (ix *Index) ownedBy(q *Query) *ownedList {
	if p := int(q.observer.Player); p < len(ix.owned) { // the list of Nobody is empty
		return &ix.owned[p]
	}
	return nil
}

// Channel shows what is told on the channels that the client is on, wherever it is: the members of
// a team on each other's map.
type Channel struct {
	// Of restricts it to some of the channels. Default: all that the client is on.
	Of uint64
	// Weight is the relevance of each. Default: 1.
	Weight float64
}

// Find is for Rules to call.
func (s *Channel) Find(q *Query) {
	for set := s.set(q); set != 0; set &= set - 1 {
		for _, slot := range q.ix.channels[bits.TrailingZeros64(set)].slots {
			q.addSlot(slot, cmp.Or(s.Weight, 1))
		}
	}
}

// Quiet is for Rules to call.
func (s *Channel) Quiet(q *Query) bool {
	for set := s.set(q); set != 0; set &= set - 1 {
		if q.ix.channels[bits.TrailingZeros64(set)].stamp > q.since {
			return false
		}
	}
	return true
}

func (s *Channel) set(q *Query) uint64 {
	if s.Of == 0 {
		return q.observer.Channels
	}
	return s.Of & q.observer.Channels
}

// Everything shows all that there is. It is for games that are small enough, and for what Where,
// Except and Relevance take away from. It costs each client as much as there is in the world.
type Everything struct {
	// Weight is the relevance of each. Default: 1.
	Weight float64
}

// Find is for Rules to call.
func (s *Everything) Find(q *Query) {
	for slot, id := range q.ix.ids {
		if id != 0 {
			q.addSlot(uint32(slot), cmp.Or(s.Weight, 1))
		}
	}
}

// Quiet is for Rules to call.
func (s *Everything) Quiet(q *Query) bool { return q.ix.revision == q.since }

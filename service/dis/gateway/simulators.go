package gateway

import (
	"time"

	"github.com/coeval-dev/coeval/service/dis"
)

// simulators are those whose PDUs came, each with the side on which it was heard first. It belongs
// there: nothing that it says comes from the other side, and nothing goes round in a circle.
type simulators map[uint32]*simulator

type simulator struct {
	far   bool
	heard time.Duration
}

const (
	maxSimulators = 10000
	simulatorGone = 5 * time.Minute
)

// is says whether an entity may speak on a side, and notes that it does.
func (m simulators) is(now time.Duration, id dis.ID, far bool) bool {
	key := uint32(id.Site)<<16 | uint32(id.Application)
	s := m[key]
	if s == nil {
		if len(m) >= maxSimulators {
			return false
		}
		s = &simulator{far: far}
		m[key] = s
	}
	if s.far != far {
		return false
	}
	s.heard = now
	return true
}

// forget drops those that are silent, so that a simulator may move to the other side.
func (m simulators) forget(now time.Duration) {
	for key, s := range m { // the order does not matter
		if now-s.heard > simulatorGone {
			delete(m, key)
		}
	}
}

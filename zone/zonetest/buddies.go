package zonetest

import (
	"slices"
	"time"

	"github.com/coeval-dev/coeval/zone"
)

// Buddied are the options of a run with buddies in which nothing goes wrong by itself.
func Buddied(seed uint64) Options {
	return Options{Seed: seed, Servers: 4, Zones: 6, Tokens: 40, MovePer: 60, ActPer: 30,
		For: 12 * time.Second, Buddies: true}
}

// Together has all who hold the records of a zone be cut off from all that is kept, and from all
// others but one, to whom entities go. If liars say that they have ended, so that whoever takes the
// zone over does not wait for them, entities must be found lost, and others doubled.
func Together(seed uint64, liars bool) *Report {
	o := Buddied(seed)
	o.Servers, o.Liars, o.NoReplay = 5, liars, liars
	s := New(o)
	s.at(4*time.Second, func() {
		var slots []int
		who := s.holdersOf(1)
		for i, n := range s.nodes {
			if slices.Contains(who[:], n.id) {
				slots = append(slots, i)
			}
		}
		but := 0
		for slices.Contains(slots, but) {
			but++
		}
		s.together(s.now+5*time.Second, but, slots...)
	})
	return s.Run()
}

func (s *Sim) holdersOf(id zone.ID) (who [3]zone.ServerID) {
	for _, n := range s.nodes {
		if v, ok := n.machine.Zone(id); ok && n.alive {
			who = v.Holders
		}
	}
	return who
}

package council

import (
	"fmt"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/member"
	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/netsim/simtest"
)

// TestSuspects: each of some members suspects another, round in a circle, as may be where lines
// were cut. That blocks nobody: one of them goes, and when nobody is suspected any more the rest
// decide. One that all suspect goes, also if it leads.
func TestSuspects(t *testing.T) {
	for _, c := range []struct {
		name     string
		members  int
		suspects func(id member.ID) member.ID
		goes     member.ID // or 0 for whoever
	}{
		{"circle of three", 3, func(id member.ID) member.ID { return id%3 + 1 }, 0},
		{"circle of five", 5, func(id member.ID) member.ID { return id%5 + 1 }, 0},
		{"a follower", 4, func(member.ID) member.ID { return 3 }, 3},
		{"the leader", 4, func(member.ID) member.ID { return 1 }, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			simtest.Run(t, seeds(10, 1000), func(n *netsim.Net) error {
				n.Use(path(0.2 * n.Rand().Float64()))
				s := newSim(n, c.members, 0)
				n.Run(time.Second)
				for _, m := range s.nodes {
					if id := c.suspects(m.id); id != m.id {
						m.c.Suspect(id, true)
					}
				}
				gone := func() bool {
					return len(s.newest.Voters) < c.members &&
						(c.goes == 0 || !s.newest.Has(c.goes))
				}
				if !n.RunUntil(10*time.Second, func() bool { return s.err != nil || gone() }) {
					return fmt.Errorf("nobody is out after 10 s: %s", s.state())
				}
				for _, m := range s.nodes {
					for id := range member.ID(c.members) {
						m.c.Suspect(id+1, false)
					}
				}
				return s.converges(10 * time.Second)
			})
		})
	}
}

package crimp_test

import (
	"testing"
	"time"

	"github.com/coeval-dev/coeval/crimp"
	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/netsim/simtest"
)

// TestCutLines: whether members hear each other by multicast, over a mesh or both, what is cut
// between two of them is carried by the others, under loss; and nobody is dropped.
func TestCutLines(t *testing.T) {
	for how, site := range sites {
		t.Run(how, func(t *testing.T) {
			simtest.Run(t, seeds(1, 20), func(n *netsim.Net) error {
				n.Use(dsl(0.03))
				s := newSim(n, func(s *sim) {
					s.opt.Carry, s.opt.Datagram = true, 1200-crimp.CarryRoom
					s.opt.History, s.stateful = 2*time.Second, true
				})
				for i := range 4 {
					s.add(site(i))
				}
				if err := s.together(10 * time.Second); err != nil {
					return err
				}
				if err := s.run(time.Second); err != nil {
					return err
				}
				// A chain is left; and one line of it comes back.
				for _, cut := range [][2]int{{0, 2}, {0, 3}, {1, 3}} {
					n.Cut(s.nodes[cut[0]].ep, s.nodes[cut[1]].ep)
				}
				if err := s.run(4 * time.Second); err != nil {
					return err
				}
				n.Heal(s.nodes[0].ep, s.nodes[2].ep)
				if err := s.run(3 * time.Second); err != nil {
					return err
				}
				for _, x := range s.nodes {
					if x.dismissed != 0 || len(x.group.Members()) != 4 {
						t.Errorf("seed %d: member %d: %v, %v", n.Seed(), x.id, x.dismissed,
							x.group.Members())
					}
				}
				if err := s.quiet(3 * time.Second); err != nil {
					return err
				}
				return s.complete(false)
			})
		})
	}
}

package membership

import (
	"testing"
	"time"

	"github.com/coeval-dev/coeval/crimp"
	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/netsim/simtest"
)

// carrying has members carry for each other.
func carrying(s *sim) {
	s.opt.Carry, s.opt.Datagram = true, 1200-crimp.CarryRoom
	s.opt.History = 2 * time.Second
}

// TestJoinsThroughAnother: a mirror, or a witness, that reaches only one that does not lead is let
// in, gets the state and votes.
func TestJoinsThroughAnother(t *testing.T) {
	for _, witness := range []bool{false, true} {
		simtest.Run(t, seeds(2, 20), func(n *netsim.Net) error {
			s, err := gathered(n, 3, 0, path(0.02), carrying)
			if err != nil {
				return err
			}
			ep := n.Endpoint("m4")
			n.Cut(ep, s.nodes[0].ep)
			n.Cut(ep, s.nodes[2].ep)
			last := s.add(func(o *Options) { o.Witness = witness })
			if err := s.until(20*time.Second, "all four are in touch and vote", func() bool {
				return s.whole(s.nodes...) && last.began && len(last.m.Voters()) == 4
			}); err != nil {
				return err
			}
			if err := s.run(5 * time.Second); err != nil {
				return err
			}
			if err := s.until(time.Second, "they stay", func() bool {
				return s.whole(s.nodes...) && len(last.m.Absent()) == 0
			}); err != nil {
				return err
			}
			return s.complete()
		})
	}
}

// TestChainOfMembers: of a chain of five, all stay, and whoever leads can go.
func TestChainOfMembers(t *testing.T) {
	simtest.Run(t, seeds(1, 20), func(n *netsim.Net) error {
		s, err := gathered(n, 5, 0, path(0.02), carrying)
		if err != nil {
			return err
		}
		for i := range 5 {
			for j := range i - 1 {
				n.Cut(s.nodes[i].ep, s.nodes[j].ep)
			}
		}
		if err := s.run(6 * time.Second); err != nil {
			return err
		}
		for _, x := range s.nodes {
			for _, e := range x.events {
				if e.Kind == crimp.CutOff || e.Kind == crimp.Left {
					t.Errorf("seed %d: mirror %d was told %v", n.Seed(), x.n+1, e.Kind)
				}
			}
		}
		n.Run(time.Second)
		s.nodes[0].sending, s.nodes[0].quits = false, true
		s.nodes[0].node.Leave(n.Now())
		if err := s.until(10*time.Second, "the others go on",
			func() bool { return s.whole(s.nodes[1:]...) }); err != nil {
			return err
		}
		return s.complete()
	})
}

package membership

import (
	"net/netip"
	"slices"
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

// joinTime is how long it takes a fourth mirror to vote, with loss, where what it sends to the
// überserver is cut (1), what that one sends to it (2), or both.
func joinTime(n *netsim.Net, loss float64, cut int) (time.Duration, error) {
	s, err := gathered(n, 3, 0, path(loss), carrying)
	if err != nil {
		return 0, err
	}
	ep, uber := n.Endpoint("m4"), s.nodes[0].ep
	if cut&1 != 0 {
		n.Path(ep, uber).Cut()
	}
	if cut&2 != 0 {
		n.Path(uber, ep).Cut()
	}
	began := n.Now()
	last := s.add(nil)
	err = s.until(20*time.Second, "all four vote",
		func() bool { return s.whole(s.nodes...) && last.began })
	if err == nil && last.restarts > 1 {
		s.fail("it had to begin anew")
	}
	return n.Now() - began, s.err
}

// TestJoinsOverACutLine: a newcomer whose line to the überserver passes one way only, or not at
// all, is in soon, by the first of the doors that answers. It took twice as long when doors were
// asked one after the other: 4.3 s without loss.
func TestJoinsOverACutLine(t *testing.T) {
	for _, loss := range []float64{0, 0.1} {
		for cut := range 4 {
			var times []time.Duration
			for seed := range seeds(2, 200) {
				took, err := joinTime(netsim.New(netsim.Options{Seed: uint64(seed + 1)}), loss, cut)
				if err != nil {
					t.Errorf("seed %d, loss %v, cut %d: %v", seed+1, loss, cut, err)
				}
				times = append(times, took)
			}
			slices.Sort(times)
			middle, most := times[len(times)/2], times[len(times)-1]
			t.Logf("loss %v, cut %d: %v, at most %v", loss, cut, middle, most)
			if loss == 0 && most > 2*time.Second {
				t.Errorf("cut %d: it took up to %v", cut, most)
			}
		}
	}
}

// TestDeadDoors: doors that do not answer hold a newcomer up for a moment each, and never are more
// than a few asked at a time.
func TestDeadDoors(t *testing.T) {
	n := netsim.New(netsim.Options{Seed: 1})
	s, err := gathered(n, 2, 0, path(0), carrying)
	if err != nil {
		t.Fatal(err)
	}
	began, most := n.Now(), 0
	last := s.add(func(o *Options) {
		var dead []netip.AddrPort
		for i := range 8 {
			dead = append(dead, netip.AddrPortFrom(netip.MustParseAddr("10.9.9.9"), uint16(i+1)))
		}
		o.Ask = append(dead, o.Ask...)
	})
	if err := s.until(10*time.Second, "all three vote", func() bool {
		if a := last.m.asking; a != nil {
			most = max(most, a.open())
		}
		return s.whole(s.nodes...) && last.began
	}); err != nil {
		t.Fatal(err)
	}
	if took := n.Now() - began; took > 4*time.Second || most > maxDoors {
		t.Errorf("it took %v, with %d doors at a time", took, most)
	}
}

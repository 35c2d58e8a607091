package crimp_test

import (
	"errors"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/crimp"
	"github.com/coeval-dev/coeval/membership"
	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/netsim/simtest"
)

// sites are how members reach each other: by multicast, over a mesh, or both.
var sites = map[string]func(i int) uint8{
	"multicast": func(int) uint8 { return 1 },
	"mesh":      func(int) uint8 { return 0 },
	"bridged":   func(i int) uint8 { return uint8(1 + i%2) },
	"mixed":     func(i int) uint8 { return uint8(i % 2) },
}

func TestJoinWithState(t *testing.T) {
	for how, site := range sites {
		t.Run(how, func(t *testing.T) {
			simtest.Run(t, seeds(2, 4), func(n *netsim.Net) error {
				n.Use(dsl(0.05))
				s := newSim(n, func(s *sim) { s.stateful = true })
				s.add(site(0))
				for i := 1; i < 5; i++ {
					if err := s.run(700 * time.Millisecond); err != nil {
						return err
					}
					s.add(site(i))
				}
				if err := s.together(10 * time.Second); err != nil {
					return err
				}
				if err := s.run(3 * time.Second); err != nil {
					return err
				}
				if err := s.quiet(3 * time.Second); err != nil {
					return err
				}
				return s.complete(false)
			})
		})
	}
}

func TestDenials(t *testing.T) {
	one := func(change func(*sim), setup func(s *sim, n *simNode)) func(*testing.T, crimp.Reason) {
		return func(t *testing.T, want crimp.Reason) {
			net := netsim.New(netsim.Options{Seed: 3})
			net.Use(dsl(0.05))
			s := newSim(net, change)
			s.add(1)
			n := s.add(1)
			if setup != nil {
				setup(s, n)
			}
			err := s.until(2*time.Minute, "a denial", func() bool { return n.denied != 0 })
			if err != nil {
				t.Fatal(err)
			}
			if n.denied != want {
				t.Errorf("denied as %q, want %q", n.denied, want)
			}
		}
	}
	for _, c := range []struct {
		name string
		run  func(*testing.T, crimp.Reason)
		want crimp.Reason
	}{
		{"full", one(func(s *sim) { s.opt.MaxMembers = 1 }, nil), crimp.ReasonFull},
		{"refused", one(func(s *sim) {
			s.opt.Admit = func(membership.Candidate) error { return errors.New("no") }
		}, nil), crimp.ReasonRefused},
		{"other order",
			one(nil, func(s *sim, n *simNode) { s.opt.Order = crimp.Total; n.ep.Restart(0) }),
			crimp.ReasonMismatch},
		{"unreachable",
			one(func(s *sim) { s.opt.Patience = 10 * time.Second },
				func(s *sim, n *simNode) { s.net.Cut(s.nodes[0].ep, n.ep) }),
			crimp.ReasonUnreachable},
		{"wrong key", one(nil, func(s *sim, n *simNode) { s.key[0]++; n.ep.Restart(0) }),
			crimp.ReasonToken},
	} {
		t.Run(c.name, func(t *testing.T) { c.run(t, c.want) })
	}
}

// TestSameIdentity: who comes with the identity of a member takes its place.
func TestSameIdentity(t *testing.T) {
	net := netsim.New(netsim.Options{Seed: 3})
	s, err := gathered(net, 3, sites["multicast"], dsl(0.02), func(s *sim) { s.stateful = true })
	if err != nil {
		t.Fatal(err)
	}
	s.twin = 2
	twin := s.add(1)
	if err := s.until(10*time.Second, "the takeover",
		func() bool { return twin.began != 0 && s.nodes[2].dismissed != 0 }); err != nil {
		t.Fatal(err)
	}
	if got := s.nodes[2].dismissed; got != crimp.ReasonReplaced {
		t.Errorf("the first was dismissed as %q", got)
	}
	if got := len(s.nodes[0].group.Members()); got != 3 {
		t.Errorf("%d members, want 3", got)
	}
}

// TestAllLeave: the founder leaves and the group goes on; the last one ends it.
func TestAllLeave(t *testing.T) {
	net := netsim.New(netsim.Options{Seed: 3})
	s, err := gathered(net, 3, sites["mesh"], dsl(0.1), nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, n := range s.nodes {
		n.sending = false
		n.node.Leave(net.Now())
		if err := s.until(20*time.Second, "leave",
			func() bool { return n.dismissed != 0 }); err != nil {
			t.Fatal(err)
		}
		want := crimp.ReasonLeft
		if i == 2 {
			want = crimp.ReasonClosed
		}
		if n.dismissed != want {
			t.Errorf("machine %d was dismissed as %q", n.n, n.dismissed)
		}
		for _, other := range s.nodes[i+1:] {
			if other.dismissed != 0 {
				t.Errorf("machine %d was dismissed when %d left: %v", other.n, n.n, other.dismissed)
			}
		}
	}
	if err := s.until(20*time.Second, "the last goodbye",
		func() bool { return s.nodes[0].authority.Done() }); err != nil {
		t.Fatal(err)
	}
}

// TestLedgerIsComplete: what the ledger says was sent is what the link was given.
func TestLedgerIsComplete(t *testing.T) {
	for how, site := range sites {
		t.Run(how, func(t *testing.T) {
			net := netsim.New(netsim.Options{Seed: 3})
			s := newSim(net, func(s *sim) { s.stateful = true })
			net.Use(dsl(0.1))
			for i := range 5 {
				s.add(site(i))
			}
			if err := s.run(5 * time.Second); err != nil {
				t.Fatal(err)
			}
			for _, n := range s.nodes {
				l := n.node.Ledger()
				if n.handed == 0 || l.Total() != n.handed {
					t.Errorf("machine %d handed out %d bytes, its ledger says %d: %v", n.n,
						n.handed, l.Total(), l.Sent)
				}
			}
		})
	}
}

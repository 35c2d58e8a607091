package crimp

import (
	"net/netip"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/member"
	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/netsim/simtest"
)

func dsl(loss float64) netsim.Conditions {
	p := netsim.Profile{Latency: 25 * time.Millisecond, Loss: loss}
	return netsim.Conditions{Up: p, Down: p}
}

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
			simtest.Run(t, seeds(4), func(n *netsim.Net) error {
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
	one := func(change func(*sim), setup func(s *sim, n *simNode)) func(*testing.T, Reason) {
		return func(t *testing.T, want Reason) {
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
		run  func(*testing.T, Reason)
		want Reason
	}{
		{"full", one(func(s *sim) { s.co.MaxMembers = 1 }, nil), ReasonFull},
		{"refused", one(func(s *sim) { s.co.Admit = func(Candidate) bool { return false } }, nil), ReasonRefused},
		{"other order", one(nil, func(s *sim, n *simNode) { s.opt.Order = Total; n.ep.Restart(0) }), ReasonMismatch},
		{"unreachable", one(nil, func(s *sim, n *simNode) { s.net.Cut(s.nodes[0].ep, n.ep) }), ReasonUnreachable},
		{"wrong key", one(nil, func(s *sim, n *simNode) { s.key[0]++; n.ep.Restart(0) }), ReasonToken},
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
	if err := s.until(10*time.Second, "the takeover", func() bool { return twin.began != 0 && s.nodes[2].dismissed != 0 }); err != nil {
		t.Fatal(err)
	}
	if got := s.nodes[2].dismissed; got != ReasonReplaced {
		t.Errorf("the first was dismissed as %q", got)
	}
	if got := len(s.nodes[0].node.group.Members()); got != 3 {
		t.Errorf("%d members, want 3", got)
	}
}

// TestGroupEnds: when the coordinator leaves, all are told.
func TestGroupEnds(t *testing.T) {
	net := netsim.New(netsim.Options{Seed: 3})
	s, err := gathered(net, 3, sites["mesh"], dsl(0.1), nil)
	if err != nil {
		t.Fatal(err)
	}
	s.nodes[0].sending = false
	s.nodes[0].node.Leave(net.Now())
	if err := s.until(20*time.Second, "the end", func() bool { return s.nodes[1].dismissed != 0 && s.nodes[2].dismissed != 0 }); err != nil {
		t.Fatal(err)
	}
	for _, n := range s.nodes {
		if n.dismissed != ReasonClosed {
			t.Errorf("machine %d was dismissed as %q", n.n, n.dismissed)
		}
	}
	if err := s.until(20*time.Second, "the last goodbye", func() bool { return s.nodes[0].authority.(*Coordinator).Done() }); err != nil {
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
					t.Errorf("machine %d handed out %d bytes, its ledger says %d: %v", n.n, n.handed, l.Total(), l.Sent)
				}
			}
		})
	}
}

// TestRosterIsRefused: rosters that make no sense change nothing.
func TestRosterIsRefused(t *testing.T) {
	g := trio(t, nil)[0]
	good := Roster{Group: 77, Epoch: 2, Key: [16]byte{1}}
	for i := range 3 {
		good.Members = append(good.Members, Member{ID: member.ID(i + 1), Card: testIdentity(2, uint64(i)).Card(netip.AddrPort{}, 1)})
	}
	for name, change := range map[string]func(*Roster){
		"old":           func(r *Roster) { r.Epoch = 1 },
		"no epoch":      func(r *Roster) { r.Epoch = 0 },
		"other group":   func(r *Roster) { r.Group = 78 },
		"no key":        func(r *Roster) { r.Key = [16]byte{} },
		"empty":         func(r *Roster) { r.Members = nil },
		"out of order":  func(r *Roster) { r.Members[1].ID = 1 },
		"other us":      func(r *Roster) { r.Members[0].ID, r.Members[1].ID, r.Members[2].ID = 4, 5, 6 },
		"other member":  func(r *Roster) { r.Members[1].Card = testIdentity(9, 9).Card(netip.AddrPort{}, 1) },
		"unknown proof": func(r *Roster) { r.Proof = 9 },
		"no key at all": func(r *Roster) { r.Members[2].ID = 9; r.Members[2].Agree = [32]byte{} },
		"too many": func(r *Roster) {
			for i := range 200 {
				r.Members = append(r.Members, Member{ID: member.ID(i + 10)})
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := good
			r.Members = append([]Member(nil), good.Members...)
			change(&r)
			if err := g.SetRoster(0, r); err == nil {
				t.Error("was taken")
			}
			if g.Epoch() != 1 || len(g.peers) > 3 {
				t.Errorf("changed something: epoch %d, %d peers", g.Epoch(), len(g.peers))
			}
		})
	}
	if err := g.SetRoster(0, good); err != nil {
		t.Errorf("a good one: %v", err)
	}
}

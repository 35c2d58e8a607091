package crimp_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/crimp"
	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/netsim/simtest"
)

// gathered makes a group of so many machines on good paths, then lets the weather come.
func gathered(n *netsim.Net, members int, site func(int) uint8, weather netsim.Conditions,
	change func(*sim)) (*sim, error) {
	n.Use(dsl(0))
	s := newSim(n, change)
	for i := range members {
		s.add(site(i))
	}
	if err := s.together(10 * time.Second); err != nil {
		return s, err
	}
	n.Use(weather)
	return s, nil
}

func TestHarshPaths(t *testing.T) {
	base := netsim.Profile{Latency: 25 * time.Millisecond}
	both := func(change func(*netsim.Profile)) netsim.Conditions {
		p := base
		change(&p)
		return netsim.Conditions{Up: p, Down: p}
	}
	for _, c := range []struct {
		name    string
		weather netsim.Conditions
		perfect bool // nothing may be given up
	}{
		{"loss 15", both(func(p *netsim.Profile) { p.Loss = 0.15 }), true},
		{"loss 40", both(func(p *netsim.Profile) { p.Loss = 0.40 }), false},
		{"bursts", both(func(p *netsim.Profile) {
			p.Burst = netsim.Burst{Enter: 0.02, Leave: 0.2}
		}), true},
		{"reordered", both(func(p *netsim.Profile) {
			p.Reorder, p.HoldBack, p.Duplicate, p.Loss = 0.2, 40*time.Millisecond, 0.2, 0.05
			p.Jitter = netsim.Jitter{Amount: 20 * time.Millisecond}
		}), true},
		{"damaged", both(func(p *netsim.Profile) { p.Corrupt, p.Loss = 0.2, 0.05 }), true},
		{"all of it", netsim.Awful, false},
	} {
		for how, site := range sites {
			t.Run(c.name+"/"+how, func(t *testing.T) {
				simtest.Run(t, seeds(1, 2), func(n *netsim.Net) error {
					s, err := gathered(n, 4, site, c.weather, func(s *sim) { s.stateful = true })
					if err != nil {
						return err
					}
					if err := s.run(3 * time.Second); err != nil {
						return err
					}
					for _, m := range s.nodes {
						if m.dismissed != 0 {
							return nil // lost so much that it was dropped; nothing to compare
						}
					}
					if err := s.quiet(3 * time.Second); err != nil {
						return err
					}
					if len(s.nodes[0].group.Members()) < len(s.nodes) {
						return nil
					}
					// Over bridges each of three hops loses its share, both ways.
					hops := how == "bridged" || how == "mixed"
					return s.complete(!c.perfect || hops)
				})
			})
		}
	}
}

// TestEveryFault has members cut off, suspended, crashed and brought back at any
// moment. What counts is that nobody is ever delivered anything wrong, twice, or not at
// all without being told, and that the group is whole again in the end.
func TestEveryFault(t *testing.T) {
	for how, site := range sites {
		t.Run(how, func(t *testing.T) {
			simtest.Run(t, seeds(3, 12), func(n *netsim.Net) error {
				s, err := gathered(n, 5, site, dsl(0.05), func(s *sim) { s.stateful = true })
				if err != nil {
					return err
				}
				now := n.Now()
				// All may be cut off. No more than two crash at a time, for a majority must stay.
				most, few := []string{"m1", "m2", "m3"}, []string{"m4", "m5"}
				err = n.Chaos(netsim.Chaos{Start: now, End: now + 4*time.Second, Most: 8,
					Longest: 1500 * time.Millisecond,
					Cut:     []string{"*"}, Pause: most, Restart: few, Storm: []string{"*"},
					Weather: "loss=0.4 latency=80ms"})
				if err != nil {
					return err
				}
				s.returning()
				if err := s.run(6 * time.Second); err != nil {
					return err
				}
				if err := s.together(20 * time.Second); err != nil {
					return err
				}
				if err := s.run(time.Second); err != nil {
					return err
				}
				if err := s.quiet(3 * time.Second); err != nil {
					return err
				}
				return s.complete(true)
			})
		})
	}
}

// returning has machines that are out of the group come back.
func (s *sim) returning() {
	for _, n := range s.nodes {
		s.net.Every(200*time.Millisecond, func() {
			if (n.dismissed != 0 || n.denied != 0) && n.ep.Running() {
				n.ep.Restart(100 * time.Millisecond)
			}
		})
	}
}

func TestPartitionAndHeal(t *testing.T) {
	simtest.Run(t, seeds(2, 6), func(n *netsim.Net) error {
		s, err := gathered(n, 5, sites["multicast"], dsl(0.02), func(s *sim) { s.stateful = true })
		if err != nil {
			return err
		}
		side, other := n.Endpoints()[:3], n.Endpoints()[3:5]
		// Short of three quarters of the history nobody is dropped, and nothing is lost.
		n.Partition(side, other)
		s.run(500 * time.Millisecond)
		n.HealPartition(side, other)
		if err := s.run(2 * time.Second); err != nil {
			return err
		}
		for _, m := range s.nodes {
			if m.dismissed != 0 || len(m.group.Members()) != 5 {
				return fmt.Errorf("machine %d fell out during a short partition: %v", m.n,
					m.dismissed)
			}
		}
		// Beyond that the smaller side is dropped, and told so.
		n.Partition(side, other)
		if err := s.run(3 * time.Second); err != nil {
			return err
		}
		if got := len(s.nodes[0].group.Members()); got != 3 {
			return fmt.Errorf("%d members are left on the larger side, want 3", got)
		}
		n.HealPartition(side, other)
		if err := s.until(5*time.Second, "news of being dropped", func() bool {
			return s.nodes[3].dismissed == crimp.ReasonSilent &&
				s.nodes[4].dismissed == crimp.ReasonSilent
		}); err != nil {
			return err
		}
		s.returning()
		if err := s.together(20 * time.Second); err != nil {
			return err
		}
		if err := s.run(time.Second); err != nil {
			return err
		}
		if err := s.quiet(3 * time.Second); err != nil {
			return err
		}
		return s.complete(true)
	})
}

// TestSlowMember: a member behind a thin line has trouble, the others have none.
func TestSlowMember(t *testing.T) {
	simtest.Run(t, seeds(1, 3), func(n *netsim.Net) error {
		s, err := gathered(n, 4, sites["multicast"], dsl(0), nil)
		if err != nil {
			return err
		}
		slow := netsim.Profile{
			Latency: 150 * time.Millisecond, Rate: 200_000, Queue: 8 << 10, Loss: 0.1}
		for _, m := range s.nodes[:3] {
			n.SetPath(m.ep, s.nodes[3].ep, slow)
			n.SetPath(s.nodes[3].ep, m.ep, slow)
		}
		if err := s.run(6 * time.Second); err != nil {
			return err
		}
		good, bad := s.nodes[1].group, s.nodes[3].group
		q, _ := good.Quality(s.nodes[2].id)
		if q.Loss > 0.01 || q.Delay > 35*time.Millisecond {
			return fmt.Errorf("the others suffer from one slow member: %+v", q)
		}
		if c, d := good.Congestion(), bad.Congestion(); d < 0.1 || c > d {
			return fmt.Errorf("congestion is %v at a good member and %v at the slow one", c, d)
		}
		for _, m := range s.nodes[:3] {
			if m.group.Stats().GaveUp > 0 && m.group.Stats().Lost > m.group.Stats().Delivered/4 {
				return fmt.Errorf("machine %d: %+v", m.n, m.group.Stats())
			}
		}
		return s.err
	})
}

// TestGreedyMember: a member that asks for everything, all the time, causes no more than
// it is allowed, and the others get what they need.
func TestGreedyMember(t *testing.T) {
	for _, how := range []string{"multicast", "mesh"} {
		t.Run(how, func(t *testing.T) {
			simtest.Run(t, seeds(1, 2), func(n *netsim.Net) error {
				s, err := gathered(n, 4, sites[how], dsl(0.05), func(s *sim) { s.stateful = true })
				if err != nil {
					return err
				}
				greedy := s.nodes[3]
				n.Every(time.Millisecond, func() { greedy.group.AskForEverything() })
				if err := s.run(3 * time.Second); err != nil {
					return err
				}
				for _, m := range s.nodes[:3] {
					st, l := m.group.Stats(), m.group.Ledger()
					// 32 KiB a second, and half a second's worth at once.
					if limit := uint64(32 << 10 * 5); l.Sent[crimp.SentRepair] > limit {
						return fmt.Errorf("machine %d sent %d bytes of repairs: %+v", m.n,
							l.Sent[crimp.SentRepair], st)
					}
					if st.Paced == 0 {
						return fmt.Errorf("machine %d answered everything", m.n)
					}
				}
				if err := s.quiet(3 * time.Second); err != nil {
					return err
				}
				return s.complete(true)
			})
		})
	}
}

// TestForwardIsChosen: where nothing is lost nothing is spent, small packets at a slow clock are
// repeated, large ones at a fast clock have parity; and the allowance is kept.
func TestForwardIsChosen(t *testing.T) {
	for _, c := range []struct {
		name   string
		loss   float64
		size   int
		period time.Duration
		allow  float64
		want   crimp.ForwardMode
	}{
		{"no loss", 0, 40, 30 * time.Millisecond, 0, crimp.ForwardNone},
		{"small and slow", 0.1, 40, 30 * time.Millisecond, 0, crimp.ForwardRepeat},
		{"large and fast", 0.1, 500, 4 * time.Millisecond, 0.5, crimp.ForwardParity},
		{"little allowed", 0.1, 500, 30 * time.Millisecond, 0.3, crimp.ForwardParity},
	} {
		t.Run(c.name, func(t *testing.T) {
			simtest.Run(t, seeds(1, 2), func(n *netsim.Net) error {
				n.Use(dsl(c.loss))
				s := newSim(n, func(s *sim) { s.stateful, s.opt.Forward.Allowance = true, c.allow })
				s.add(1)
				s.add(1)
				if err := s.together(10 * time.Second); err != nil {
					return err
				}
				for _, m := range s.nodes {
					m.sending = false
				}
				from := s.nodes[0]
				message := make([]byte, c.size)
				for range 1000 {
					seq, err := from.node.Send(n.Now(), message)
					if err != nil {
						return err
					}
					s.messages[name{from.id, seq}] = message
					from.flush()
					if err := s.run(c.period); err != nil {
						return err
					}
				}
				g := from.group
				if got := g.ForwardMode(); got != c.want {
					return fmt.Errorf("mode %d, want %d", got, c.want)
				}
				l := g.Ledger()
				base := l.Sent[crimp.SentMessage] + l.Sent[crimp.SentHeader] +
					l.Sent[crimp.SentProof]
				if allow := max(c.allow, 0.01); c.allow > 0 &&
					float64(l.Sent[crimp.SentForward]) > 1.25*allow*float64(base) {
					return fmt.Errorf("%d bytes of redundancy for %d", l.Sent[crimp.SentForward],
						base)
				}
				if err := s.quiet(2 * time.Second); err != nil {
					return err
				}
				return s.complete(false)
			})
		})
	}
}

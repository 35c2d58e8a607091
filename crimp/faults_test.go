package crimp

import (
	"fmt"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/netsim/simtest"
)

// gathered makes a group of so many machines on good paths, then lets the weather come.
func gathered(n *netsim.Net, members int, site func(int) uint8, weather netsim.Conditions, change func(*sim)) (*sim, error) {
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
		{"bursts", both(func(p *netsim.Profile) { p.Burst = netsim.Burst{Enter: 0.02, Leave: 0.2} }), true},
		{"reordered", both(func(p *netsim.Profile) {
			p.Reorder, p.HoldBack, p.Duplicate, p.Loss = 0.2, 40*time.Millisecond, 0.2, 0.05
			p.Jitter = netsim.Jitter{Amount: 20 * time.Millisecond}
		}), true},
		{"damaged", both(func(p *netsim.Profile) { p.Corrupt, p.Loss = 0.2, 0.05 }), true},
		{"all of it", netsim.Awful, false},
	} {
		for how, site := range sites {
			t.Run(c.name+"/"+how, func(t *testing.T) {
				simtest.Run(t, seeds(2), func(n *netsim.Net) error {
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
					if len(s.nodes[0].node.group.Members()) < len(s.nodes) {
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
			simtest.Run(t, seeds(12), func(n *netsim.Net) error {
				s, err := gathered(n, 4, site, dsl(0.05), func(s *sim) { s.stateful = true })
				if err != nil {
					return err
				}
				now := n.Now()
				// The coordinator may be cut off and suspended, but a group without one ends.
				some := []string{"m2", "m3", "m4"}
				err = n.Chaos(netsim.Chaos{Start: now, End: now + 4*time.Second, Most: 8, Longest: 1500 * time.Millisecond,
					Cut: []string{"*"}, Pause: some, Restart: some, Storm: []string{"*"}, Weather: "loss=0.4 latency=80ms"})
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
	for _, n := range s.nodes[1:] {
		s.net.Every(200*time.Millisecond, func() {
			if (n.dismissed != 0 || n.denied != 0) && n.ep.Running() {
				n.ep.Restart(100 * time.Millisecond)
			}
		})
	}
}

func TestPartitionAndHeal(t *testing.T) {
	simtest.Run(t, seeds(6), func(n *netsim.Net) error {
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
			if m.dismissed != 0 || len(m.node.group.Members()) != 5 {
				return fmt.Errorf("machine %d fell out during a short partition: %v", m.n, m.dismissed)
			}
		}
		// Beyond that the side without the coordinator is dropped, and told so.
		n.Partition(side, other)
		if err := s.run(3 * time.Second); err != nil {
			return err
		}
		if got := len(s.nodes[0].node.group.Members()); got != 3 {
			return fmt.Errorf("%d members are left with the coordinator, want 3", got)
		}
		n.HealPartition(side, other)
		if err := s.until(5*time.Second, "news of being dropped", func() bool {
			return s.nodes[3].dismissed == ReasonSilent && s.nodes[4].dismissed == ReasonSilent
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
	simtest.Run(t, seeds(3), func(n *netsim.Net) error {
		s, err := gathered(n, 4, sites["multicast"], dsl(0), nil)
		if err != nil {
			return err
		}
		slow := netsim.Profile{Latency: 150 * time.Millisecond, Rate: 200_000, Queue: 8 << 10, Loss: 0.1}
		for _, m := range s.nodes[:3] {
			n.SetPath(m.ep, s.nodes[3].ep, slow)
			n.SetPath(s.nodes[3].ep, m.ep, slow)
		}
		if err := s.run(6 * time.Second); err != nil {
			return err
		}
		good, bad := s.nodes[1].node.group, s.nodes[3].node.group
		q, _ := good.Quality(s.nodes[2].id)
		if q.Loss > 0.01 || q.Delay > 35*time.Millisecond {
			return fmt.Errorf("the others suffer from one slow member: %+v", q)
		}
		if c, d := good.Congestion(), bad.Congestion(); d < 0.1 || c > d {
			return fmt.Errorf("congestion is %v at a good member and %v at the slow one", c, d)
		}
		for _, m := range s.nodes[:3] {
			if m.node.group.stats.GaveUp > 0 && m.node.group.stats.Lost > m.node.group.stats.Delivered/4 {
				return fmt.Errorf("machine %d: %+v", m.n, m.node.group.stats)
			}
		}
		return s.err
	})
}

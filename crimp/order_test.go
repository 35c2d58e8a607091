package crimp_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/crimp"
	"github.com/coeval-dev/coeval/member"
	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/netsim/simtest"
)

// TestOrders: what each order promises holds on paths that lose and reorder, while members
// come and go.
func TestOrders(t *testing.T) {
	rough := netsim.Profile{
		Latency: 20 * time.Millisecond, Loss: 0.1, Reorder: 0.1, HoldBack: 35 * time.Millisecond,
		Duplicate: 0.05}
	for _, order := range []crimp.Order{crimp.BySource, crimp.Causal, crimp.Total} {
		for _, how := range []string{"multicast", "mesh"} {
			t.Run(fmt.Sprint(order, "/", how), func(t *testing.T) {
				simtest.Run(t, seeds(2, 6), func(n *netsim.Net) error {
					s, err := gathered(n, 4, sites[how], netsim.Conditions{Up: rough, Down: rough},
						func(s *sim) {
							s.stateful, s.opt.Order, s.causes = true, order,
								map[name]map[member.ID]crimp.Sequence{}
							// time for so many attempts that nothing is given up
							s.opt.History = 2 * time.Second
						})
					if err != nil {
						return err
					}
					if err := s.run(2 * time.Second); err != nil {
						return err
					}
					s.add(sites[how](4)) // one comes late, one goes early
					s.nodes[2].sending = false
					s.nodes[2].node.Leave(n.Now())
					if err := s.run(4 * time.Second); err != nil {
						return err
					}
					if s.nodes[2].dismissed != crimp.ReasonLeft {
						return fmt.Errorf("who left was told %v", s.nodes[2].dismissed)
					}
					if err := s.quiet(3 * time.Second); err != nil {
						return err
					}
					if err := s.complete(false); err != nil {
						return err
					}
					return s.ordered(order)
				})
			})
		}
	}
}

// ordered checks the order of all deliveries.
func (s *sim) ordered(order crimp.Order) error {
	for _, n := range s.nodes {
		last := map[member.ID]crimp.Sequence{}
		for _, at := range n.log {
			if at.seq <= last[at.member] {
				return fmt.Errorf("machine %d was delivered %v after %d", n.n, at, last[at.member])
			}
			if order == crimp.Causal {
				for m, seq := range s.causes[at] {
					if last[m] < seq && m != n.was && !n.included[name{m, seq}] &&
						!n.gaveUp[name{m, seq}] {
						return fmt.Errorf("machine %d was delivered %v before its cause %v", n.n,
							at, name{m, seq})
					}
				}
			}
			last[at.member] = at.seq
		}
		if order != crimp.Total {
			continue
		}
		for _, other := range s.nodes {
			place := map[name]int{}
			for i, at := range other.log {
				place[at] = i + 1
			}
			before := 0
			for _, at := range n.log {
				if p := place[at]; p != 0 {
					if p < before {
						return fmt.Errorf("machines %d and %d disagree about the place of %v", n.n,
							other.n, at)
					}
					before = p
				}
			}
		}
	}
	return nil
}

// TestTotalIncludesOwn: in total order a member is delivered its own messages, in their
// place.
func TestTotalIncludesOwn(t *testing.T) {
	n := netsim.New(netsim.Options{Seed: 5})
	s, err := gathered(n, 3, sites["multicast"], dsl(0.05),
		func(s *sim) { s.opt.Order = crimp.Total })
	if err != nil {
		t.Fatal(err)
	}
	if err := s.run(2 * time.Second); err != nil {
		t.Fatal(err)
	}
	if err := s.quiet(2 * time.Second); err != nil {
		t.Fatal(err)
	}
	for _, m := range s.nodes {
		own := 0
		for _, at := range m.log {
			if at.member == m.id {
				own++
			}
		}
		if want := int(m.group.Last()); own != want || own == 0 {
			t.Errorf("machine %d was delivered %d of its own %d messages", m.n, own, want)
		}
	}
}

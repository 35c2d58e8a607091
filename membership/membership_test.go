package membership

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/crimp"
	"github.com/coeval-dev/coeval/member"
	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/netsim/simtest"
)

var nobody = netip.MustParseAddrPort("10.9.9.9:4000")

// TestJoin: mirrors join one after the other, asking any, while packets go on.
func TestJoin(t *testing.T) {
	simtest.Run(t, seeds(3, 8), func(n *netsim.Net) error {
		n.Use(path(0.1))
		s := newSim(n, func(s *sim) { s.back = true }) // one that missed something comes anew
		s.add(nil)
		for range 4 {
			if err := s.run(300 * time.Millisecond); err != nil {
				return err
			}
			s.add(nil)
		}
		if err := s.together(20 * time.Second); err != nil {
			return err
		}
		for _, m := range s.nodes {
			if m.m.Uber() != s.nodes[0].id || m.led != s.nodes[0].id || m.m.Need() != 3 {
				return fmt.Errorf("member %d: überserver %d, told %d, need %d", m.id, m.m.Uber(),
					m.led, m.m.Need())
			}
		}
		if err := s.run(time.Second); err != nil {
			return err
		}
		if err := s.together(20 * time.Second); err != nil {
			return err
		}
		return s.complete()
	})
}

// TestUberDies: another is elected, the dead one is taken out, and others can join.
func TestUberDies(t *testing.T) {
	simtest.Run(t, seeds(5, 20), func(n *netsim.Net) error {
		s, err := gathered(n, 4, 0, path(0.05), nil)
		if err != nil {
			return err
		}
		if err := s.run(time.Duration(n.Rand().IntN(300)) * time.Millisecond); err != nil {
			return err
		}
		s.nodes[0].ep.Restart(4 * time.Second)
		if err := s.until(5*time.Second, "a new überserver",
			func() bool { return s.whole(s.nodes[1:]...) }); err != nil {
			return err
		}
		if s.nodes[1].led == 1 || s.nodes[1].led != s.nodes[1].m.Uber() {
			return fmt.Errorf("told that %d leads, and %d does", s.nodes[1].led,
				s.nodes[1].m.Uber())
		}
		if err := s.together(20 * time.Second); err != nil { // it comes back
			return err
		}
		return s.complete()
	})
}

// TestTwoOfFive: any two at once, the überserver among them or not.
func TestTwoOfFive(t *testing.T) {
	simtest.Run(t, seeds(5, 20), func(n *netsim.Net) error {
		s, err := gathered(n, 5, 0, path(0.05), func(s *sim) { s.back = true })
		if err != nil {
			return err
		}
		first := n.Rand().IntN(5)
		if n.Rand().Chance(0.5) {
			first = 0
		}
		second := (first + 1 + n.Rand().IntN(4)) % 5
		if err := s.run(time.Duration(n.Rand().IntN(300)) * time.Millisecond); err != nil {
			return err
		}
		s.nodes[first].ep.Restart(8 * time.Second)
		s.nodes[second].ep.Restart(8 * time.Second)
		var left []*mirror
		for i, m := range s.nodes {
			if i != first && i != second {
				left = append(left, m)
			}
		}
		if err := s.until(7*time.Second, "a group of three",
			func() bool { return s.whole(left...) }); err != nil {
			return err
		}
		if err := s.together(30 * time.Second); err != nil {
			return err
		}
		return s.complete()
	})
}

// TestPartition: the majority goes on, with or without the überserver; the minority is told
// that it is cut off, and later that it is out; in the end all are together.
func TestPartition(t *testing.T) {
	simtest.Run(t, seeds(5, 20), func(n *netsim.Net) error {
		s, err := gathered(n, 5, 0, path(0.02), func(s *sim) { s.back = true })
		if err != nil {
			return err
		}
		at := n.Rand().IntN(4)
		var few, most []*netsim.Endpoint
		var minority, majority []*mirror
		for i, m := range s.nodes {
			if i == at || i == 4 {
				few, minority = append(few, m.ep), append(minority, m)
			} else {
				most, majority = append(most, m.ep), append(majority, m)
			}
		}
		before := s.nodes[4].id
		n.Partition(few, most)
		if err := s.until(6*time.Second, "a group of the majority",
			func() bool { return s.whole(majority...) }); err != nil {
			return err
		}
		for _, m := range minority {
			if !m.cut || m.m.Quorum() {
				return fmt.Errorf("member %d does not know that it is cut off", m.id)
			}
		}
		if err := s.run(time.Duration(n.Rand().IntN(6000)) * time.Millisecond); err != nil {
			return err
		}
		n.HealPartition(few, most)
		if err := s.together(30 * time.Second); err != nil {
			return err
		}
		if s.nodes[4].id == before {
			return errors.New("who was taken out is the same member as before")
		}
		return s.complete()
	})
}

// TestEveryFault has mirrors cut off, suspended, crashed and brought back at any moment.
func TestEveryFault(t *testing.T) {
	for _, c := range []struct{ mirrors, witnesses int }{{3, 0}, {5, 0}, {2, 1}, {4, 0}} {
		t.Run(fmt.Sprintf("%d+%d", c.mirrors, c.witnesses), func(t *testing.T) {
			runs, skipped, tainted := 0, 0, 0
			simtest.Run(t, seeds(5, 20), func(n *netsim.Net) error {
				s, err := gathered(n, c.mirrors, c.witnesses, path(0.3*n.Rand().Float64()),
					func(s *sim) { s.back = true })
				if err != nil {
					return err
				}
				now := n.Now()
				err = n.Chaos(netsim.Chaos{Start: now, End: now + 6*time.Second, Most: 8,
					Longest: 2 * time.Second,
					Cut:     []string{"*"}, Pause: []string{"*"}, Restart: []string{"*"},
					Storm: []string{"*"}, Weather: "loss=0.4 latency=80ms"})
				if err != nil {
					return err
				}
				if err := s.run(9 * time.Second); err != nil {
					return err
				}
				runs++
				if !s.able() {
					skipped++ // too many have crashed at once
					return nil
				}
				if err := s.together(40 * time.Second); err != nil {
					return err
				}
				for _, m := range s.nodes {
					if m.tainted {
						tainted++
						break
					}
				}
				return s.complete()
			})
			t.Logf("%d of %d runs ended without enough voters, %d with an überserver that lacks "+
				"something", skipped, runs, tainted)
			if runs >= 10 && skipped+tainted > runs*3/4 {
				t.Error("most runs prove nothing")
			}
		})
	}
}

// able reports whether enough voters are left, of the newest decree that anybody knows.
func (s *sim) able() bool {
	var known *mirror
	for _, n := range s.nodes {
		if n.id != 0 && n.m.council != nil && n.ep.Running() &&
			(known == nil || n.m.Epoch() > known.m.Epoch()) {
			known = n
		}
	}
	if known == nil {
		return false
	}
	d := known.m.council.Decree()
	has := map[uint16]bool{}
	for _, n := range s.nodes {
		if n.id != 0 && n.ep.Running() {
			has[uint16(n.id)] = true
		}
	}
	return d.Quorum(func(id member.ID) bool { return has[uint16(id)] })
}

// TestLeave: one leaves in good order, then the überserver does; the last ends the group.
func TestLeave(t *testing.T) {
	simtest.Run(t, seeds(5, 10), func(n *netsim.Net) error {
		s, err := gathered(n, 3, 1, path(0.1), nil)
		if err != nil {
			return err
		}
		leave := func(m *mirror) error {
			m.sending = false
			id, last := m.id, m.node.Group().Last()
			m.node.Leave(n.Now())
			if err := s.until(8*time.Second, "leaving",
				func() bool { return m.dismissed != 0 }); err != nil {
				return err
			}
			for _, o := range s.nodes {
				for _, e := range o.events {
					if e.Kind == crimp.Left && e.Member == id &&
						(e.Reason != crimp.ReasonLeft || e.Seq != last) {
						return fmt.Errorf(
							"member %d was told that %d left as %q with %d, it was %d", o.id, id,
							e.Reason, e.Seq, last)
					}
				}
			}
			if m.dismissed != crimp.ReasonLeft && m.dismissed != crimp.ReasonClosed {
				return fmt.Errorf("who left was told %q", m.dismissed)
			}
			return nil
		}
		if err := leave(s.nodes[2]); err != nil {
			return err
		}
		if err := s.until(5*time.Second, "a group of two and the witness",
			func() bool { return s.whole(s.nodes[0], s.nodes[1], s.nodes[3]) }); err != nil {
			return err
		}
		if err := leave(s.nodes[0]); err != nil {
			return err
		}
		if err := s.until(5*time.Second, "a group of one and the witness",
			func() bool { return s.whole(s.nodes[1], s.nodes[3]) }); err != nil {
			return err
		}
		if !s.nodes[1].m.Leads() {
			return errors.New("who stayed does not lead")
		}
		for _, m := range s.nodes[1:2] {
			for _, e := range m.events {
				if e.Kind == crimp.GaveUp || e.Kind == crimp.Revoked {
					return fmt.Errorf("leaving in good order lost packet %d of %d", e.Seq, e.Member)
				}
			}
		}
		if err := leave(s.nodes[1]); err != nil {
			return err
		}
		if s.nodes[1].dismissed != crimp.ReasonClosed {
			return fmt.Errorf("the last was told %q", s.nodes[1].dismissed)
		}
		return s.until(8*time.Second, "the witness hears of the end",
			func() bool { return s.nodes[3].dismissed == crimp.ReasonClosed || s.nodes[3].cut })
	})
}

// TestDismiss: the überserver has a member taken out, with a reason.
func TestDismiss(t *testing.T) {
	simtest.Run(t, seeds(3, 6), func(n *netsim.Net) error {
		s, err := gathered(n, 3, 0, path(0.1), nil)
		if err != nil {
			return err
		}
		s.nodes[1].m.Dismiss(n.Now(), s.nodes[2].id, crimp.ReasonRefused) // has no say
		if err := s.run(2 * time.Second); err != nil {
			return err
		}
		if s.nodes[2].dismissed != 0 {
			return errors.New("one that does not lead has dismissed another")
		}
		s.nodes[0].m.Dismiss(n.Now(), s.nodes[2].id, crimp.ReasonRefused)
		return s.until(4*time.Second, "a dismissal",
			func() bool {
				return s.nodes[2].dismissed == crimp.ReasonRefused &&
					s.whole(s.nodes[0], s.nodes[1])
			})
	})
}

// TestJoinDuringElection: a newcomer asks while the überserver is dying, or dies while it lets
// the newcomer in.
func TestJoinDuringElection(t *testing.T) {
	simtest.Run(t, seeds(8, 30), func(n *netsim.Net) error {
		s, err := gathered(n, 3, 0, path(0.05), func(s *sim) { s.back = true })
		if err != nil {
			return err
		}
		first, second := n.Rand().IntN(900), n.Rand().IntN(900)
		n.After(time.Duration(first)*time.Millisecond,
			func() { s.nodes[0].ep.Restart(6 * time.Second) })
		n.After(time.Duration(second)*time.Millisecond, func() { s.add(nil) })
		if err := s.run(time.Second); err != nil {
			return err
		}
		if err := s.until(12*time.Second, "a group with the newcomer", func() bool {
			m := s.nodes[3]
			return m.id != 0 && slices.Contains(m.m.Voters(), m.id)
		}); err != nil {
			return err
		}
		if err := s.together(20 * time.Second); err != nil {
			return err
		}
		return s.complete()
	})
}

// TestStranger: a mirror that was cut off knows none any more of those who are left. It hears at
// their doors what was decided, all of it or only the end.
func TestStranger(t *testing.T) {
	for _, gap := range []bool{false, true} {
		simtest.Run(t, seeds(3, 6), func(n *netsim.Net) error {
			s, err := gathered(n, 2, 0, path(0), func(s *sim) { s.opt.History = 6 * time.Second })
			if err != nil {
				return err
			}
			if err := s.run(time.Second); err != nil {
				return err
			}
			uber, other := s.nodes[0], s.nodes[1]
			id := other.id
			n.Endpoint("m3") // so that it is known where the witness will be
			other.m.opt.Ask = append(other.m.opt.Ask, n.Endpoint("m3").LocalAddr())
			n.Partition([]*netsim.Endpoint{uber.ep, n.Endpoint("m3")}, []*netsim.Endpoint{other.ep})
			if gap {
				epoch := uber.m.Epoch()
				uber.m.council.Propose(n.Now(), nil)
				if err := s.until(3*time.Second, "a decree",
					func() bool { return uber.m.Epoch() > epoch }); err != nil {
					return err
				}
				// The others need not know it for the next to be decided.
				uber.m.council.Heard(id, n.Now())
				uber.m.council.Echoed(id, n.Now())
			}
			witness := s.add(func(o *Options) { o.Witness = true })
			if err := s.until(20*time.Second, "a witness that votes", func() bool {
				if uber.m.council.Decree().Votes(id) {
					uber.m.council.Heard(id, n.Now()) // not dropped yet
					uber.m.council.Echoed(id, n.Now())
				}
				return witness.id != 0 && slices.Contains(witness.m.Voters(), witness.id)
			}); err != nil {
				return err
			}
			if !slices.Contains(witness.m.Voters(), id) {
				return errors.New("who was cut off is out already")
			}
			uber.ep.Restart(time.Hour)
			n.HealPartition([]*netsim.Endpoint{uber.ep, n.Endpoint("m3")},
				[]*netsim.Endpoint{other.ep})
			return s.until(60*time.Second, "a group of the two",
				func() bool { return s.whole(other, witness) && other.id == id && other.m.Leads() })
		})
	}
}

// TestLapse: a member that cannot know what counts of one who left stops, and wants to
// leave.
func TestLapse(t *testing.T) {
	net := netsim.New(netsim.Options{Seed: 5})
	s, err := gathered(net, 3, 0, path(0), nil)
	if err != nil {
		t.Fatal(err)
	}
	m := s.nodes[2]
	net.Partition(net.Endpoints()[:2], net.Endpoints()[2:])
	d := m.m.council.Decree().Clone()
	ch, err := readCharter(d.Body)
	if err != nil {
		t.Fatal(err)
	}
	ch.remove(s.nodes[1].id)
	d.Epoch += 5
	ch.roster.Epoch = d.Epoch
	d.Voters = slices.DeleteFunc(d.Voters, func(id member.ID) bool { return id == s.nodes[1].id })
	d.Body = ch.append(nil)
	l := s.prove(&d, 0, 2)
	m.m.council.Teach(net.Now(), &l)
	if err := s.run(time.Second); err != nil {
		t.Fatal(err)
	}
	if !m.cut || !m.m.lapsed || !m.m.leaving ||
		slices.ContainsFunc(m.events, func(e crimp.Event) bool { return e.Kind == crimp.Left }) {
		t.Errorf("cut off %v, lapsed %v, leaving %v", m.cut, m.m.lapsed, m.m.leaving)
	}
}

// TestTwo: with a witness either of two mirrors goes on without the other; without one, only the
// überserver does.
func TestTwo(t *testing.T) {
	for _, c := range []struct {
		witnesses, dead int
		want            bool
	}{{1, 0, true}, {1, 1, true}, {0, 1, true}, {0, 0, false}} {
		simtest.Run(t, seeds(3, 6), func(n *netsim.Net) error {
			s, err := gathered(n, 2, c.witnesses, path(0.02), func(s *sim) { s.back = true })
			if err != nil {
				return err
			}
			if err := s.run(time.Second); err != nil {
				return err
			}
			s.nodes[c.dead].ep.Restart(8 * time.Second)
			other := s.nodes[1-c.dead]
			if err := s.run(6 * time.Second); err != nil {
				return err
			}
			if got := other.m.Leads() && other.m.Quorum(); got != c.want {
				return fmt.Errorf("witnesses %d, machine %d dead: the other leads: %v, want %v",
					c.witnesses, c.dead, got, c.want)
			}
			if !c.want {
				return nil
			}
			if err := s.together(20 * time.Second); err != nil {
				return err
			}
			return s.complete()
		})
	}
}

// TestDenials: who does not fit is turned away, and told why.
func TestDenials(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*Options)
		group  func(*Options)
		why    crimp.Reason
		text   string
	}{
		{"another game", func(o *Options) { o.About.Name = "tanks" }, nil, crimp.ReasonGame,
			`"arena", the candidate "tanks"`},
		{"another protocol", func(o *Options) { o.Protocol = 1 }, nil, crimp.ReasonGame,
			"another game"},
		{"another version", func(o *Options) { o.About.Version = 8 }, nil, crimp.ReasonProgram,
			"0000000000000008"},
		{"other settings", func(o *Options) { o.About.Text = "window 2s\nticks 60\nclasses 12" },
			nil, crimp.ReasonProgram, `"window 1s", the candidate "window 2s"`},
		{"wrong key", func(o *Options) { o.Keys = []token.Key{{9}} }, nil, crimp.ReasonToken,
			"another key"},
		{"wrong clock", func(o *Options) { o.Wall -= 3600 }, nil, crimp.ReasonToken, "clocks"},
		{"other history", func(o *Options) { o.History = 3 * time.Second }, nil,
			crimp.ReasonMismatch, "history of 1s, the candidate immediate and 3s"},
		{"full", nil, func(o *Options) { o.MaxMembers = 2 }, crimp.ReasonFull, "2 members"},
		{"refused", nil, func(o *Options) {
			o.Admit = func(c Candidate) error { return errors.New("not on the list") }
		}, crimp.ReasonRefused, "not on the list"},
		{"unreachable",
			func(o *Options) { o.Ask = o.Ask[:1]; o.Ask[0] = nobody; o.Patience = 5 * time.Second },
			nil, crimp.ReasonUnreachable, "within 5s"},
	} {
		t.Run(c.name, func(t *testing.T) {
			net := netsim.New(netsim.Options{Seed: 5})
			net.Use(path(0.02))
			s := newSim(net, nil)
			s.add(nil)
			s.add(nil)
			if err := s.together(10 * time.Second); err != nil {
				t.Fatal(err)
			}
			if c.group != nil {
				c.group(&s.nodes[0].m.opt)
			}
			m := s.add(c.change)
			if err := s.until(30*time.Second, "a denial",
				func() bool { return m.denied != 0 }); err != nil {
				t.Fatal(err)
			}
			if m.denied != c.why || !strings.Contains(m.text, c.text) {
				t.Errorf("denied as %q: %s; want %q: %s", m.denied, m.text, c.why, c.text)
			}
			if len(s.nodes[0].m.Voters()) != 2 {
				t.Errorf("voters %v", s.nodes[0].m.Voters())
			}
		})
	}
}

// TestRedirect: any mirror names the überserver.
func TestRedirect(t *testing.T) {
	net := netsim.New(netsim.Options{Seed: 5})
	s, err := gathered(net, 3, 1, path(0.02), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range []int{1, 2, 3} {
		s.add(func(o *Options) { o.Ask = o.Ask[at : at+1] })
		if err := s.together(6 * time.Second); err != nil {
			t.Fatal(err)
		}
	}
}

// TestLedger: what the ledger says was sent is what the link was given.
func TestLedger(t *testing.T) {
	net := netsim.New(netsim.Options{Seed: 5})
	s, err := gathered(net, 3, 1, path(0.1), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.run(2 * time.Second); err != nil {
		t.Fatal(err)
	}
	for _, n := range s.nodes {
		l := n.node.Ledger()
		if n.handed == 0 || l.Total() != n.handed {
			t.Errorf("machine %d handed out %d bytes, its ledger says %d: %v", n.n, n.handed,
				l.Total(), l.Sent)
		}
	}
}

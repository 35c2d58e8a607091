package council

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/member"
	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/netsim/simtest"
)

func path(loss float64) netsim.Conditions {
	p := netsim.Profile{
		Latency: 20 * time.Millisecond, Loss: loss, Duplicate: 0.05, Reorder: 0.05,
		HoldBack: 60 * time.Millisecond, Jitter: netsim.Jitter{Amount: 10 * time.Millisecond}}
	return netsim.Conditions{Up: p, Down: p}
}

// TestChaos: whatever happens to members and paths, no two of them ever learn different
// decrees for an epoch; and when the trouble is over and enough of them are left, they are
// together again soon.
func TestChaos(t *testing.T) {
	for _, c := range []struct{ mirrors, witnesses int }{
		{1, 0}, {2, 0}, {2, 1}, {3, 0}, {4, 0}, {5, 0}, {4, 1}} {
		t.Run(fmt.Sprintf("%d+%d", c.mirrors, c.witnesses), func(t *testing.T) {
			skipped, runs := 0, 0
			simtest.Run(t, seeds(10, 40), func(n *netsim.Net) error {
				n.Use(path(0.3 * n.Rand().Float64()))
				s := newSim(n, c.mirrors, c.witnesses)
				s.restart = true
				err := n.Chaos(netsim.Chaos{Start: 200 * time.Millisecond, End: 8 * time.Second,
					Most: 12, Longest: 3 * time.Second,
					Cut: []string{"*"}, Pause: []string{"*"}, Restart: []string{"*"},
					Storm: []string{"*"}, Weather: "loss=0.6 latency=150ms"})
				if err != nil {
					return err
				}
				// Leaders propose all the time, those who only think that they lead included.
				n.Every(150*time.Millisecond, func() {
					if n.Now() > 11*time.Second {
						return
					}
					for _, m := range s.alive() {
						if m.c.Leads() {
							m.wishes++
						}
					}
				})
				n.RunUntil(11*time.Second, func() bool { return s.err != nil })
				if s.err != nil {
					return s.err
				}
				runs++
				if !s.able() {
					skipped++ // too many have crashed at once
					return nil
				}
				return s.converges(30 * time.Second)
			})
			t.Logf("%d of %d runs ended without enough voters", skipped, runs)
			if runs >= 30 && skipped > runs*3/4 {
				t.Error("most runs prove nothing")
			}
		})
	}
}

// TestKill: any two of five at once, at any moment; the others go on by themselves within
// seconds, and take in those who come back.
func TestKill(t *testing.T) {
	simtest.Run(t, seeds(20, 60), func(n *netsim.Net) error {
		n.Use(path(0.02))
		s := newSim(n, 5, 0)
		n.Run(time.Duration(n.Rand().IntN(1000)) * time.Millisecond)
		first := n.Rand().IntN(5)
		if n.Rand().Chance(0.5) {
			first = 0 // the leader among them
		}
		second := (first + 1 + n.Rand().IntN(4)) % 5
		if n.Rand().Chance(0.5) {
			for _, m := range s.alive() { // in the midst of something
				m.wishes++
			}
			n.Run(time.Duration(n.Rand().IntN(100)) * time.Millisecond)
		}
		s.nodes[first].ep.Restart(time.Hour)
		s.nodes[second].ep.Restart(time.Hour)
		if err := s.converges(10 * testSilence); err != nil {
			return err
		}
		if len(s.newest.Voters) != 3 {
			return fmt.Errorf("%d voters are left, want 3", len(s.newest.Voters))
		}
		return nil
	})
}

// TestPartition: the side with the majority goes on, the other decides nothing and knows
// it; after the partition it learns that it is out.
func TestPartition(t *testing.T) {
	simtest.Run(t, seeds(20, 60), func(n *netsim.Net) error {
		n.Use(path(0.02))
		s := newSim(n, 5, 0)
		n.Run(500 * time.Millisecond)
		order := n.Endpoints()
		at := n.Rand().IntN(4) // the leader is on either side
		var few, most []*netsim.Endpoint
		for i, e := range order {
			if i == at || i == 4 {
				few = append(few, e)
			} else {
				most = append(most, e)
			}
		}
		n.Partition(few, most)
		n.Run(20 * testSilence)
		if s.err != nil {
			return s.err
		}
		for i, m := range s.nodes {
			small := i == at || i == 4
			if m.c.Quorum() == small {
				return fmt.Errorf("member %d thinks quorum %v: %s", m.id, m.c.Quorum(), s.state())
			}
			if small != (m.c.Decree().Epoch == 1) {
				return fmt.Errorf("member %d is at epoch %d", m.id, m.c.Decree().Epoch)
			}
		}
		n.HealPartition(few, most)
		if !n.RunUntil(10*testSilence, func() bool { return s.nodes[at].out && s.nodes[4].out }) {
			return errors.New("who was left out is not told")
		}
		if note, _ := s.nodes[4].c.Dismissed(); len(note) != 1 || note[0] != byte(s.nodes[4].id) {
			return fmt.Errorf("who was left out was told %q", note)
		}
		return s.converges(10 * testSilence)
	})
}

// TestShortPartition: a minority that is back before anything was decided stays, and whatever
// it tried is cleared up.
func TestShortPartition(t *testing.T) {
	simtest.Run(t, seeds(15, 30), func(n *netsim.Net) error {
		n.Use(path(0))
		s := newSim(n, 5, 0)
		n.Run(500 * time.Millisecond)
		few, most := n.Endpoints()[3:], n.Endpoints()[:3]
		n.Partition(few, most)
		n.Run(testSilence / 2)
		n.HealPartition(few, most)
		if err := s.converges(10 * testSilence); err != nil {
			return err
		}
		for _, m := range s.nodes {
			if m.out {
				return fmt.Errorf("member %d was dropped", m.id)
			}
		}
		return nil
	})
}

// TestDeafLeader: a leader that is heard but hears nobody is succeeded; one with a bad line
// to one member alone is not.
func TestDeafLeader(t *testing.T) {
	simtest.Run(t, seeds(15, 30), func(n *netsim.Net) error {
		n.Use(path(0.02))
		s := newSim(n, 5, 0)
		n.Run(500 * time.Millisecond)
		n.Cut(n.Endpoints()[0], n.Endpoints()[4])
		n.Run(20 * testSilence)
		if s.newest.Leader != 1 {
			return fmt.Errorf("%d leads because one does not hear the leader", s.newest.Leader)
		}
		n.Heal(n.Endpoints()[0], n.Endpoints()[4])
		n.Run(2 * time.Second)
		for _, e := range n.Endpoints()[1:] {
			n.CutOneWay(e, n.Endpoints()[0])
		}
		if !n.RunUntil(20*testSilence, func() bool { return s.newest.Leader != 1 }) {
			return fmt.Errorf("a deaf leader stays: %s", s.state())
		}
		return s.err
	})
}

// TestLoneHalf: of two, the leader goes on without the other, and the other does not
// without the leader; with a witness it does.
func TestLoneHalf(t *testing.T) {
	for _, c := range []struct {
		witnesses, dead int
		want            bool
	}{{0, 1, true}, {0, 0, false}, {1, 0, true}, {1, 1, true}, {1, 2, true}} {
		simtest.Run(t, seeds(10, 20), func(n *netsim.Net) error {
			n.Use(path(0.02))
			s := newSim(n, 2, c.witnesses)
			n.Run(500 * time.Millisecond)
			s.nodes[c.dead].ep.Restart(time.Hour)
			n.Run(12 * testSilence)
			if got := s.newest.Epoch > 1; got != c.want {
				return fmt.Errorf("witnesses %d, machine %d dead: decided %v, want %v", c.witnesses,
					c.dead, got, c.want)
			}
			for _, m := range s.alive() {
				if m.c.Quorum() != c.want && !m.witness {
					return fmt.Errorf("quorum %v", m.c.Quorum())
				}
				if m.witness && m.c.Leads() {
					return errors.New("a witness leads")
				}
			}
			return s.err
		})
	}
}

// TestOutdated: one that has missed more decrees than anybody keeps goes on from the newest, if
// enough of those whom it knows have voted for it, and otherwise believes that it is out when
// enough of them say so.
func TestOutdated(t *testing.T) {
	n := netsim.New(netsim.Options{Seed: 1})
	n.Use(path(0))
	s := newSim(n, 3, 0)
	n.Run(500 * time.Millisecond)
	late := s.nodes[2]
	old := late.c
	late.ep.Handle(func(_ netsimAddr, data []byte) { // hears nothing but that others are there
		old.Heard(member.ID(be.Uint16(data)), n.Now())
	})
	for range keepDecrees + 5 {
		s.nodes[0].wishes++
		n.Run(1200 * time.Millisecond) // one who does not vote is waited for
	}
	if s.newest.Epoch < keepDecrees+2 || !s.newest.Has(late.id) {
		t.Fatalf("%+v", s.newest)
	}
	old.Receive(n.Now(), 1, (&message{kind: kindBeat, epoch: s.newest.Epoch}).append(nil))
	s.nodes[0].c.Receive(n.Now(), late.id, (&message{kind: kindBeat, epoch: 1}).append(nil))
	out := s.nodes[0].c.Outgoing()
	stranger, err := New(n.Now(), Options{ID: 3, Owner: mute{}, Keys: testKeys(3)},
		Decree{Epoch: 1, Leader: 7, Voters: []member.ID{1, 3, 7, 8}})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range out {
		if m.To == late.id {
			old.Receive(n.Now(), 1, m.Data)
			stranger.Receive(n.Now(), 1, m.Data)
		}
	}
	old.Tick(n.Now() + testSilence)
	if got := old.Decree().Epoch; got != s.newest.Epoch {
		t.Errorf("it is in epoch %d, the others in %d", got, s.newest.Epoch)
	}
	if _, out := stranger.Dismissed(); out || stranger.Decree().Epoch != 1 {
		t.Errorf("one who knows a single voter believes it: %+v", stranger.Stats())
	}
	for i, from := range []member.ID{8, 8, 7} {
		stranger.Receive(n.Now(), from,
			(&message{kind: kindOut, epoch: 50, rest: []byte("bye")}).append(nil))
		if note, out := stranger.Dismissed(); out != (i == 2) || out && string(note) != "bye" {
			t.Errorf("after word %d: out %v, %q", i, out, note)
		}
	}
}

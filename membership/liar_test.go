package membership

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/council"
	"github.com/coeval-dev/coeval/crimp"
	"github.com/coeval-dev/coeval/member"
	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/netsim/simtest"
)

// twoDigests is evidence against a member, with signatures of an identity.
func twoDigests(group uint64, against member.ID, by *crimp.Identity) crimp.Evidence {
	b := []byte{0}
	for i := range 2 {
		text := []byte("coeval crimp 2 digest")
		text = be.AppendUint64(text, group)
		at := len(text)
		text = be.AppendUint16(text, uint16(against))
		for _, n := range []uint32{7, 100, 200} {
			text = be.AppendUint32(text, n)
		}
		text = append(text, make([]byte, 40)...)
		text[len(text)-1] = byte(i)
		sign := by.Sign(text)
		b = append(append(b, text[at:]...), sign[:]...)
	}
	var e crimp.Evidence
	c := bits.CursorOver(b)
	if e.Fields(&c); !c.Done() {
		panic("this is no evidence")
	}
	return e
}

// TestEvidence: one hears of evidence against another, the überserver or not. It is put out, with
// the reason, and all others stay.
func TestEvidence(t *testing.T) {
	for guilty := range 2 {
		simtest.Run(t, seeds(3, 10), func(n *netsim.Net) error {
			s, err := gathered(n, 4, 0, path(0.02), nil)
			if err != nil {
				return err
			}
			liar, from, to := s.nodes[guilty], s.nodes[2], s.nodes[3]
			id := liar.id
			e := twoDigests(to.m.charter.roster.Group, id, liar.m.opt.Identity)
			to.m.Hear(n.Now(), to.node.Group(), from.id, e.Append([]byte{talkEvidence}))
			told := func(m *mirror) bool {
				return m == liar || slices.ContainsFunc(m.events, func(e crimp.Event) bool {
					return e.Kind == crimp.Left && e.Member == id &&
						e.Reason == crimp.ReasonEquivocated
				})
			}
			if err := s.until(10*time.Second, "it is out, and all are told", func() bool {
				return liar.dismissed != 0 && !slices.ContainsFunc(s.nodes,
					func(m *mirror) bool { return !told(m) })
			}); err != nil {
				return err
			}
			if liar.dismissed != crimp.ReasonEquivocated {
				return fmt.Errorf("it is told %v", liar.dismissed)
			}
			for _, m := range s.nodes {
				if m != liar && m.dismissed != 0 {
					return fmt.Errorf("member %d is out as well: %v", m.id, m.dismissed)
				}
			}
			return s.err
		})
	}
}

// TestLies: a member says what only all together can say: that decrees were made, that others are
// out, that the group ends, that another has lied. So does one that is out. Nothing changes, and
// all of it is counted.
func TestLies(t *testing.T) {
	simtest.Run(t, seeds(3, 10), func(n *netsim.Net) error {
		s, err := gathered(n, 4, 0, path(0.02), nil)
		if err != nil {
			return err
		}
		liar, gone := s.nodes[2], s.nodes[3]
		before := s.nodes[0].m.Epoch()
		s.nodes[0].m.Dismiss(n.Now(), gone.id, crimp.ReasonRefused)
		was := gone.id
		if err := s.until(10*time.Second, "one is out", func() bool {
			return s.nodes[0].m.Epoch() > before && s.nodes[1].m.Epoch() > before
		}); err != nil {
			return err
		}
		uber := s.nodes[0].m.Uber()
		d := s.nodes[0].m.council.Decree().Clone()
		d.Epoch++
		d.Leader = liar.id
		ch := s.nodes[0].m.charter
		ch.roster.Epoch++
		d.Body = ch.append(nil)
		l := s.prove(&d, 2)
		decided := l.Append([]byte{talkWhole, 2, 7})
		decided = slices.Insert(decided, 3, be.AppendUint32(nil, d.Epoch)...)
		out := be.AppendUint32([]byte{talkWhole, 2, 8}, d.Epoch+1)
		e := twoDigests(ch.roster.Group, s.nodes[1].id, liar.m.opt.Identity)
		for range 20 {
			for _, m := range s.nodes[:2] {
				for _, from := range []member.ID{liar.id, was} {
					for _, b := range [][]byte{decided, out, {talkClosed},
						e.Append([]byte{talkEvidence})} {
						m.m.Hear(n.Now(), m.node.Group(), from, b)
					}
				}
			}
			if err := s.run(50 * time.Millisecond); err != nil {
				return err
			}
		}
		for _, m := range s.nodes[:2] {
			st, r := m.m.Stats(), m.m.Refusals()
			if m.dismissed != 0 || m.m.Uber() != uber || !m.m.Quorum() {
				return fmt.Errorf("member %d: dismissed %v, überserver %d", m.id, m.dismissed,
					m.m.Uber())
			}
			if st.Unproven == 0 || st.Outsiders == 0 || st.Claimed == 0 || r.Evidence == 0 ||
				r.Outsiders == 0 {
				return fmt.Errorf("not all is counted: %+v %+v", st, r)
			}
		}
		return nil
	})
}

// TestApprove: who leads cannot change what is not its to change.
func TestApprove(t *testing.T) {
	net := netsim.New(netsim.Options{Seed: 3})
	s, err := gathered(net, 3, 0, path(0), nil)
	if err != nil {
		t.Fatal(err)
	}
	m := s.nodes[1].m
	k := keys{identity: m.opt.Identity, group: m.charter.roster.Group}
	stranger, err := crimp.NewIdentity(testSeed(9, 9))
	if err != nil {
		t.Fatal(err)
	}
	try := func(change func(d *council.Decree, ch *charter)) bool {
		d := m.council.Decree().Clone()
		d.Epoch++
		ch, err := readCharter(d.Body)
		if err != nil {
			t.Fatal(err)
		}
		ch.roster.Epoch++
		ch.roster.Key[0] ^= 1
		ch.roster.Gone = nil
		change(&d, &ch)
		d.Body = ch.append(nil)
		return k.approve(m.council.Decree(), &d)
	}
	if !try(func(*council.Decree, *charter) {}) {
		t.Error("a new key alone is refused")
	}
	for name, change := range map[string]func(d *council.Decree, ch *charter){
		"group":  func(_ *council.Decree, ch *charter) { ch.roster.Group++ },
		"key":    func(_ *council.Decree, ch *charter) { ch.roster.Key[0] ^= 1 },
		"signer": func(_ *council.Decree, ch *charter) { ch.roster.Members[2].Sign[0] ^= 1 },
		"secret": func(_ *council.Decree, ch *charter) { ch.roster.Members[2].Agree[0] ^= 1 },
		"voter": func(d *council.Decree, ch *charter) {
			id := ch.takeID()
			ch.add(crimp.Member{ID: id, Card: stranger.Card(m.opt.Card.Addr, 0)}, false)
			d.Voters = member.Insert(d.Voters, id)
		},
		"twice": func(d *council.Decree, ch *charter) {
			id := ch.takeID()
			ch.add(crimp.Member{ID: id, Card: ch.roster.Members[2].Card}, false)
			d.Learners = member.Insert(d.Learners, id)
		},
		"gone": func(_ *council.Decree, ch *charter) {
			ch.roster.Gone = []crimp.Departure{{ID: ch.roster.Members[2].ID}}
		},
		"epoch": func(_ *council.Decree, ch *charter) { ch.roster.Epoch++ },
	} {
		if try(change) {
			t.Error(errors.New(name), "is approved")
		}
	}
}

package council

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/member"
	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/netsim/simtest"
)

// liar is a member that says whatever it can with its own keys. It keeps what it hears, and makes
// of it what serves to have the others decide two things: proposals of several decrees in one
// ballot, promises that leave out what it has accepted, decrees with whatever votes it can get.
type liar struct {
	s        *sim
	n        *node
	epoch    uint32 // that it plays for
	round    uint32
	decrees  []Decree
	promises map[ballot][]promised
	votes    map[ballot]map[digest][]vote
	heard    [][]byte
	sent     int
}

func (l *liar) chance(p float64) bool { return l.s.net.Rand().Chance(p) }

// corrupt puts a liar in place of a member: its true self listens, so that it knows what is going
// on, and every word of it is its own.
func corrupt(s *sim, at int) *liar {
	l := &liar{s: s, n: s.nodes[at]}
	n := l.n
	n.lies = true
	n.ep.Handle(func(_ netsimAddr, data []byte) {
		from, b := member.ID(be.Uint16(data)), slices.Clone(data[2:])
		l.listen(from, b)
		n.c.Receive(s.net.Now(), from, b)
		n.look()
	})
	n.ep.Every(15*time.Millisecond, l.act)
	return l
}

func (l *liar) send(to member.ID, m *message) {
	l.sent++
	l.sendRaw(to, m.append(nil))
}

func (l *liar) sendRaw(to member.ID, b []byte) {
	for _, o := range l.s.nodes {
		if o.id == to && o != l.n {
			l.n.ep.SendTo(o.ep.LocalAddr(), append(be.AppendUint16(nil, uint16(l.n.id)), b...))
		}
	}
}

func (l *liar) listen(from member.ID, b []byte) {
	if len(l.heard) < 200 {
		l.heard = append(l.heard, b)
	} else {
		l.heard[l.s.net.Rand().IntN(200)] = b
	}
	m, ok := readMessage(b)
	if !ok || m.epoch != l.epoch {
		return
	}
	switch m.kind {
	case kindPromise:
		l.promises[m.ballot] = append(l.promises[m.ballot], promised{from, m.claim, m.sign})
		if d, err := ReadDecree(m.decree); err == nil {
			l.decrees = append(l.decrees, d)
		}
	case kindAccepted:
		for _, d := range l.decrees {
			sum := digest(sha256.Sum256(d.Append(nil)))
			v := vote{from, m.sign}
			if l.n.c.genuine(stateVote, m.ballot, ballot{}, &sum, &v) {
				l.keep(m.ballot, sum, v)
			}
		}
	}
}

func (l *liar) keep(b ballot, sum digest, v vote) {
	if l.votes[b] == nil {
		l.votes[b] = map[digest][]vote{}
	}
	l.votes[b][sum] = insertVote(l.votes[b][sum], v)
}

// act says something.
func (l *liar) act() {
	c, r := l.n.c, l.s.net.Rand()
	if c == nil || c.dismissed {
		return
	}
	if l.epoch != c.decree.Epoch+1 {
		l.epoch, l.round = c.decree.Epoch+1, 0
		l.decrees, l.promises, l.votes = nil, map[ballot][]promised{},
			map[ballot]map[digest][]vote{}
		for i := range 3 {
			d := c.decree.Clone()
			d.Epoch++
			d.Body = fmt.Appendf(nil, "lie %d of epoch %d", i, d.Epoch)
			l.decrees = append(l.decrees, d)
		}
	}
	voters := c.decree.Voters
	to := voters[r.IntN(len(voters))]
	b := ballot{uint32(r.IntN(int(l.round)+1)) + 1, l.n.id}
	switch r.IntN(9) {
	case 0:
		l.round = max(l.round, c.topRound) + 1
		for _, id := range voters {
			if l.chance(0.9) {
				l.send(id, &message{kind: kindPrepare, epoch: l.epoch,
					ballot: ballot{l.round, l.n.id}})
			}
		}
	case 1, 2, 3:
		l.propose(b, voters)
	case 4, 5:
		l.decide(b, voters)
	case 6: // it votes for anything, and promises anything
		m := message{kind: kindPromise, epoch: l.epoch, ballot: ballot{uint32(r.IntN(4) + 1), to}}
		m.sign = testKeys(l.n.id).Sign(statement(statePromise, l.epoch, m.ballot, ballot{},
			&digest{}))
		l.send(to, &m)
		sum := digest(sha256.Sum256(l.any().Append(nil)))
		m.kind, m.sign = kindAccepted,
			testKeys(l.n.id).Sign(statement(stateVote, l.epoch, m.ballot, ballot{}, &sum))
		l.send(to, &m)
	case 7:
		m := message{kind: kindBeat, epoch: l.epoch - uint32(r.IntN(2)), flags: uint8(r.IntN(4))}
		if l.chance(0.2) {
			m = message{kind: kindOut, epoch: l.epoch + 40, rest: []byte("go away")}
		}
		l.send(to, &m)
	case 8:
		if len(l.heard) > 0 {
			l.sendRaw(to, l.heard[r.IntN(len(l.heard))])
		}
	}
}

func (l *liar) any() *Decree { return &l.decrees[l.s.net.Rand().IntN(len(l.decrees))] }

// propose proposes one decree to some, another to others, with what promises there are.
func (l *liar) propose(b ballot, voters []member.ID) {
	var list []promised
	own := promised{from: l.n.id}
	own.sign = testKeys(l.n.id).Sign(statement(statePromise, l.epoch, b, ballot{}, &digest{}))
	for _, id := range voters {
		for _, p := range append(l.promises[b], own) {
			if p.from == id && l.chance(0.9) {
				list = append(list, p)
				break
			}
		}
	}
	one, other := l.any(), l.any()
	if k := bound(list); !k.ballot.none() && l.chance(0.7) {
		for i := range l.decrees {
			if sha256.Sum256(l.decrees[i].Append(nil)) == k.digest {
				one = &l.decrees[i]
			}
		}
	}
	for i, id := range voters {
		m := proposalOf(l.n.c.Decree(), b, one)
		if i%2 == 1 {
			m = proposalOf(l.n.c.Decree(), b, other)
		}
		m.promises = list
		if l.chance(0.9) {
			l.send(id, &m)
		}
	}
}

// decide makes decrees from what votes there are, with its own for all of them, and tells each
// of them to some.
func (l *liar) decide(b ballot, voters []member.ID) {
	for _, id := range voters {
		d := l.any()
		link := linkOf(d, b, l.n.id)
		for _, v := range l.votes[b][sha256.Sum256(link.Decree)] {
			link.votes = insertVote(link.votes, v)
		}
		m := message{kind: kindDecided, epoch: d.Epoch, link: link}
		if l.chance(0.5) {
			m.kind = kindHeld
		}
		l.send(id, &m)
	}
}

// TestLiar: one of four or five says anything that its keys allow, and the others' lines are as
// lines are. No two of the others ever hold different decrees of one epoch, and they go on.
func TestLiar(t *testing.T) {
	for _, voters := range []int{4, 5} {
		t.Run(fmt.Sprint(voters), func(t *testing.T) {
			learnt, lies := uint64(0), 0
			simtest.Run(t, seeds(15, 300), func(n *netsim.Net) error {
				p := path(0.03 * n.Rand().Float64())
				n.Use(p)
				s := newSim(n, voters, 0)
				l := corrupt(s, n.Rand().IntN(2)) // the leader, or another
				n.Every(200*time.Millisecond, func() {
					for _, m := range s.alive() {
						if m.c.Leads() && m != l.n {
							m.wishes++
						}
					}
				})
				// All stand still for a while, one at a time; of five one for so long that it is
				// taken out. Of three a liar could make two pairs: there it ends.
				for i := range 5 {
					at, victim := time.Duration(i+1)*time.Second, s.nodes[n.Rand().IntN(voters)]
					n.After(at, victim.ep.Pause)
					n.After(at+testSilence/2+testSilence*time.Duration(i/4), victim.ep.Resume)
				}
				n.RunUntil(8*time.Second,
					func() bool { return s.err != nil || len(s.newest.Voters) < 4 })
				for _, m := range s.nodes {
					if m != l.n {
						learnt += m.c.Stats().Learnt
					}
				}
				lies += l.sent
				return s.err
			})
			t.Logf("%d decrees were learnt by the honest, %d lies were told", learnt, lies)
			if learnt < 40 {
				t.Error("hardly anything was decided")
			}
		})
	}
}

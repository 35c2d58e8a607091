package mirror

import (
	"bytes"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/member"
	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/netsim/simtest"
)

// A framing is what a mirror does to have another put out.
type framing int

const (
	unproven  framing = iota // its packets prove nothing to one other
	twoSigned                // it tells one other something else, and signs both
	oneSigned                // it tells one other something else, and signs what it told the rest
	unsigned                 // the same, until packets are signed
	framings
)

var framingNames = [...]string{"unproven", "two signed", "one signed", "until signed"}

// frame has a mirror do it to another, also with what others carry for it.
func (r *rogue) frame(how framing, victim int) {
	told := map[uint32][]byte{}
	lie := func(b []byte) [][]byte {
		if how == unsigned && r.keys().tags == nil {
			return [][]byte{b}
		}
		switch b[0] {
		case 0x40:
			if how == unproven {
				return [][]byte{r.reseal(b, asIs, r.place(victim))}
			}
			return [][]byte{r.reseal(b, otherPushes)}
		case 0x43:
			return nil // no repair sets it right
		case 0x49:
			if how == twoSigned {
				return [][]byte{r.reseal(b, func(b []byte) []byte { return r.resign(b, told) })}
			}
		}
		return [][]byte{b}
	}
	r.change = func(to int, b []byte) [][]byte {
		if b[0] == 0x48 {
			return r.recarry(b, r.s.machines[victim].mirror.ID(), lie)
		} else if to == victim {
			return lie(b)
		}
		return [][]byte{b}
	}
}

// recarry changes a datagram of the mirror's own that another carries to a member.
func (r *rogue) recarry(b []byte, to member.ID, change func([]byte) [][]byte) [][]byte {
	const head = 2 + 2 + 1
	drop := false
	out := r.rewhisper(b, func(body []byte) []byte {
		if len(body) <= head || member.ID(be.Uint16(body)) != r.s.mirror.ID() ||
			member.ID(be.Uint16(body[2:])) != to {
			return body
		}
		list := change(bytes.Clone(body[head:]))
		if drop = len(list) == 0; drop {
			return body
		}
		return append(bytes.Clone(body[:head]), list[0]...)
	})
	if drop {
		return nil
	}
	return [][]byte{out}
}

// otherPushes turns the last bit of what may be a command.
func otherPushes(b []byte) []byte {
	b = bytes.Clone(b)
	b[len(b)-1] ^= 1
	return b
}

// framed plays a framing for a while.
func framed(n *netsim.Net, how framing, mirrors int, road netsim.Conditions, cut bool) error {
	f := tallyFleet(n, mirrors, 0, road)
	defer f.close()
	f.quarrel = agreeWithin
	n.Run(2 * time.Second)
	bad := n.Rand().IntN(mirrors)
	victim := (bad + 1 + n.Rand().IntN(mirrors-1)) % mirrors
	culprit := f.machines[bad]
	id := culprit.mirror.ID()
	culprit.corrupt().frame(how, victim)
	if cut { // between the victim and another, or the culprit
		other := (victim + 1 + n.Rand().IntN(mirrors-1)) % mirrors
		f.apply(lines{mirrors, 1<<(victim*mirrors+other) | 1<<(other*mirrors+victim)}, false)
	}
	w := f.watch()
	n.Run(20 * time.Second)
	for i, s := range f.machines {
		if i != bad {
			most := stillMost
			if i == victim {
				most += joinWhile
			}
			if cut && i == victim {
				most += joinOver
			}
			s.judgeFramed(how, id, i == victim, w.worst[i], most)
		}
	}
	f.settles(10 * time.Second)
	if f.err != nil {
		return fmt.Errorf("%s, %c frames %c, %w", framingNames[how], 'a'+bad, 'a'+victim, f.err)
	}
	return nil
}

// agreeWithin is within what time honest mirrors settle the same worlds again that a liar has come
// between.
const agreeWithin = 3 * time.Second

// joinWhile is what it takes longer to join anew while an überserver that lies is put out.
const joinWhile = 3 * time.Second

// joinOver is what it takes longer to join anew where the line to the überserver may be cut.
const joinOver = 9 * time.Second

// judgeFramed says whether an honest mirror has come through.
func (s *machine) judgeFramed(how framing, id member.ID, victim bool, still, most time.Duration) {
	m := s.mirror
	// What one was told alone is in its world, and it takes that of the others: once before
	// packets are signed, and once with the evidence, or where the word that all are signed now was
	// lost on its way to the liar. Of two that are left, nobody can tell which was told the truth.
	rejoins := uint64(0)
	if how != unproven && (victim || len(s.machines) == 3) {
		rejoins = map[framing]uint64{twoSigned: 2, oneSigned: 2, unsigned: 2}[how]
	}
	if m.stats.Rejoins > rejoins || m.Phase() != Serving || still > most {
		s.fail("%s: victim %v, %d rejoins, %v, stood still for %v", s.name, victim,
			m.stats.Rejoins, m.Phase(), still)
	}
	out := how == twoSigned || how == oneSigned
	if out == slices.Contains(m.Members(), id) {
		s.fail("%s: the members are %v", s.name, m.Members())
	}
	said := func(k NewsKind, text string) bool {
		return slices.ContainsFunc(s.news, func(n News) bool {
			return n.Kind == k && n.Mirror == id && (text == "" || n.Text == text)
		})
	}
	if out && !victim && (!said(Equivocated, "") ||
		!said(MirrorLeft, "told different things to different members")) {
		s.fail("%s: nothing is said of it", s.name)
	}
	for _, n := range s.news {
		if n.Kind == Equivocated && n.Mirror != id {
			s.fail("%s accuses %d, and it was %d", s.name, n.Mirror, id)
		}
	}
}

// TestFraming: a mirror of three to five sends one other what proves nothing to it, or something
// else than it sends the rest, with signatures for both, for one, or for one until everything is
// signed. The others play on; whoever signed two things is put out by it, and stays out; and the
// honest ones settle the same worlds again within agreeWithin, if they did not all the time.
func TestFraming(t *testing.T) {
	for how := range framings {
		t.Run(framingNames[how], func(t *testing.T) {
			simtest.Run(t, seeds(1, 100), func(n *netsim.Net) error {
				r := n.Rand()
				mirrors := 3 + r.IntN(3)
				road := apart(10*time.Millisecond, 2*time.Millisecond, 0.02*float64(r.IntN(3)))
				return framed(n, how, mirrors, road, mirrors > 3 && r.Chance(0.3))
			})
		})
	}
}

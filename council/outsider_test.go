package council

import (
	"crypto/sha256"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/member"
)

// TestNoSay: neither strangers nor members without a vote can move a voter to anything.
func TestNoSay(t *testing.T) {
	d := Decree{Epoch: 1, Leader: 1, Voters: []member.ID{1, 2, 3}, Learners: []member.ID{4}}
	next := Decree{Epoch: 2, Leader: 1, Voters: []member.ID{1, 2}}
	for _, from := range []member.ID{4, 9, 2} {
		c, err := New(0, Options{ID: 2, Owner: mute{}, Keys: testKeys(2)}, d)
		if err != nil {
			t.Fatal(err)
		}
		now := 10 * time.Second
		c.Tick(now) // the leader has long been silent
		deafen(c)
		c.start(nil, true)
		b := c.bid.ballot
		c.Outgoing()
		for _, m := range []message{
			{kind: kindPrepare, epoch: 2, ballot: ballot{99, from}},
			proposalOf(&d, ballot{99, from}, &next, from),
			{kind: kindPromise, epoch: 2, ballot: b},
			{kind: kindAccepted, epoch: 2, ballot: b},
			{kind: kindRefuse, epoch: 2, ballot: b, other: ballot{99, from}},
		} {
			c.Receive(now, from, m.append(nil))
		}
		if out := c.Outgoing(); len(out) != 0 {
			t.Errorf("%d gets %d answers", from, len(out))
		}
		if c.promised != b || !c.accepted.none() || c.bid == nil || len(c.bid.reports) != 1 ||
			c.decree.Epoch != 1 {
			t.Errorf("%d has moved it: promised %v, accepted %v, bid %+v", from, c.promised,
				c.accepted, c.bid)
		}
	}
	// A ballot in the name of another is refused, even by a voter.
	c, err := New(0, Options{ID: 2, Owner: mute{}, Keys: testKeys(2)}, d)
	if err != nil {
		t.Fatal(err)
	}
	c.Receive(0, 1, (&message{kind: kindPrepare, epoch: 2, ballot: ballot{5, 3}}).append(nil))
	c.Receive(0, 1,
		(&message{kind: kindAccept, epoch: 2, ballot: ballot{5, 3},
			decree: next.Append(nil)}).append(nil))
	if !c.promised.none() || !c.accepted.none() {
		t.Errorf("promised %v, accepted %v", c.promised, c.accepted)
	}
}

// TestProposalNeedsPromises: a voter votes only for what a quorum's promises allow: not for another
// decree than the one that may have been decided, nor where a promise is missing, made up, or
// claims what only its own maker has signed.
func TestProposalNeedsPromises(t *testing.T) {
	d := Decree{Epoch: 1, Leader: 1, Voters: []member.ID{1, 2, 3, 4, 5}}
	x, y := d.Clone(), d.Clone()
	x.Epoch, x.Body, y.Epoch, y.Body = 2, []byte("x"), 2, []byte("y")
	sumX := digest(sha256.Sum256(x.Append(nil)))
	first, second := ballot{1, 1}, ballot{2, 1}
	sign := func(by member.ID, kind byte, b, before ballot, sum digest) Signature {
		return testKeys(by).Sign(statement(kind, 2, b, before, &sum))
	}
	// promise is that of one who has accepted x in the first ballot, for the second.
	promise := func(from, backer member.ID, kind byte) promised {
		k := claim{first, sumX, vote{backer, sign(backer, kind, first, ballot{}, sumX)}}
		return promised{from, k, sign(from, statePromise, second, first, sumX)}
	}
	honest := promise(3, 1, stateProposal)
	for name, c := range map[string]struct {
		next   *Decree
		change func(m *message)
		want   bool
	}{
		"nothing was accepted": {&y, func(*message) {}, true},
		"what was accepted":    {&x, func(m *message) { m.promises[1] = honest }, true},
		"something else":       {&y, func(m *message) { m.promises[1] = honest }, false},
		"too few promises":     {&y, func(m *message) { m.promises = m.promises[:2] }, false},
		"a promise made up":    {&y, func(m *message) { m.promises[2].from = 5 }, false},
		"another's proposal":   {&y, func(m *message) { m.sign[0] ^= 1 }, false},
		"its own word alone": {&x, func(m *message) {
			m.promises[0] = promise(1, 1, stateProposal)
		}, false},
		"its own, with a vote": {&x, func(m *message) {
			m.promises[0] = promise(1, 4, stateVote)
		}, true},
		"backed by a bystander": {&x, func(m *message) {
			m.promises[1] = promise(3, 4, stateProposal)
		}, false},
	} {
		v, err := New(0, Options{ID: 2, Owner: mute{}, Keys: testKeys(2)}, d)
		if err != nil {
			t.Fatal(err)
		}
		m := proposalOf(&d, second, c.next, 1, 3, 4)
		c.change(&m)
		v.Receive(0, 1, m.append(nil))
		if got := !v.accepted.none(); got != c.want {
			t.Errorf("%s: it votes %v, want %v", name, got, c.want)
		}
		// Nothing that costs signatures is looked at again at once.
		if !c.want {
			good := proposalOf(&d, second, &y, 1, 3, 4)
			v.Receive(0, 1, good.append(nil))
			if !v.accepted.none() || v.Stats().Unheard != 1 {
				t.Errorf("%s: %+v", name, v.Stats())
			}
			if v.Receive(time.Second, 1, good.append(nil)); v.accepted.none() {
				t.Errorf("%s: it is never heard again", name)
			}
		}
	}
}

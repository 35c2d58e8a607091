package council

import (
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

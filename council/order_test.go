package council

import (
	"bytes"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/member"
	"pgregory.net/rapid"
)

// proposer is an owner whose decrees are all different.
type proposer struct {
	mute
	id member.ID
	n  *int
}

func (p proposer) Compose(d *Decree, _ []member.ID, _ []Report) Decree {
	*p.n++
	c := d.Clone()
	c.Epoch++
	c.Leader = p.id
	c.Body = fmt.Appendf(nil, "%d by %d", *p.n, p.id)
	return c
}

// deafen has a member take everybody else for gone, so that it holds back for nobody.
func deafen(c *Council) {
	c.wokeAt = -time.Hour
	for _, p := range c.peers {
		p.heard = -time.Hour
	}
}

// TestAnyOrder: any of the voters proposes at any moment, messages come in any order, often
// more than once, or never. No two learn different decrees for an epoch.
func TestAnyOrder(t *testing.T) {
	decided := 0
	game := func(t *rapid.T) {
		n := rapid.IntRange(2, 5).Draw(t, "voters")
		d := Decree{Epoch: 1, Leader: 1}
		for i := range n {
			d.Voters = append(d.Voters, member.ID(i+1))
		}
		var all []*Council
		made := 0
		for _, id := range d.Voters {
			c, err := New(0, Options{ID: id, Owner: proposer{id: id, n: &made},
				Keys: testKeys(id)}, d)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, c)
		}
		type sent struct {
			from member.ID
			Message
		}
		var bag []sent
		learnt := map[uint32][]byte{}
		look := func(c *Council) {
			for _, d := range c.Decided() {
				b := d.Append(nil)
				if have, ok := learnt[d.Epoch]; ok && !bytes.Equal(have, b) {
					t.Fatalf("for epoch %d, %q and %q were decided", d.Epoch, have, b)
				}
				learnt[d.Epoch] = b
				decided++
			}
			for _, m := range c.Outgoing() {
				bag = append(bag, sent{c.opt.ID, Message{m.To, bytes.Clone(m.Data)}})
			}
		}
		for range rapid.IntRange(40, 200).Draw(t, "steps") {
			// What is about epochs that all have left behind, only takes time.
			epoch := all[0].decree.Epoch
			for _, c := range all {
				epoch = min(epoch, c.decree.Epoch)
			}
			bag = slices.DeleteFunc(bag, func(m sent) bool {
				got, _ := readMessage(m.Data)
				return got.epoch <= epoch || got.kind == kindBeat || got.kind == kindRefuse
			})
			pick := rapid.IntRange(0, 9).Draw(t, "do")
			switch {
			case pick == 0 || len(bag) == 0:
				c := all[rapid.IntRange(0, n-1).Draw(t, "who")]
				deafen(c)
				c.start(nil, true)
				look(c)
			default:
				at := rapid.IntRange(0, len(bag)-1).Draw(t, "message")
				m := bag[at]
				if pick < 9 {
					bag = append(bag[:at], bag[at+1:]...)
				}
				c := all[m.To-1]
				deafen(c)
				c.Receive(0, m.from, m.Data)
				look(c)
			}
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		for range 10 {
			game(t)
		}
	})
	t.Logf("%d decrees were learnt", decided)
	if decided == 0 {
		t.Error("nothing was ever decided")
	}
}

// TestVoterKeepsPromises: whatever is asked of a voter, it never goes back behind a ballot
// that it has promised, and tells every proposer what it has accepted.
func TestVoterKeepsPromises(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := Decree{Epoch: 1, Leader: 1, Voters: []member.ID{1, 2, 3}}
		c, err := New(0, Options{ID: 2, Owner: mute{}, Keys: testKeys(2)}, d)
		if err != nil {
			t.Fatal(err)
		}
		var promised, accepted ballot
		var value []byte
		for i := range rapid.IntRange(1, 40).Draw(t, "messages") {
			deafen(c)
			from := rapid.SampledFrom([]member.ID{1, 3}).Draw(t, "from")
			b := ballot{rapid.Uint32Range(1, 6).Draw(t, "round"), from}
			m := message{kind: kindPrepare, epoch: 2, ballot: b}
			if rapid.Bool().Draw(t, "accept") {
				next := Decree{Epoch: 2, Leader: 1, Voters: d.Voters, Body: []byte{byte(i)}}
				if b == accepted {
					next, _ = ReadDecree(value) // a ballot has one decree
				}
				m = proposalOf(&d, b, &next, 1, 3)
			}
			c.Receive(0, from, m.append(nil))
			var got message
			for _, out := range c.Outgoing() {
				got, _ = readMessage(out.Data)
			}
			switch {
			case b.less(promised):
				if got.kind != kindRefuse || got.other != promised {
					t.Fatalf("asked for %v after it promised %v, it says %+v", b, promised, got)
				}
			case m.kind == kindPrepare:
				if got.kind != kindPromise || got.claim.ballot != accepted ||
					!bytes.Equal(got.decree, value) {
					t.Fatalf("asked for %v, having accepted %v, it says %+v", b, accepted, got)
				}
				promised = b
			default:
				if got.kind != kindAccepted || got.ballot != b {
					t.Fatalf("asked to accept %v, it says %+v", b, got)
				}
				promised, accepted, value = b, b, m.decree
			}
		}
	})
}

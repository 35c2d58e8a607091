package council

import (
	"bytes"
	"net/netip"
	"reflect"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/member"
	"pgregory.net/rapid"
)

type netsimAddr = netip.AddrPort

func drawIDs(t *rapid.T, name string) (list []member.ID) {
	for _, n := range rapid.SliceOfN(rapid.Uint16Range(1, 60), 0, 8).Draw(t, name) {
		list = member.Insert(list, member.ID(n))
	}
	return list
}

func TestMessageRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		drawn := func(name string) ballot {
			return ballot{
				rapid.Uint32Range(1, 1<<32-1).Draw(t, name),
				member.ID(rapid.Uint16().Draw(t, name))}
		}
		m := message{
			kind:  rapid.Uint8Range(1, kindHeld).Draw(t, "kind"),
			epoch: rapid.Uint32Range(1, 1<<32-1).Draw(t, "epoch")}
		text := rapid.SliceOfN(rapid.Byte(), 1, 40)
		switch m.kind {
		case kindBeat:
			m.flags, m.ballot = rapid.Uint8Range(0, 3).Draw(t, "flags"), drawn("ballot")
		case kindPrepare:
			m.ballot, m.suspects = drawn("ballot"), drawIDs(t, "suspects")
		case kindPromise:
			m.ballot, m.claim, m.decree, m.rest = drawn("ballot"), claim{ballot: drawn("other")},
				text.Draw(t, "decree"), text.Draw(t, "report")
			m.claim.backed = vote{3, Signature{4, 5}}
			m.sign[7] = 9
		case kindRefuse:
			m.ballot, m.other, m.flags = drawn("ballot"), drawn("other"),
				rapid.Uint8Range(0, 1).Draw(t, "flags")
		case kindAccept:
			m.ballot, m.decree = drawn("ballot"), text.Draw(t, "decree")
			m.promises = []promised{{from: 1, claim: claim{ballot: drawn("claimed")}},
				{from: 4, sign: Signature{1, 2, 3}}}
		case kindAccepted:
			m.ballot, m.sign = drawn("ballot"), Signature{8}
		case kindDecided, kindHeld:
			m.link = Link{text.Draw(t, "decree"), drawn("ballot"), []vote{{1, Signature{1}},
				{7, Signature{2}}}}
			m.rest = text.Draw(t, "note")
		case kindOut:
			m.rest = text.Draw(t, "note")
		}
		got, ok := readMessage(m.append(nil))
		if !ok || !reflect.DeepEqual(got, m) {
			t.Fatalf("%+v became %+v, %v", m, got, ok)
		}
	})
}

func TestDecreeRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := Decree{
			Epoch: rapid.Uint32().Draw(t, "epoch"), Voters: drawIDs(t, "voters"),
			Witnesses: drawIDs(t, "witnesses"), Learners: drawIDs(t, "learners")}
		if len(d.Voters) > 0 {
			d.Leader = rapid.SampledFrom(d.Voters).Draw(t, "leader")
		}
		if body := rapid.SliceOf(rapid.Byte()).Draw(t, "body"); len(body) > 0 {
			d.Body = body
		}
		got, err := ReadDecree(d.Append(nil))
		if want := d.Check(); (want == nil) != (err == nil) {
			t.Fatalf("%+v: %v, want %v", d, err, want)
		}
		if err == nil && !reflect.DeepEqual(got, d) {
			t.Fatalf("%+v became %+v", d, got)
		}
	})
}

// TestQuorums: any two quorums meet, and any Need voters meet every quorum.
func TestQuorums(t *testing.T) {
	for n := 1; n <= 7; n++ {
		d := Decree{Epoch: 1, Leader: 1}
		for i := range n {
			d.Voters = append(d.Voters, member.ID(i+1))
		}
		in := func(set int) func(member.ID) bool {
			return func(id member.ID) bool { return set>>(id-1)&1 != 0 }
		}
		size := func(set int) (k int) {
			for ; set > 0; set &= set - 1 {
				k++
			}
			return k
		}
		quorums := 0
		for a := range 1 << n {
			if !d.Quorum(in(a)) {
				continue
			}
			quorums++
			for b := range 1 << n {
				if d.Quorum(in(b)) && a&b == 0 {
					t.Errorf("%d voters: the quorums %b and %b do not meet", n, a, b)
				}
				if size(b) == d.Need() && a&b == 0 {
					t.Errorf("%d voters: %b holds what is needed, and the quorum %b has none of it",
						n, b, a)
				}
			}
		}
		if quorums == 0 || d.Need() < 1 || d.Need() > n {
			t.Errorf("%d voters: %d quorums, need %d", n, quorums, d.Need())
		}
	}
}

// mute is an owner that says as little as possible.
type mute struct{}

func (mute) Report([]member.ID) []byte { return nil }
func (mute) Farewell(member.ID) []byte { return nil }
func (mute) Compose(d *Decree, _ []member.ID, _ []Report) Decree {
	c := d.Clone()
	c.Epoch++
	return c
}

// FuzzReceive: whatever a member says, nothing breaks, and what it gets in answer is bounded.
func FuzzReceive(f *testing.F) {
	d := Decree{
		Epoch: 3, Leader: 1, Voters: []member.ID{1, 2, 3}, Learners: []member.ID{4},
		Body: []byte("body")}
	next := d.Clone()
	next.Epoch = 4
	for _, m := range []message{
		{kind: kindBeat, epoch: 3, flags: flagDoubt, ballot: ballot{1, 2}},
		{kind: kindPrepare, epoch: 4, ballot: ballot{1, 1}, suspects: []member.ID{3}},
		{kind: kindPromise, epoch: 4, ballot: ballot{1, 2}, claim: claim{ballot: ballot{1, 1}},
			decree: next.Append(nil), rest: []byte("r")},
		{kind: kindRefuse, epoch: 4, ballot: ballot{1, 2}, other: ballot{2, 1}, flags: refuseAlive},
		proposalOf(&d, ballot{1, 1}, &next, 1, 3),
		{kind: kindAccepted, epoch: 4, ballot: ballot{1, 2}},
		{kind: kindDecided, epoch: 4, link: linkOf(&next, ballot{1, 1}, 1, 3)},
		{kind: kindOut, epoch: 9, rest: []byte("bye")},
	} {
		f.Add(m.link.Append(nil), uint8(0))
		f.Add(m.append(nil), uint8(0))
		f.Add(m.append(nil), uint8(9))
	}
	f.Fuzz(func(t *testing.T, b []byte, wait uint8) {
		if m, ok := readMessage(b); ok {
			if again := m.append(nil); !bytes.Equal(again, b) {
				t.Fatalf("%x became %x", b, again)
			}
		}
		if l, err := ReadLink(b); err == nil {
			if again := l.Append(nil); !bytes.Equal(again, b) {
				t.Fatalf("%x became %x", b, again)
			}
			l.Proved(testKeys(2), &d)
		}
		if d, err := ReadDecree(b); err == nil {
			if again := d.Append(nil); !bytes.Equal(again, b) {
				t.Fatalf("%x became %x", b, again)
			}
		}
		c, err := New(0, Options{ID: 2, Owner: mute{}, Keys: testKeys(2)}, d)
		if err != nil {
			t.Fatal(err)
		}
		now := time.Duration(0)
		for _, from := range []member.ID{1, 3, 4, 9, 2} {
			now += time.Duration(wait) * 100 * time.Millisecond
			c.Tick(now)
			c.Outgoing()
			c.Receive(now, from, b)
			if out := c.Outgoing(); len(out) > 2*len(d.Voters) {
				t.Fatalf("%d messages in answer to one", len(out))
			}
		}
		if err := c.decree.Check(); err != nil {
			t.Fatal(err)
		}
	})
}

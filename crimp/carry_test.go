package crimp

import (
	"bytes"
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/member"
	"github.com/coeval-dev/coeval/route"
)

// chain is members of which each reaches only the next, as far as it goes by itself. The network
// takes no time.
type chain struct {
	now    time.Duration
	groups []*Group
	at     map[netip.AddrPort]*Group
	passes func(from, to int) bool
	sent   uint64
	got    map[member.ID]map[string]bool
}

func newChain(t testing.TB, n int) *chain {
	c := &chain{
		at: map[netip.AddrPort]*Group{}, got: map[member.ID]map[string]bool{},
		passes: func(a, b int) bool { return a-b == 1 || b-a == 1 }}
	r := Roster{Group: 77, Epoch: 1, Key: [16]byte{9}}
	var list []Options
	for i := range n {
		o := Options{Seed: testSeed(1, uint64(i)), Identity: testIdentity(2, uint64(i)),
			Carry: true, History: 2 * time.Second}
		addr := netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 0, 0, byte(i)}), 9)
		list = append(list, o)
		r.Members = append(r.Members,
			Member{ID: member.ID(i + 1), Card: o.Identity.Card(addr, 0)})
	}
	for i, o := range list {
		g, err := NewGroup(o)
		if err != nil {
			t.Fatal(err)
		}
		if err := g.SetRoster(0, r); err != nil {
			t.Fatal(err)
		}
		c.groups = append(c.groups, g)
		c.at[r.Members[i].Addr] = g
		c.got[member.ID(i+1)] = map[string]bool{}
	}
	return c
}

func (c *chain) index(g *Group) int { return int(g.whispers.self) - 1 }

// run lets time pass, in steps of 10 ms.
func (c *chain) run(d time.Duration) {
	for end := c.now + d; c.now < end; c.now += 10 * time.Millisecond {
		for range len(c.groups) + 1 { // so that what is carried arrives
			for i, g := range c.groups {
				for _, d := range g.Flush(c.now, nil) {
					c.sent += uint64(len(d.Data))
					c.deliver(i, d)
				}
			}
		}
		for i, g := range c.groups {
			g.Tick(c.now)
			for _, e := range g.Events() {
				if e.Kind == Delivered {
					c.got[member.ID(i+1)][fmt.Sprintf("%d/%d", e.Member, e.Seq)] = true
				}
			}
		}
	}
}

func (c *chain) deliver(from int, d link.Datagram) {
	to := c.at[d.Addr]
	if to == nil || !c.passes(from, c.index(to)) {
		return
	}
	to.Receive(c.now, []link.Datagram{{Data: bytes.Clone(d.Data)}})
}

// TestChainCarries: along a chain of five everyone's packets come to everyone, once, and the books
// add up to what was sent.
func TestChainCarries(t *testing.T) {
	c := newChain(t, 5)
	c.run(3 * time.Second)
	for n := range 20 {
		for _, g := range c.groups {
			if _, err := g.Send(c.now, fmt.Appendf(nil, "message %d", n)); err != nil {
				t.Fatal(err)
			}
		}
		c.run(50 * time.Millisecond)
	}
	c.run(time.Second)
	booked := uint64(0)
	for i, g := range c.groups {
		if n := len(c.got[member.ID(i+1)]); n != 4*20 {
			t.Errorf("member %d was delivered %d packets, want %d", i+1, n, 4*20)
		}
		l := g.Ledger()
		booked += l.Total()
		inside := i > 0 && i < 4
		if (g.Stats().Carried > 0) != inside || g.Stats().Overpaid > 0 {
			t.Errorf("member %d carried: %+v", i+1, g.Stats())
		}
		for _, line := range g.Lines() {
			if want := max(i-int(line.Member)+1, int(line.Member)-1-i); line.Hops != want {
				t.Errorf("member %d reaches %d over %d lines, want %d", i+1, line.Member, line.Hops,
					want)
			}
		}
	}
	if booked != c.sent {
		t.Errorf("%d bytes are booked, %d were sent", booked, c.sent)
	}
}

// TestCarrierOnlyCarries: who carries a datagram cannot read it, and what it changes in it counts
// nowhere.
func TestCarrierOnlyCarries(t *testing.T) {
	c := newChain(t, 3)
	c.run(3 * time.Second)
	before := c.groups[2].Stats()
	text := []byte("between one and three")
	if err := c.groups[0].Whisper(c.now, 3, text); err != nil {
		t.Fatal(err)
	}
	carried := 0
	for _, d := range c.groups[0].Flush(c.now, nil) {
		if d.Data[0] != kindCarry || c.index(c.at[d.Addr]) != 1 {
			continue
		}
		carried++
		// The carrier takes the wrapping off, changes what is inside and wraps it again.
		two := c.groups[1]
		k := two.whispers.known[1]
		h := header{d.Data[0], 0, be.Uint16(d.Data[2:]), member.ID(be.Uint16(d.Data[4:])),
			be.Uint32(d.Data[6:])}
		body, err := k.from.Open(nil, two.crypt.setNonce(&h, 0), d.Data[whisperHead:],
			d.Data[:whisperHead])
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(body, text) {
			t.Error("a carrier can read what it carries")
		}
		for i := carryHead; i < len(body); i++ {
			bad := bytes.Clone(body)
			bad[i] ^= 0x10
			b, err := two.sealWhisper(kindCarry, 3, two.whispers.known[3], bad)
			if err != nil {
				t.Fatal(err)
			}
			c.groups[2].Receive(c.now, []link.Datagram{{Data: b}})
		}
	}
	if carried == 0 {
		t.Fatal("nothing was carried")
	}
	for _, e := range c.groups[2].Events() {
		if e.Kind == Whispered || e.Kind == Delivered {
			t.Errorf("%v: %q", e.Kind, e.Data)
		}
	}
	if now := c.groups[2].Stats(); now.Forged+now.Malformed+now.OtherGroup+now.Strangers ==
		before.Forged+before.Malformed+before.OtherGroup+before.Strangers {
		t.Error("not counted")
	}
}

// TestCarriesWithinBounds: a member that hands over more and more has only so much of it carried,
// and nothing goes on for ever or back.
func TestCarriesWithinBounds(t *testing.T) {
	c := newChain(t, 3)
	c.run(3 * time.Second)
	one, two := c.groups[0], c.groups[1]
	hand := func(hops uint8, to member.ID, n int) {
		body := one.carryBody(1, to, hops, bytes.Repeat([]byte{kindData}, n))
		b, err := one.sealWhisper(kindCarry, 2, one.whispers.known[2], body)
		if err != nil {
			t.Fatal(err)
		}
		two.Receive(c.now, []link.Datagram{{Data: b}})
	}
	was := two.Stats()
	for range 4000 {
		hand(maxHops, 3, 1000)
	}
	now := two.Stats()
	if bytes := now.CarriedBytes - was.CarriedBytes; bytes > 1<<19 || bytes < 1<<18 {
		t.Errorf("%d bytes of 4 MB were carried at once, want half of a second's", bytes)
	}
	if now.Overpaid == 0 {
		t.Error("not counted")
	}
	c.now += time.Second
	two.Flush(c.now, nil)
	was = two.Stats()
	hand(1, 3, 100)         // may be carried no further
	hand(maxHops+1, 3, 100) // further than anything may
	hand(maxHops, 1, 100)   // back
	hand(maxHops, 9, 100)   // to nobody
	hand(maxHops, 3, 0)     // nothing
	if now := two.Stats(); now.Uncarried-was.Uncarried != 4 || now.Malformed-was.Malformed != 1 ||
		now.Carried != was.Carried {
		t.Errorf("carried %d, not %d, malformed %d", now.Carried-was.Carried,
			now.Uncarried-was.Uncarried, now.Malformed-was.Malformed)
	}
	// Inside of what is carried, nothing is carried, and no lines are told.
	for _, kind := range []byte{kindCarry, kindLine} {
		body := one.carryBody(1, 2, maxHops, bytes.Repeat([]byte{kind}, 60))
		b, err := one.sealWhisper(kindCarry, 2, one.whispers.known[2], body)
		if err != nil {
			t.Fatal(err)
		}
		malformed := two.Stats().Malformed
		if two.Receive(c.now, []link.Datagram{{Data: b}}); two.Stats().Malformed != malformed+1 {
			t.Errorf("%#x is taken", kind)
		}
	}
}

// TestNobodySpeaksOfOthersLines: a member that passes on what another has not said is not believed.
func TestNobodySpeaksOfOthersLines(t *testing.T) {
	c := newChain(t, 3)
	c.run(3 * time.Second)
	one, two := c.groups[0], c.groups[1]
	lie := lineState{State: route.State{Member: 3, Number: 1 << 20,
		Hears: []route.Hearing{{Member: 1, Up: true}}}}
	lie.tags = []stateTag{{1, [tagSize]byte{1, 2, 3}}}
	own := lineState{State: two.lines.table.State(c.now)}
	b := lineBody{0, own, []lineState{lie}}
	out := bits.CursorTo(nil)
	b.fields(&out)
	known := one.lines.table.Known(3).Number
	was := one.Stats().Unproven
	sealed, err := two.sealWhisper(kindLine, 1, two.whispers.known[1], out.Data())
	if err != nil {
		t.Fatal(err)
	}
	one.Receive(c.now, []link.Datagram{{Data: sealed}})
	if one.lines.table.Known(3).Number != known || one.Stats().Unproven != was+1 {
		t.Errorf("member 3 said %d by now, and %d were not proven", one.lines.table.Known(3).Number,
			one.Stats().Unproven-was)
	}
	// Nor may it say anything in another's name, directly.
	b.own.Member = 3
	out = bits.CursorTo(nil)
	b.fields(&out)
	if sealed, err = two.sealWhisper(kindLine, 1, two.whispers.known[1], out.Data()); err != nil {
		t.Fatal(err)
	}
	malformed := one.Stats().Malformed
	if one.Receive(c.now, []link.Datagram{{Data: sealed}}); one.Stats().Malformed != malformed+1 {
		t.Error("a member speaks for another")
	}
}

// FuzzLines: whatever a member says of lines, and hands over to be carried.
func FuzzLines(f *testing.F) {
	f.Add(true, []byte{0, 2, 0, 0, 0, 9, 1, 0, 1, 0x80, 0, 0})
	f.Add(false, []byte{0, 1, 0, 3, 15, kindData, 1, 2, 3})
	f.Fuzz(func(t *testing.T, tell bool, body []byte) {
		c := newChain(t, 3)
		c.run(50 * time.Millisecond)
		one, two := c.groups[0], c.groups[1]
		kind := byte(kindCarry)
		if tell {
			kind = kindLine
		}
		b, err := two.sealWhisper(kind, 1, two.whispers.known[1], body)
		if err != nil {
			t.Fatal(err)
		}
		one.Receive(c.now, []link.Datagram{{Data: b}})
		if n := len(one.Flush(c.now+time.Second, nil)); n > 100 {
			t.Errorf("%d datagrams came of one", n)
		}
		if err := one.sound(); err != nil {
			t.Error(err)
		}
	})
}

// TestLinesOutliveRosters: a new roster does not make those forget their lines who are in none and
// only vote. It did, so that one that is reached over another was not for a while.
func TestLinesOutliveRosters(t *testing.T) {
	c := newChain(t, 3)
	c.run(3 * time.Second)
	g := c.groups[0]
	r := Roster{Group: 77, Epoch: 2, Key: [16]byte{8}}
	for _, id := range []member.ID{1, 2} {
		m := Member{ID: id, Card: g.self.card}
		if p := g.byID[id]; p != nil {
			m.Card = p.card
		}
		r.Members = append(r.Members, m)
	}
	r.Gone = []Departure{{ID: 3}}
	for epoch := range uint32(3) {
		r.Epoch = 2 + epoch
		if err := g.SetRoster(c.now, r); err != nil {
			t.Fatal(err)
		}
		g.KeepLines(c.now, []member.ID{1, 2, 3})
		if hop, _ := g.lines.table.Next(3); epoch > 0 && hop != 2 {
			t.Errorf("epoch %d: the way to member 3 leads over %d", r.Epoch, hop)
		}
		c.run(3 * time.Second) // it was in the roster, and its line is tried anew
		r.Gone = nil
	}
}

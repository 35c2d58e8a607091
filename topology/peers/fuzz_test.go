package peers

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/member"
	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/timeline/turns"
	"github.com/coeval-dev/coeval/world"
)

// step is what a player of the game for fuzzing commands.
type step struct {
	X    int8
	Jump bool `world:"edge"`
}

func (c *step) Sync(s *bits.Sync) {
	s.Int8(&c.X, -7, 7)
	s.Bool(&c.Jump)
}

type walker struct{ X, Jumps int32 }

func (b *walker) Sync(s *bits.Sync) {
	s.Int32(&b.X, -1<<20, 1<<20)
	s.Int32(&b.Jumps, 0, 1<<20)
}

func (b *walker) Step(w *world.World, me world.ID) {
	c := world.Command[step](w, me)
	b.X = (b.X*3 + int32(c.X)) % 100000
	if c.Jump {
		b.Jumps++
	}
}

var steps = world.Define("steps", world.Class[walker](), world.Commands[step](),
	world.OnJoin(func(w *world.World, p world.Player) {
		w.SetOwner(world.Spawn(w, walker{X: int32(p)}), p)
	}),
	world.OnLeave(func(w *world.World, p world.Player) {
		if id, b := world.Owned[walker](w, p); b != nil {
			w.Remove(id)
		}
	}))

// fielder is a message that is read and written by one function.
type fielder interface{ fields(*bits.Cursor) }

func samples() []fielder {
	var id [32]byte
	id[0] = 7
	who, err := newIdentity(id)
	if err != nil {
		panic(err)
	}
	card := who.card("ann")
	addrs := []netip.AddrPort{netip.MustParseAddrPort("192.0.2.1:4000"),
		netip.MustParseAddrPort("[2001:db8::1]:9")}
	m := Match{Level: "duel", Data: []byte{1, 2, 3}, Seed: 5, Alone: true}
	if err := m.fill(steps); err != nil {
		panic(err)
	}
	ch := &charter{next: 3,
		members: []entry{{1, card, addrs, 1, 0}, {2, card, nil, 0, 1}},
		spans:   []span{{1, 1, 1, open, true}, {2, 2, 30, 90, false}},
		absent:  []absentee{{2, card.sign, "bob", 3690}},
		lapses:  []lapse{{2, 1, 40, 70}}}
	return []fielder{&m, ch, &have{77}, &want{2, 78},
		&items{2, 1, 78, [][]byte{nil, {1}, {2, 3}}}, &candidate{card, addrs, true},
		&mark{60, 1, 2, [64]byte{3}}, &head{1, 60, turns.Head{9}, [64]byte{4}},
		&hello{"steps", steps.Hash(), card, addrs, true, 0, [64]byte{5}},
		&no{"all seats are taken", true, addrs}, &report{9, 8, []want{{1, 9}, {2, 7}}},
		&state{m, []byte{1, 2}, true, 60, 4, []byte("world"),
			[]flow{{1, 60, []int32{3, 1}, turns.Head{1}, [][]byte{{4}, nil}}}},
		&blame{9, []member.ID{2, 3}}}
}

// FuzzMessages: what reads as a message is written as something that reads as the same.
func FuzzMessages(f *testing.F) {
	for i, m := range samples() {
		c := bits.CursorTo(nil)
		m.fields(&c)
		f.Add(uint8(i), c.Data())
	}
	f.Fuzz(func(t *testing.T, which uint8, b []byte) {
		all := []fielder{&Match{}, &charter{}, &have{}, &want{}, &items{}, &candidate{}, &mark{},
			&head{}, &hello{}, &no{}, &report{}, &state{}, &blame{}}
		m := all[int(which)%len(all)]
		c := bits.CursorOver(b)
		if m.fields(&c); !c.Done() {
			return
		}
		first := bits.CursorTo(nil)
		m.fields(&first)
		c = bits.CursorOver(first.Data())
		if m.fields(&c); !c.Done() {
			t.Fatalf("%T: %x is written as %x, which does not read", m, b, first.Data())
		}
		again := bits.CursorTo(nil)
		if m.fields(&again); !bytes.Equal(first.Data(), again.Data()) {
			t.Fatalf("%T: %x is written as %x and as %x", m, b, first.Data(), again.Data())
		}
	})
}

// FuzzCharter: what reads as a charter can be asked anything, whatever it says.
func FuzzCharter(f *testing.F) {
	f.Add(samples()[1].(*charter).append(nil), uint64(60))
	f.Fuzz(func(t *testing.T, b []byte, at uint64) {
		ch, err := readCharter(b)
		if err != nil {
			return
		}
		for i := range ch.spans {
			ch.relieved(&ch.spans[i], world.Tick(at))
			ch.repeats(ch.spans[i].member, world.Tick(at))
			ch.lacks(ch.spans[i].member, world.Tick(at))
			ch.eraOf(ch.spans[i].member)
		}
		for i := range ch.members {
			if ch.holder(&ch.members[i].card.sign) == nil || ch.find(ch.members[i].id) == nil {
				t.Fatal("a member is not found")
			}
			if p, _ := ch.seat(&ch.members[i].card.sign, MaxSeats); p == 0 &&
				ch.playing()+len(ch.absent) < 1 && len(ch.members) < MaxSeats {
				t.Fatal("nobody plays, and there is no seat")
			}
		}
		for len(ch.members) > 0 {
			before := len(ch.members)
			ch.close(ch.members[0].id, world.Tick(at), 3600)
			if len(ch.members) >= before {
				t.Fatal("one that is gone is still there")
			}
		}
		ch.forget(world.Tick(at))
		ch.forgetLapses(world.Tick(at))
	})
}

// table is peers over a simulated network.
type table struct {
	net   *netsim.Net
	peers []*Peer
	match Match
}

func newTable(n int, change ...func(*Match)) *table {
	tb := &table{net: netsim.New(netsim.Options{Seed: 1, Conditions: netsim.LAN}),
		match: Match{Start: n, Every: 20}}
	for _, f := range change {
		f(&tb.match)
	}
	var ask []netip.AddrPort
	for i := range n {
		tb.sit(i, ask, nil)
		ask = append(ask, tb.peers[i].opt.Address)
	}
	return tb
}

func (tb *table) sit(i int, ask []netip.AddrPort, change func(*Options)) {
	end := tb.net.Endpoint(fmt.Sprint("peer", i))
	o := Options{Game: steps, Link: end, Seed: sha256.Sum256([]byte{byte(i)}), Name: "p",
		Address: end.PublicAddr(), Style: Rollback(), Wall: 1_700_000_000, Ask: ask,
		Input: func(_ *world.World, me world.Player, t world.Tick, in *world.Inputs) {
			_ = world.Give(in, me, step{X: int8(t/5%15) - 7, Jump: t%9 == 0})
		}}
	if i == 0 {
		o.Match = &tb.match
		o.World = func(m *Match) (*world.World, error) {
			return steps.New(world.Settings{Seed: m.Seed})
		}
	}
	if change != nil {
		change(&o)
	}
	p, err := New(o)
	if err != nil {
		panic(err)
	}
	tb.peers = append(tb.peers, p)
	end.Every(8*time.Millisecond, func() { _ = p.Poll(tb.net.Now()) })
}

// playing lets them play until all have, for a while.
func (tb *table) playing(f interface{ Fatal(...any) }) {
	if !tb.net.RunUntil(tb.net.Now()+20*time.Second, func() bool {
		for _, p := range tb.peers {
			if p.phase != Playing || p.copy.Settled() < 25 {
				return false
			}
		}
		return true
	}) {
		f.Fatal(tb.peers)
	}
}

// goesOn has the first two play on.
func (tb *table) goesOn(t *testing.T) {
	t.Helper()
	before := tb.peers[0].copy.Settled()
	tb.net.Run(500 * time.Millisecond)
	for _, p := range tb.peers[:2] {
		if p.err != nil || p.copy.Settled() <= before {
			t.Fatal(p, p.err)
		}
	}
}

// same says whether two peers have settled the same worlds.
func (tb *table) same(t *testing.T) {
	hashes := map[world.Tick]uint64{}
	for _, p := range tb.peers {
		if p.copy == nil {
			continue
		}
		for _, m := range p.copy.Marks() {
			if h, ok := hashes[m.Tick]; m.Tick > p.copy.Settled() {
				continue
			} else if ok && h != m.Hash {
				t.Fatalf("tick %d is another", m.Tick)
			}
			hashes[m.Tick] = m.Hash
		}
	}
}

// FuzzMember: a peer takes any message of another member, and any packet of commands, without
// harm; the two that say what is true still settle the same worlds.
func FuzzMember(f *testing.F) {
	list := samples()
	for kind, of := range map[uint8]int{kindHave: 2, kindWant: 3, kindItems: 4, kindCandidate: 5,
		kindMark: 6, kindHeads: 7, kindBlame: 12, kindCouncil: 10, kindVector: 3, kindNeed: 2,
		kindLeave: 2} {
		c := bits.CursorTo(nil)
		list[of].fields(&c)
		f.Add(kind, c.Data())
	}
	var w bits.Writer
	w.Reset(make([]byte, 64))
	w.WriteBits(40, newestBits)
	writeFew(&w, 3)
	w.WriteBool(true)
	w.WriteBits(2, epochBits)
	w.WriteBits(1, heldBits)
	w.WriteBits(60, leadBits)
	w.WriteBits(250, aheadBits)
	for range 3 {
		writeFew(&w, 1)
		w.WriteBits(0xa0, 8)
	}
	f.Add(uint8(200), bytes.Clone(w.Bytes()))
	f.Add(uint8(240), bytes.Clone(w.Bytes())) // as a packet of a match in which all commit first
	f.Fuzz(func(t *testing.T, kind uint8, b []byte) {
		tb := newTable(3, func(m *Match) { m.Commit = kind >= 240 })
		tb.playing(t)
		p := tb.peers[0]
		q := p.pair(tb.peers[2].self)
		if kind >= 200 {
			p.takeTurns(q, b)
		} else {
			p.said(q, kind, b)
		}
		tb.net.Run(300 * time.Millisecond)
		// Who has lied may be out, and who was lied to may have to repair its world. The other two
		// go on, or the match is over with an error for all to see.
		for _, q := range p.pairs {
			if n := len(q.items.flights) + len(q.seals.flights); n > 4096 {
				t.Fatalf("%d packets are waited for", n)
			}
		}
		if len(p.marks.said) > keptMarks*MaxSeats || len(p.office.candidates) > MaxSeats {
			t.Fatalf("%d marks, %d candidates are kept", len(p.marks.said),
				len(p.office.candidates))
		}
	})
}

// FuzzGuest: a peer takes any message of somebody at its door without harm, and plays on.
func FuzzGuest(f *testing.F) {
	list := samples()
	for kind, of := range map[uint8]int{kindHello: 8, kindBehind: 2, kindNo: 9} {
		c := bits.CursorTo(nil)
		list[of].fields(&c)
		f.Add(kind, c.Data())
	}
	f.Fuzz(func(t *testing.T, kind uint8, b []byte) {
		tb := newTable(2)
		tb.playing(t)
		tb.sit(2, []netip.AddrPort{tb.peers[0].opt.Address}, func(o *Options) { o.Watch = true })
		p := tb.peers[0]
		if !tb.net.RunUntil(tb.net.Now()+20*time.Second,
			func() bool { return len(p.door.guests) > 0 }) {
			t.Fatal("nobody is at the door")
		}
		p.guestSaid(p.door.guests[0], kind, b)
		tb.goesOn(t)
		tb.same(t)
	})
}

// FuzzHost: somebody who asks to be let in takes anything that it is told there without harm: a
// match, a world, a decree, commands. It may end, with an error.
func FuzzHost(f *testing.F) {
	tb := newTable(2)
	tb.playing(f)
	good := bits.CursorTo(nil)
	if st := tb.peers[0].snapshot(); st != nil {
		st.fields(&good)
	}
	f.Add(uint8(0), good.Data())
	link, founds := tb.peers[0].decreeLink()
	f.Add(uint8(kindDecree), message(kindDecree, func(c *bits.Cursor) {
		c.Bool(&founds)
		blob(c, &link, 1<<20)
	})[1:])
	list := samples()
	for kind, of := range map[uint8]int{kindNonce: 3, kindNo: 9, kindItems: 4, kindHave: 2} {
		c := bits.CursorTo(nil)
		list[of].fields(&c)
		f.Add(kind, c.Data())
	}
	f.Fuzz(func(t *testing.T, kind uint8, b []byte) {
		tb := newTable(2)
		tb.playing(t)
		tb.sit(2, []netip.AddrPort{tb.peers[0].opt.Address}, func(o *Options) { o.Watch = true })
		p := tb.peers[2]
		if !tb.net.RunUntil(tb.net.Now()+20*time.Second,
			func() bool { return p.phase == Guest && p.ask.host != nil }) {
			t.Fatal("it is not let in")
		}
		if kind == 0 {
			p.moveIn(bytes.Clone(b))
		} else {
			p.hostSaid(p.ask.host, kind, bytes.Clone(b))
		}
		tb.net.Run(300 * time.Millisecond)
	})
}

// FuzzDatagram: a peer takes any datagram, from anyone, without harm.
func FuzzDatagram(f *testing.F) {
	for _, first := range []byte{toDoor, fromDoor, 0x20, 0x21, 1, 2, 3, 0} {
		f.Add(append([]byte{first}, make([]byte, 40)...), true)
		f.Add([]byte{first}, false)
	}
	f.Fuzz(func(t *testing.T, b []byte, known bool) {
		tb := newTable(2)
		tb.playing(t)
		p := tb.peers[0]
		from := netip.MustParseAddrPort("203.0.113.9:1")
		if known {
			from = tb.peers[1].opt.Address
		}
		p.take([]link.Datagram{{Addr: from, Data: bytes.Clone(b)}})
		tb.goesOn(t)
		tb.same(t)
	})
}

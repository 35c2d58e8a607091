package peers

import (
	"bytes"
	"errors"
	"net/netip"
	"testing"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/conn/seed"
	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/member"
	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/topology/relay"
	"github.com/coeval-dev/coeval/world"
)

// FuzzRelayed reads what others send to a peer at a relay: what can be read is written as it was.
func FuzzRelayed(f *testing.F) {
	write := func(kind uint8, fields func(*bits.Cursor)) {
		c := bits.CursorTo([]byte{kind})
		fields(&c)
		f.Add(c.Data())
	}
	st := relayedState{match: Match{Game: "tag", Level: "a", Seats: 4, Start: 1, Every: 60,
		Patience: second, Grace: second}, tick: 60, turns: 7, world: []byte{1, 2, 3},
		seats: []seatThen{{1, uint8(seatPlays), 5, []int32{1, -2}}}}
	write(0, st.fields)
	write(1, (&askWorld{60, open}).fields)
	write(2, (&wordOfMark{7, 8, 9, 10}).fields)
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) == 0 {
			return
		}
		var fields func(*bits.Cursor)
		switch b[0] % 3 {
		case 0:
			fields = new(relayedState).fields
		case 1:
			fields = new(askWorld).fields
		case 2:
			fields = new(wordOfMark).fields
		}
		c := bits.CursorOver(b[1:])
		if fields(&c); !c.Done() {
			return
		}
		to := bits.CursorTo(nil)
		if fields(&to); !bytes.Equal(to.Data(), b[1:]) {
			t.Fatalf("%x was read, and is written as %x", b[1:], to.Data())
		}
	})
}

// FuzzRelayedMember: a peer that plays by rows takes whatever other members say to it, carry to it
// and send as a world, without harm, and what it keeps of it is bounded.
func FuzzRelayedMember(f *testing.F) {
	mark := message(wordMark, (&wordOfMark{1, 8, 9, 10}).fields)
	for _, op := range [][]byte{mark, append([]byte{wordDiffers}, "tick 60"...)} {
		f.Add(append([]byte{0, byte(len(op))}, op...))
	}
	f.Add([]byte{1, 4, toDoor, 1, 2, 3, 1, 2, fromDoor, 9, 3, 2, 1, 0, 4, 1, 2})
	w, err := steps.New(world.Settings{Seed: 1})
	if err != nil {
		f.Fatal(err)
	}
	m := Match{}
	if err := m.fill(steps); err != nil {
		f.Fatal(err)
	}
	st := relayedState{match: m, tick: 0, world: w.Host().Save(nil),
		seats: []seatThen{{1, uint8(seatPlays), 5, []int32{1}}}}
	c := bits.CursorTo(nil)
	st.fields(&c)
	f.Add(append([]byte{2, byte(len(c.Data()))}, c.Data()...))
	f.Fuzz(func(t *testing.T, b []byte) {
		p := member1(t, &m)
		for n := 0; len(b) > 1 && n < 64; n++ {
			op, size := b[0], min(int(b[1]), len(b)-2)
			data := bytes.Clone(b[2 : 2+size])
			b = b[2+size:]
			from := member.ID(2 + op/8%3)
			p.now += second / 10
			var err error
			switch op % 8 {
			case 0:
				err = p.word(from, data)
			case 1:
				p.carried(from, data)
			case 2:
				err = p.arrived(from, data)
			case 3:
				p.met(&relay.Peer{Member: from, Player: op % 5, Name: string(data), Key: data})
			case 4:
				p.went(from)
			case 5:
				p.says.wrong = true
			}
			if err = errors.Join(err, p.judgeAll(), p.serve(), p.seek(), p.compare()); err != nil {
				t.Fatal(err)
			}
			p.Members()
		}
		if len(p.says.said) > 4*p.keptSayings() || len(p.line.known.trips) > 3 ||
			len(p.hosts) > mostHosts || len(p.fetch.tries) > fetchTries {
			t.Errorf("%d marks, %d round trips, %d hosts, %d tries", len(p.says.said),
				len(p.line.known.trips), len(p.hosts), len(p.fetch.tries))
		}
	})
}

// member1 is a peer that founds a match, as member 1.
func member1(t *testing.T, m *Match) *Relayed {
	n := netsim.New(netsim.Options{Seed: 1})
	var key token.Key
	tok, err := token.Issue(key, token.Grant{Protocol: relay.Protocol, Client: 1, Expires: 1 << 31},
		seed.New([32]byte{3}))
	if err != nil {
		t.Fatal(err)
	}
	p, err := NewRelayed(RelayedOptions{Game: steps, Link: n.Endpoint("p"), Seed: [32]byte{2},
		Create: m, Token: tok, Servers: []netip.AddrPort{n.Endpoint("r").PublicAddr()},
		World: func(*Match) (*world.World, error) { return steps.New(world.Settings{Seed: 1}) }})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.connect(); err != nil {
		t.Fatal(err)
	}
	err = p.welcomed(&relay.Welcome{Self: 1, Player: 1, Code: relay.Code([]byte("K7QF3M9P")),
		Match: relay.Match{Params: m.terms(), Rate: uint8(steps.Rate()), Seats: 8}})
	if err != nil {
		t.Fatal(err)
	}
	for i := range member.ID(3) {
		p.met(&relay.Peer{Member: 2 + i, Player: 2 + uint8(i), Name: "x", Key: make([]byte, 64)})
	}
	return p
}

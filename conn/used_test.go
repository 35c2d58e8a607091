package conn

import (
	"encoding/binary"
	"testing"

	"github.com/coeval-dev/coeval/conn/token"
)

// TestUsedIsBounded: a player who comes back all the time, each time with the last ticket, is let
// in each time; none of the tickets works twice; and what is remembered of it does not grow, nor
// stay when all has expired.
func TestUsedIsBounded(t *testing.T) {
	u := NewUsed(nil)
	grant := func(i int, resumed bool) *token.Grant {
		g := &token.Grant{Client: 7, Resumed: resumed, Expires: testWall + 3600 + int64(i/3)}
		binary.BigEndian.PutUint32(g.ID[:], uint32(i))
		return g
	}
	last := new(Conn)
	for i := range 10_000 {
		g := grant(i, true)
		if u.has(g) {
			t.Fatalf("ticket %d was refused", i)
		}
		u.add(g, last)
		u.find(g).conn = nil // it is gone
		for _, j := range []int{i, i - 1, i - mostUsed/2, i - mostUsed, i - 1000, 0} {
			if j >= 0 && !u.has(grant(j, true)) {
				t.Fatalf("ticket %d works once more after %d", j, i)
			}
		}
		if n := len(u.clients[7][1].list); n > mostUsed {
			t.Fatalf("%d are remembered", n)
		}
	}
	// A token is another matter than tickets, which expire later.
	if fresh := (&token.Grant{Client: 7, Expires: testWall + 60, ID: [token.IDSize]byte{9}}); u.has(
		fresh) || u.has(&token.Grant{Client: 8, Resumed: true, Expires: testWall + 60}) {
		t.Error("what was never used counts as used")
	}
	u.prune(testWall + 60)
	if len(u.clients) != 1 {
		t.Error("what has not expired was forgotten")
	}
	u.prune(testWall + 3600 + 10_000)
	if len(u.clients) != 0 {
		t.Errorf("%d clients are remembered for nothing", len(u.clients))
	}
}

// TestUsedMarks: another server that is given the marks takes none of the tokens again, but for the
// ticket of a client that may have no other.
func TestUsedMarks(t *testing.T) {
	u, grants := NewUsed(nil), []*token.Grant{}
	for i := range 20 {
		g := &token.Grant{Client: uint64(i % 3), Resumed: i%2 == 1, Expires: testWall + 60}
		binary.BigEndian.PutUint32(g.ID[:], uint32(i))
		grants = append(grants, g)
		u.add(g, nil)
	}
	waits, has := &token.Grant{Client: 7, Resumed: true, Expires: testWall + 60},
		&token.Grant{Client: 8, Resumed: true, Expires: testWall + 60}
	without := new(Conn)
	without.ticket = []byte{1} // it is on its way
	u.add(waits, without)
	u.add(has, new(Conn))
	u.floors = [2]int64{3, 4}
	next := NewUsed(nil)
	next.Kept(u.Marks())
	for i, g := range append(grants, has) {
		if !next.has(g) {
			t.Errorf("%d is good once more", i)
		}
	}
	if next.has(waits) || next.floors != u.floors || next.has(&token.Grant{Client: 1, Expires: 9}) {
		t.Errorf("%v, or what was not used counts as used", next.floors)
	}
}

// TestUsedKeepsThoseConnected: a token whose connection lasts is not forgotten for others, so that
// a response that comes again is answered again.
func TestUsedKeepsThoseConnected(t *testing.T) {
	u := NewUsed(nil)
	first := &token.Grant{Client: 7, Expires: 1}
	u.add(first, new(Conn))
	for i := range 3 * mostUsed {
		g := &token.Grant{Client: 7, Expires: int64(2 + i)}
		binary.BigEndian.PutUint32(g.ID[:], uint32(1+i))
		u.add(g, nil)
	}
	if u.find(first) == nil || len(u.clients[7][0].list) > mostUsed {
		t.Errorf("%d remembered, the first %v", len(u.clients[7][0].list), u.find(first))
	}
}

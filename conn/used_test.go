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
	u := used{}
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
		if n := len(u[7][1].list); n > mostUsed {
			t.Fatalf("%d are remembered", n)
		}
	}
	// A token is another matter than tickets, which expire later.
	if fresh := (&token.Grant{Client: 7, Expires: testWall + 60, ID: [token.IDSize]byte{9}}); u.has(
		fresh) || u.has(&token.Grant{Client: 8, Resumed: true, Expires: testWall + 60}) {
		t.Error("what was never used counts as used")
	}
	u.prune(testWall + 60)
	if len(u) != 1 {
		t.Error("what has not expired was forgotten")
	}
	u.prune(testWall + 3600 + 10_000)
	if len(u) != 0 {
		t.Errorf("%d clients are remembered for nothing", len(u))
	}
}

// TestUsedKeepsThoseConnected: a token whose connection lasts is not forgotten for others, so that
// a response that comes again is answered again.
func TestUsedKeepsThoseConnected(t *testing.T) {
	u := used{}
	first := &token.Grant{Client: 7, Expires: 1}
	u.add(first, new(Conn))
	for i := range 3 * mostUsed {
		g := &token.Grant{Client: 7, Expires: int64(2 + i)}
		binary.BigEndian.PutUint32(g.ID[:], uint32(1+i))
		u.add(g, nil)
	}
	if u.find(first) == nil || len(u[7][0].list) > mostUsed {
		t.Errorf("%d remembered, the first %v", len(u[7][0].list), u.find(first))
	}
}

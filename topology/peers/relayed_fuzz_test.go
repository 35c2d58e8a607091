package peers

import (
	"bytes"
	"testing"

	"github.com/coeval-dev/coeval/bits"
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
	write(2, (&wordOfMark{7, 8, 9}).fields)
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

package relay

import (
	"bytes"
	"net/netip"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/member"
)

var sample = struct {
	create  create
	join    join
	welcome welcome
	peer    Peer
}{
	create{Match{Game: "tag 1", Params: []byte("level 3"), Mode: Rows, Seats: 4, Start: 2, Rate: 60,
		SendRate: 20, Patience: 100 * time.Millisecond, Grace: time.Minute},
		Entry{Name: "ann", Key: []byte{1, 2, 3},
			Locals: []netip.AddrPort{netip.MustParseAddrPort("192.168.1.7:4000")}}},
	join{Code([]byte("K7QF3M9P")), [secretSize]byte{9}, Rows, "tag 1",
		Entry{Name: "bob", Watch: true, Delay: 1500 * time.Millisecond, Again: true, From: 7}},
	welcome{self: 3, code: Code([]byte("K7QF3M9P")), secret: [secretSize]byte{8}, lasts: 7200,
		seat:  2,
		Match: Match{Game: "tag 1", Seats: 2, Start: 1, Rate: 60, SendRate: 60, Grace: time.Minute},
		first: 100, next: 160, running: true, seats: []seatState{{0, 1, false}, {1, 2, true}}},
	Peer{Member: 2, Player: 1, Name: "bob", Key: []byte{4},
		Public: netip.MustParseAddrPort("[2001:db8::1]:9000")},
}

// FuzzMessages: what reads as a control message, of either end, is written as it was read.
func FuzzMessages(f *testing.F) {
	f.Add(write(nil, messageCreate, &sample.create))
	f.Add(write(nil, messageJoin, &sample.join))
	f.Add(write(nil, messageWelcome, &sample.welcome))
	f.Add(write(nil, messagePeer, &sample.peer))
	f.Add(write(nil, messageRefused, &refused{RefusedGame, "another game", "tag 2"}))
	f.Add(write(nil, messageGone, &gone{4, true}))
	f.Add(write(nil, messageWord, &word{5, []byte("hello")}))
	f.Add(write(nil, messageLook, &look{sample.join.code, "tag 1"}))
	f.Add(write(nil, messageFound, &found{Mesh}))
	f.Add(write(nil, messageLocals, &localsOnly{sample.create.Locals}))
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) == 0 {
			return
		}
		for _, m := range []fielder{&create{}, &join{}, &welcome{}, &Peer{}, &refused{}, &gone{},
			&word{}, &localsOnly{}, &look{}, &found{}} {
			if read(b, m) {
				if again := write(nil, b[0], m); !bytes.Equal(again, b) {
					t.Errorf("%T: %x is written as %x", m, b, again)
				}
			}
		}
	})
}

// FuzzItems: a relay takes any packet of items without harm, and what it takes is within bounds.
func FuzzItems(f *testing.F) {
	var w bits.Writer
	w.Reset(make([]byte, 200))
	packItems(&w, []span{{3, 5}, {8, 9}}, func(n uint32) []byte { return make([]byte, n) })
	f.Add(append([]byte(nil), w.Bytes()...))
	f.Fuzz(func(t *testing.T, b []byte) {
		s := &Server{}
		m := &match{Match: Match{Rate: 60}, seats: make([]seat, 2)}
		s.matches, s.wakes = []*match{m}, []time.Duration{time.Hour}
		p := &peer{match: m, playing: true, ending: true} // so that it is not dropped
		s.items(p, b)
		if p.stream.had > MaxAhead {
			t.Errorf("%d items are there", p.stream.had)
		}
		for n := range p.stream.had {
			if len(p.stream.item(n)) > MaxItem {
				t.Error("a large item")
			}
		}
	})
}

// FuzzRows: a client takes any packet of rows without harm.
func FuzzRows(f *testing.F) {
	var w bits.Writer
	h := sampleHistory()
	s := seating{me: 2}
	w.Reset(make([]byte, 400))
	w.WriteBits(5, 8)
	packRows(&w, []span{{0, 2}, {3, 6}}, h, 4, func(uint32) int8 { return -1 }, &s)
	f.Add(append([]byte(nil), w.Bytes()...))
	f.Fuzz(func(t *testing.T, b []byte) {
		c := &Client{state: clientInside, in: Welcome{Self: 2, Player: 2}}
		c.in.Match.Seats = 4
		c.rows.start(&c.in)
		for range 3 {
			if _, err := c.Submit([]byte{1}); err != nil {
				t.Fatal(err)
			}
		}
		if c.takeRows(b) != nil {
			return
		}
		for n := uint32(0); c.failed == nil; n++ {
			if c.rows.give == c.rows.next {
				return
			}
			r, ok := c.nextRow()
			if !ok {
				return // it would end the connection
			}
			if r.Tick != n || len(r.Seats) > 4 {
				t.Errorf("%+v", r)
			}
			for i := range r.Seats {
				count := 0
				for item := range r.Seats[i].Items {
					if count++; len(item) > MaxItem {
						t.Error("a large item")
					}
				}
				if count != int(r.Seats[i].Count) {
					t.Errorf("%d items of %d", count, r.Seats[i].Count)
				}
			}
		}
	})
}

// sampleHistory is of six rows of a match with four seats.
func sampleHistory() *history {
	h := &history{most: 4096}
	flat := appendChange([]byte{2}, Change{Joined, 0, 1}, 0)
	flat = appendChange(flat, Change{Joined, 1, 2}, 0)
	h.put(append(flat, 1, 2, 'a', 'b', 1, 0), 0, 100)
	for i := range byte(4) {
		h.put([]byte{0, 1, 3, i, i, i, 2, 1, i, 0}, 3, 100)
	}
	flat = appendChange([]byte{1}, Change{Left, 0, 1}, 1)
	h.put(append(flat, 0), 3, 100)
	return h
}

// What is packed is read as it was.
func TestRowsThereAndBack(t *testing.T) {
	h := sampleHistory()
	for own := int8(-1); own < 2; own++ {
		me := member.ID(own + 1)
		var w bits.Writer
		w.Reset(make([]byte, 400))
		s := seating{me: me}
		packRows(&w, []span{{0, 6}}, h, 4, func(uint32) int8 { return -1 }, &s)
		r := bits.NewReader(w.Bytes())
		r.ReadBits(16 + 4 + 1)
		got := seating{own: -1, me: me}
		for n := uint32(0); r.ReadBool(); n++ {
			flat, ok := unpackRow(r, 4, &got, nil)
			want, _ := h.row(n)
			if !ok || len(flat) > len(want) || own < 0 && len(flat) != len(want) {
				t.Fatalf("row %d for %d: %x, want %x", n, me, flat, want)
			}
		}
		if r.ReadBool() || r.Finish() != nil {
			t.Error(r.Err())
		}
	}
}

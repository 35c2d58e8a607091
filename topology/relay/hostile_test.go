package relay_test

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/topology/relay"
)

// packed writes a packet of items as a hostile member may.
func packed(from uint32, items ...[]byte) []byte {
	w := bits.NewWriter(make([]byte, 1100))
	w.WriteBits(uint64(from&0xffff), 16)
	for _, x := range items {
		w.WriteBool(true)
		if len(x) < 7 {
			w.WriteBits(uint64(len(x)), 3)
		} else {
			w.WriteBits(7, 3)
			w.WriteBits(uint64(len(x)), 8)
		}
		w.WriteBytes(x)
	}
	w.WriteBits(0, 2)
	return w.Bytes()
}

// Whoever sends what no honest member does is dropped, and the note says why; the others play on.
func TestOffences(t *testing.T) {
	send := func(channel uint8, b []byte) func(*person) {
		return func(p *person) { _ = p.client.Conn().Send(channel, b) }
	}
	many := func(times int, f func(p *person)) func(*person) {
		return func(p *person) {
			for range times {
				f(p)
			}
		}
	}
	cases := []struct {
		name, note string
		do         func(*person)
	}{
		{"two items with one number", "two different items with one number", func(p *person) {
			// What was sent under the last number was something else.
			send(0, packed(p.sent-1, []byte("other")))(p)
		}},
		{"too far ahead", "items further ahead than allowed", func(p *person) {
			send(0, packed(p.sent+200, []byte("x")))(p)
		}},
		{"half an item", "a malformed packet of items", send(0, []byte{0, 0, 0xff})},
		{"nothing", "a malformed message", send(2, nil)},
		{"no such message", "a malformed message", send(2, []byte{99})},
		{"the relay's own", "a malformed message", send(2, []byte{66, 0, 1})},
		{"half a join", "a malformed message", send(2, []byte{2, 'A'})},
		{"a long word", "a malformed message", send(2, append([]byte{5}, make([]byte, 300)...))},
		{"many words", "more words than are allowed", many(300, send(2, []byte{5, 'x'}))},
		{"many messages", "more messages than anyone needs", many(300, send(2, []byte{3}))},
	}
	for i, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			w := newTown(quiet(uint64(i)), relay.Limits{})
			ann, bob, eve := w.person("ann"), w.person("bob"), w.person("eve")
			playing(t, w, relay.Match{Seats: 3, Patience: 50 * time.Millisecond}, ann, bob, eve)
			from := ann.next()
			eve.submits = false
			c.do(eve)
			w.until(t, "dropped", func() bool { return eve.over })
			if e := eve.ended[0]; e.Reason != relay.ReasonOffence || e.Text != c.note {
				t.Errorf("%v: %q", e.Reason, e.Text)
			}
			if s := w.relay.Stats(); s.Offences != 1 || s.Dropped[0] != 1 {
				t.Errorf("%d offences, %d dropped", s.Offences, s.Dropped[0])
			}
			w.net.Run(time.Second)
			if most := ann.gap(from); most > 120*time.Millisecond {
				t.Errorf("ann was stopped for %v", most)
			}
			if err := w.same(ann, bob); err != nil {
				t.Error(err)
			}
		})
	}
}

// A member that floods with all it may, and more, slows nobody down.
func TestFlood(t *testing.T) {
	w := newTown(quiet(1), relay.Limits{})
	ann, bob, eve := w.person("ann"), w.person("bob"), w.person("eve")
	playing(t, w, relay.Match{Seats: 3}, ann, bob, eve)
	w.net.Run(4 * time.Second)
	from, at := ann.next(), w.net.Now()
	junk := packed(0, bytes.Repeat([]byte{1}, 200)) // of a number long gone, so harmless
	datagrams := true
	eve.at.Every(time.Millisecond, func() {
		if datagrams {
			_ = eve.client.Carry(1, make([]byte, 900))
			_ = eve.client.Carry(77, make([]byte, 100))
		} else {
			for range 8 {
				_ = eve.client.Conn().Send(0, junk)
			}
		}
		eve.tick()
	})
	w.net.Run(2500 * time.Millisecond)
	datagrams = false
	w.net.Run(1500 * time.Millisecond)
	if got, want := int(ann.next()-from), int((w.net.Now()-at)*60/time.Second); got < want-6 {
		t.Errorf("%d rows in a time of %d", got, want)
	}
	if most := ann.gap(from); most > 150*time.Millisecond {
		t.Errorf("ann was stopped for %v", most)
	}
	s := w.relay.Stats()
	if s.Flooded == 0 || s.OverRate == 0 || s.Strangers == 0 {
		t.Errorf("the flood was not counted: %+v", s)
	}
	if err := w.same(ann, bob, eve); err != nil {
		t.Error(err)
	}
}

// Items as large as they may be delay nobody else's.
func TestLargeItems(t *testing.T) {
	w := newTown(quiet(2), relay.Limits{})
	var people []*person
	for i := range 8 {
		p := w.person(fmt.Sprintf("%c", 'a'+i))
		if i >= 4 {
			p.item = func(n uint32) []byte { return bytes.Repeat([]byte{byte(n)}, relay.MaxItem) }
		}
		people = append(people, p)
	}
	playing(t, w, relay.Match{Seats: 8}, people...)
	from := people[0].next()
	w.net.Run(1500 * time.Millisecond)
	if most := people[0].gap(from); most > 100*time.Millisecond {
		t.Errorf("stopped for %v", most)
	}
	for _, p := range people[:4] {
		if n := len(people[0].has(fmt.Sprintf(" %d(%d)*0", p.in.Player, p.in.Self))); n > 0 {
			t.Errorf("%s had to wait for the large items of others in %d rows", p.name, n)
		}
	}
	if err := w.same(people...); err != nil {
		t.Error(err)
	}
}

// Whoever connects and asks for nothing is told to go.
func TestSilent(t *testing.T) {
	w := newTown(quiet(3), relay.Limits{})
	ann := w.person("ann")
	w.until(t, "dropped", func() bool { return ann.over })
	if r := ann.ended[0].Reason; r != relay.ReasonSilent {
		t.Errorf("%v", r)
	}
}

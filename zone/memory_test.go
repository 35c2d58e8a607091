package zone

import (
	"bytes"
	"fmt"
	"testing"
)

// holder is a server that is told to hold records, and what it answers.
type holder struct {
	*Server
	t *testing.T
}

func (h holder) say(part func(b []byte) []byte) *reader {
	h.t.Helper()
	h.Receive(h.now, 7, part(appendUint([]byte{wireVersion}, 0)))
	for _, m := range h.Messages() {
		if m.To == 7 {
			r := &reader{b: m.Data}
			r.byte()
			r.uint()
			r.byte() // the kind, of which there is one
			return r
		}
	}
	return nil
}

// hold sends record number, of a number of bytes, in parts, of which only some come.
func (h holder) hold(epoch, number, first uint64, size int, lost func(part int) bool) heldPart {
	h.t.Helper()
	data := bytes.Repeat([]byte{byte(number)}, size)
	a := heldPart{}
	for n, at := 0, 0; at < size; n, at = n+1, at+maxChunk {
		p := holdPart{zone: 3, epoch: epoch, number: number, first: first, total: size, offset: at,
			data: data[at:min(at+maxChunk, size)]}
		if lost == nil || !lost(n) {
			if r := h.say(p.append); r != nil {
				a = r.heldPart()
			}
		}
	}
	return a
}

// TestHold: records are held in order and whole, those that the journal has are given up, and of an
// epoch before a promise none is taken.
func TestHold(t *testing.T) {
	s, err := New(0, Options{Self: 1, Body: func(ID) Body { return &pong{} }})
	if err != nil {
		t.Fatal(err)
	}
	h := holder{s, t}
	check := func(what string, got heldPart, number uint64, gap, refused bool) {
		t.Helper()
		if got.number != number || got.gap != gap || got.refused != refused {
			t.Errorf("%s: %+v", what, got)
		}
	}
	check("the first", h.hold(2, 1, 1, 10, nil), 1, false, false)
	check("again", h.hold(2, 1, 1, 10, nil), 1, false, false)
	check("one too far", h.hold(2, 3, 1, 10, nil), 1, true, false)
	check("a large one", h.hold(2, 2, 1, 3*maxChunk+5, nil), 2, false, false)
	check("one of which a part is lost", h.hold(2, 3, 1, 2*maxChunk+5, func(n int) bool {
		return n == 1
	}), 2, true, false)
	check("the same, whole", h.hold(2, 3, 1, 2*maxChunk+5, nil), 3, false, false)
	check("one behind what the journal has", h.hold(2, 9, 9, 10, nil), 9, false, false)
	if s.memory != 10 {
		t.Errorf("%d bytes are held, of one record of 10", s.memory)
	}
	check("one of a later epoch", h.hold(4, 1, 1, maxChunk+1, nil), 1, false, false)
	check("one of an earlier", h.hold(2, 10, 9, 10, nil), 0, false, true)

	ask := askPart{zone: 3, epoch: 6, number: 1, offset: maxChunk}
	tell := h.say(ask.append).tellPart()
	if tell.of != 4 || tell.first != 1 || tell.end != 2 || tell.total != maxChunk+1 ||
		!bytes.Equal(tell.data, []byte{1}) {
		t.Errorf("asked for the second part of record 1, it tells %+v", tell)
	}
	check("one of an epoch before a promise", h.hold(4, 2, 1, 10, nil), 0, false, true)
	ask.epoch = 5
	if tell = h.say(ask.append).tellPart(); !tell.refused {
		t.Error("who comes earlier than a promise is told what is held")
	}
	check("one of an epoch after it", h.hold(6, 1, 1, 10, nil), 1, false, false)
}

// TestLacking: of what was gathered, that is appended which the journal does not have.
func TestLacking(t *testing.T) {
	record := func(kind byte, epoch uint64, first Tick, count int) []byte {
		h := recordHead{kind: kind, epoch: epoch, server: 1, first: first, count: count}
		return appendSum(append(h.append(nil), make([]byte, count)...), 0) // as if frames
	}
	held := func() *gather {
		return &gather{records: [][]byte{record(recordTicks, 3, 10, 1),
			record(recordTicks, 3, 11, 2), record(recordTicks, 3, 13, 1)}}
	}
	for _, c := range []struct {
		name string
		last []byte
		want int
	}{
		{"the journal is empty", nil, 3},
		{"it has none of them", record(recordTicks, 3, 8, 2), 3},
		{"it has two", record(recordTicks, 3, 11, 2), 1},
		{"it has all", record(recordTicks, 3, 13, 1), 0},
		{"it has one that nobody held", record(recordTicks, 3, 14, 1), 0},
		{"the fence before them", record(recordFence, 3, 0, 0), 3},
		{"the fence of somebody who has appended them", record(recordFence, 4, 0, 0), 0},
		{"what came after that", record(recordTicks, 4, 5, 1), 0},
	} {
		g := held()
		if g.lacking(c.last); len(g.records) != c.want {
			t.Error(fmt.Sprint(c.name, ": ", len(g.records), " are appended, want ", c.want))
		}
	}
}

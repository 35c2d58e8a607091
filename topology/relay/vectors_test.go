package relay

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/bits"
)

// vectors are what docs/protocol.md prints for those who write a second implementation.
func vectors() string {
	var out strings.Builder
	say := func(name string, b []byte) { fmt.Fprintf(&out, "%s %x\n", name, b) }
	say("create", write(nil, messageCreate, &sample.create))
	say("join", write(nil, messageJoin, &sample.join))
	say("look", write(nil, messageLook, &look{sample.join.code, "tag 1"}))
	say("found", write(nil, messageFound, &found{Mesh}))
	say("welcome", write(nil, messageWelcome, &sample.welcome))
	say("peer", write(nil, messagePeer, &sample.peer))
	say("refused", write(nil, messageRefused, &refused{RefusedGame, "no", "tag 2"}))
	say("gone", write(nil, messageGone, &gone{4, true}))
	say("word", write(nil, messageWord, &word{5, []byte("hello")}))
	var w bits.Writer
	w.Reset(make([]byte, 64))
	items := map[uint32][]byte{300: {1, 2}, 301: nil, 303: {1, 2, 3, 4, 5, 6, 7}}
	packItems(&w, []span{{300, 302}, {303, 304}}, func(n uint32) []byte { return items[n] })
	say("items", w.Bytes())
	h := sampleHistory()
	for _, to := range []struct {
		name string
		own  int8
		s    seating
	}{{"rows-others", -1, seating{me: 9}}, {"rows-own", 1, seating{me: 2}}} {
		w.Reset(make([]byte, 128))
		w.WriteBits(uint64(packLead(-5*time.Millisecond, true)), 8)
		packRows(&w, []span{{1, 3}, {5, 6}}, h, 4, func(uint32) int8 { return to.own }, &to.s)
		say(to.name, w.Bytes())
	}
	w.Reset(make([]byte, 128))
	w.WriteBits(uint64(packLead(0, false)), 8)
	packRows(&w, []span{{0, 1}}, h, 4, func(uint32) int8 { return -1 }, &seating{me: 2})
	say("rows-joined", w.Bytes())
	return out.String()
}

// TestVectors: the protocol's specification shows what the code does.
func TestVectors(t *testing.T) {
	text, err := os.ReadFile("../../docs/protocol.md")
	if err != nil {
		t.Fatal(err)
	}
	_, block, ok := strings.Cut(string(text), "```relay-vectors\n")
	block, _, closed := strings.Cut(block, "```")
	if want := vectors(); !ok || !closed || block != want {
		t.Errorf("docs/protocol.md should say\n%s", want)
	}
}

// How early items come is told to two milliseconds, rounded down, as far as a byte goes.
func TestLead(t *testing.T) {
	for d, want := range map[time.Duration]time.Duration{
		0: 0, 5 * time.Millisecond: 4 * time.Millisecond, -1: -2 * time.Millisecond,
		time.Second: 254 * time.Millisecond, -time.Second: -254 * time.Millisecond,
	} {
		if got, ok := unpackLead(packLead(d, true)); got != want || !ok {
			t.Errorf("%v is told as %v, %v", d, got, ok)
		}
	}
	if _, ok := unpackLead(packLead(0, false)); ok {
		t.Error("nothing is told as something")
	}
}

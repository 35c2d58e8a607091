package peers

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/timeline/turns"
	"github.com/coeval-dev/coeval/world"
)

// vectors computes what docs/protocol.md prints for those who write a second implementation.
func vectors(t *testing.T) (names []string, values map[string]string) {
	t.Helper()
	values = make(map[string]string)
	add := func(name string, b []byte) {
		names = append(names, name)
		values[name] = hex.EncodeToString(b)
	}
	m := Match{Game: "steps", Rules: 0x0102030405060708, Level: "duel", Data: []byte{9}, Seed: 5,
		Seats: 8, Start: 2, Patience: 2 * time.Second, Grace: time.Minute, Every: 60, Alone: true,
		Lapse: second / 2, Lapses: 4}
	c := bits.CursorTo(nil)
	m.fields(&c)
	add("match", c.Data())
	var secret, one, two [32]byte
	for i := range secret {
		secret[i], one[i], two[i] = byte(i), 1, 2
	}
	sum := m.digest(&secret)
	add("digest", sum[:])
	key := doorKey(&secret)
	add("door", key[:])
	ann, err := newIdentity(one)
	if err != nil {
		t.Fatal(err)
	}
	bob, err := newIdentity(two)
	if err != nil {
		t.Fatal(err)
	}
	card := ann.card("ann")
	c = bits.CursorTo(nil)
	card.fields(&c)
	add("card", c.Data())
	other := bob.card("bob")
	pair, err := ann.pairKey(&other, &sum, 1, 2)
	if err != nil {
		t.Fatal(err)
	}
	if same, err := bob.pairKey(&card, &sum, 2, 1); err != nil || same != pair {
		t.Fatal("the two have not the same key")
	}
	add("pair", pair[:])
	way := wayKey(pair)
	add("way", way[:])
	s := ann.signs((&Peer{sum: sum}).signedHead(1, 60, turns.Head{7}))
	add("signature", s[:])
	add("packet", packet())
	p := &Peer{sum: sum}
	st := &stream{Stream: turns.NewStream(turns.NewCoder(steps), 61), id: 1, era: 2,
		seals: &seals{}}
	st.seals.ring[59].item, st.seals.ring[60].item = []byte{5, 6}, []byte{0x9c}
	seal := p.seal(st, 60, 2, 7)
	add("seal", binary.BigEndian.AppendUint64(nil, seal))
	add("nonce", binary.BigEndian.AppendUint64(nil, p.earlier(1, 60, 7)))
	return names, values
}

// packet says of tick 300 and the two before: epoch 2, holds all up to 298, shows 297, is ahead by
// three, and items of one byte, of none, and of 15.
func packet() []byte {
	var w bits.Writer
	w.Reset(make([]byte, 64))
	w.WriteBits(300&255, newestBits)
	writeFew(&w, 3)
	w.WriteBool(true)
	w.WriteBits(2, epochBits)
	w.WriteBits(300-298, heldBits)
	w.WriteBits(300-297+64, leadBits)
	w.WriteBits(3, aheadBits)
	for _, item := range [][]byte{{0x9c}, nil, bytes.Repeat([]byte{5}, 15)} {
		writeFew(&w, len(item))
		for _, b := range item {
			w.WriteBits(uint64(b), 8)
		}
	}
	return w.Bytes()
}

// TestVectors holds the document to what the program does.
func TestVectors(t *testing.T) {
	text, err := os.ReadFile("../../docs/protocol.md")
	if err != nil {
		t.Fatal(err)
	}
	_, after, ok := strings.Cut(string(text), "```peers-vectors\n")
	block, _, closed := strings.Cut(after, "```")
	if !ok || !closed {
		t.Fatal("docs/protocol.md has no block peers-vectors")
	}
	names, values := vectors(t)
	var want strings.Builder
	for _, name := range names {
		want.WriteString(name + " " + values[name] + "\n")
	}
	if block != want.String() {
		t.Errorf("docs/protocol.md has\n%swant\n%s", block, want.String())
	}
}

// TestPacketVector reads the packet of the document as a peer reads it.
func TestPacketVector(t *testing.T) {
	tb := newTable(2)
	tb.playing(t)
	p := tb.peers[0]
	q := p.pairs[0]
	st := p.stream(q.id)
	from := world.Tick(st.Have())
	b := packet()
	// The same packet, of a tick that comes next here.
	b[0] = byte(from + 3)
	p.takeTurns(q, b)
	if q.epoch != 2 || q.held != from+1 || q.shown != from || q.ahead != 3 {
		t.Errorf("epoch %d, holds %d, shows %d, ahead %d, and had %d", q.epoch, q.held, q.shown,
			q.ahead, from)
	}
}

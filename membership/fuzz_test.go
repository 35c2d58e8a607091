package membership

import (
	"bytes"
	"net/netip"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/crimp"
)

func testCard(n byte) crimp.Card {
	return crimp.Card{
		Sign: [32]byte{n}, Agree: [32]byte{n, n}, Addr: netip.MustParseAddrPort("192.0.2.1:4000")}
}

// FuzzMessages: whatever comes is refused, or has one form.
func FuzzMessages(f *testing.F) {
	j := join{member: 3, epoch: 5, witness: true, order: crimp.Total, history: time.Second,
		about: testAbout, card: testCard(1)}
	f.Add(write(messageJoin, &j))
	ch := charter{nextID: 4, witnesses: []crimp.Member{{ID: 3, Card: testCard(3)}},
		roster: crimp.Roster{
			Group: 1, Epoch: 2, Key: [16]byte{1}, Members: []crimp.Member{
				{ID: 1, Card: testCard(1)}, {ID: 2, Card: testCard(2)}},
			Gone: []crimp.Departure{
				crimp.Agree(9, crimp.ReasonSilent,
					[]crimp.Cut{{Member: 9, Seq: 4, Also: []crimp.Sequence{6, 7, 9}}})}}}
	f.Add(ch.append(nil))
	f.Add(write(0,
		holdingOf(&crimp.Cut{Member: 9, Seq: 4, Also: []crimp.Sequence{6, 7, 9}}, maxSpans))[1:])
	f.Add(write(0, &address{netip.MustParseAddrPort("[2001:db8::1]:9")})[1:])
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, m := range []interface{ fields(*bits.Cursor) }{
			&join{}, &welcome{}, &start{}, &address{}, &part{}, &leaver{}, &evidence{}} {
			// with its first byte, and what follows that
			for _, b := range [][]byte{b, append([]byte{0}, b...)} {
				if read(b, m) {
					if again := write(b[0], m); !bytes.Equal(again, b) {
						t.Fatalf("%T %x became %x", m, b, again)
					}
				}
			}
		}
		if c, err := readCharter(b); err == nil {
			if again := c.append(nil); !bytes.Equal(again, b) {
				t.Fatalf("charter %x became %x", b, again)
			}
		}
		if list, err := readReport(b); err == nil {
			var again []byte
			for i := range list {
				again = append(again, write(0, holdingOf(&list[i], maxSpans+1))[1:]...)
			}
			if !bytes.Equal(again, b) {
				t.Fatalf("report %x became %x", b, again)
			}
		}
		m := &Membership{}
		for range 2 {
			m.assemble(3, b)
		}
	})
}

// TestParts: a message comes together from its parts in any order, with some lost at first
// and sent again.
func TestParts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.IntRange(300, 1200).Draw(t, "datagram")
		message := bytes.Repeat([]byte("0123456789abcdef"),
			rapid.IntRange(1, 900).Draw(t, "length"))
		a, b := pair(t, size)
		var got []byte
		for range 200 {
			a.m.say(b.m.self, message)
			for _, d := range a.g.Flush(0, nil) {
				if len(d.Data) > size {
					t.Fatalf("a datagram of %d bytes", len(d.Data))
				}
				if rapid.IntRange(0, 9).Draw(t, "lost") == 0 {
					continue
				}
				b.receive(d.Data, func(part []byte) {
					switch part[0] {
					case talkWhole:
						got = bytes.Clone(part[1:])
					case talkPart:
						if whole := b.m.assemble(a.m.self, part); whole != nil {
							got = whole
						}
					}
				})
			}
			if got != nil {
				break
			}
		}
		if !bytes.Equal(got, message) {
			t.Fatalf("%d bytes became %d", len(message), len(got))
		}
		if len(b.m.inParts) > maxInParts {
			t.Fatalf("%d messages in parts", len(b.m.inParts))
		}
	})
}

package crimp

import (
	"bytes"
	"net/netip"
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/member"
)

func FuzzBodies(f *testing.F) {
	f.Add([]byte{0, 0, 0, 1, 0x12, 0x42, 2, 'a', 'b', 1, 'c', 'd', 'e'})
	f.Add((&controlBody{clock: 7, last: 9, period: 300, requests: []request{{1, 2, 3, 4}},
		reports: []report{{1, 2, 3, 4}}}).append(nil))
	f.Add((&controlBody{leaving: true, logical: true, lamport: 1 << 40}).append(nil))
	r := Roster{
		Group: 1, Epoch: 2, Key: [16]byte{1}, Members: []Member{
			{ID: 1, Card: Card{Addr: netip.MustParseAddrPort("[2001:db8::1]:9")}}},
		Gone: []Departure{{ID: 7, Last: 8, Reason: ReasonLeft}}}
	f.Add(written(&r))
	r.Gone = append(r.Gone,
		Agree(9, ReasonSilent, []Cut{{Member: 9, Seq: 4, Also: []Sequence{6, 9}}}))
	f.Add(written(&r))
	start := Start{Cuts: []Cut{{Member: 1, Seq: 2, Also: []Sequence{4, 5}}}, Logical: 9}
	f.Add(written(&start))
	f.Fuzz(func(t *testing.T, b []byte) {
		var d dataBody
		if readData(b, &d) {
			n := len(d.content)
			for _, p := range d.before[:d.depth] {
				n += len(p)
			}
			if n > len(b) {
				t.Fatalf("%d bytes of content in %d", n, len(b))
			}
		}
		// What is read is written again byte for byte: there is one form of each.
		var c controlBody
		if readControl(b, &c) {
			if again := c.append(nil); !bytes.Equal(again, b) {
				t.Fatalf("control %x became %x", b, again)
			}
		}
		for _, m := range []interface{ Fields(*bits.Cursor) }{&Roster{}, &Start{}, &Card{}} {
			c := bits.CursorOver(b)
			if m.Fields(&c); c.Done() {
				if again := written(m); !bytes.Equal(again, b) {
					t.Fatalf("%T %x became %x", m, b, again)
				}
			}
		}
		if h, ok := readHeader(b); ok {
			var again [headerSize]byte
			h.put(again[:])
			if !bytes.Equal(again[:], b[:headerSize]) {
				t.Fatalf("header %x became %x", b[:headerSize], again)
			}
		}
	})
}

// FuzzHostileMember has a member of the group, who holds all its keys, send bodies of
// any content. Nothing breaks, and what it makes others do is bounded.
func FuzzHostileMember(f *testing.F) {
	f.Add([]byte{kindData, 1, 5, 0, 0, 0, 1, 0, 'h', 'i'})
	f.Add(append([]byte{kindControl, 1, 32},
		(&controlBody{last: 900, period: 20, requests: []request{{1, 1, 63, 1}, {3, 1, 9, 200}},
			reports: []report{{1, 5, 6, 255}}}).append(nil)...))
	f.Add([]byte{kindRepair, 1, 6, 0, 0, 0, 1, 'h', 'i'})
	f.Add([]byte{kindParity, 1, 12, 0, 0, 0, 1, 8<<3 | 2, 1, 0, 4, 1, 2, 3, 4})
	f.Fuzz(func(t *testing.T, script []byte) {
		g := trio(t, nil)
		for range 5 {
			if _, err := g[0].Send(0, []byte("something to ask for")); err != nil {
				t.Fatal(err)
			}
		}
		pass(0, g[0], g[1], g[2])
		e, now := g[1].sending, time.Duration(0)
		number := uint32(100)
		for len(script) >= 3 {
			kind, step, n := kindData+script[0]%4, script[1], min(int(script[2]), len(script)-3)
			if kind == kindRepair { // which is no packet of its own
				kind = kindLossy
			}
			body := script[3 : 3+n]
			script = script[3+n:]
			number += uint32(step % 7)
			now += time.Duration(step) * time.Millisecond
			b := append(make([]byte, e.bodyAt, e.bodyAt+n+sealSize+sealSlack), body...)
			b = g[1].seal(e, &header{kind: kind, number: number}, b)
			g[2].Receive(now, []link.Datagram{{Data: b}})
			g[2].Tick(now)
			out := g[2].Flush(now, nil)
			if len(out) > 64 {
				t.Fatalf("%d datagrams in answer to one", len(out))
			}
			if err := g[2].sound(); err != nil {
				t.Fatal(err)
			}
			g[2].Events()
		}
	})
}

// FuzzDatagrams: whatever comes from outside is refused without harm.
func FuzzDatagrams(f *testing.F) {
	g := trio(f, nil)
	g[0].Send(0, []byte("hello"))
	g[0].SendLossy(0, []byte("hello"))
	g[0].Whisper(0, 3, []byte("hello"))
	for _, d := range g[0].Flush(0, nil) {
		f.Add(bytes.Clone(d.Data))
		f.Add(append([]byte{kindRepair, 0, 1}, d.Data...))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		h := trio(t, nil)[2]
		h.Receive(0, []link.Datagram{{Data: bytes.Clone(b)}, {Data: bytes.Clone(b)}})
		if s := h.stats; s.Delivered+s.Whispers > 1 {
			t.Fatalf("delivered %d of one datagram", s.Delivered)
		}
		if err := h.sound(); err != nil {
			t.Fatal(err)
		}
	})
}

// TestReplayWindow compares the window with a set of all numbers.
func TestReplayWindow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var w replayWindow
		seen, top := map[uint32]bool{}, uint32(0)
		for _, step := range rapid.SliceOfN(rapid.Int32Range(-300, 400), 1, 200).Draw(t, "steps") {
			n := uint32(max(int64(top)+int64(step), 1))
			want := !seen[n] && (n > top || top-n < replayBits)
			if got := w.fresh(n); got != want {
				t.Fatalf("%d below %d is fresh: %v, want %v", n, top, got, want)
			}
			if want {
				w.note(n)
				seen[n] = true
				top = max(top, n)
			}
		}
	})
}

// TestBodiesRoundTrip: what is written is read.
func TestBodiesRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := controlBody{
			clock: rapid.Uint32().Draw(t, "clock"), last: Sequence(rapid.Uint32().Draw(t, "last")),
			period:  rapid.Uint16().Draw(t, "period"),
			leaving: rapid.Bool().Draw(t, "leaving"), logical: rapid.Bool().Draw(t, "logical"),
		}
		if c.logical {
			c.lamport = rapid.Uint64().Draw(t, "lamport")
		}
		c.requests = rapid.SliceOfN(rapid.Custom(func(t *rapid.T) request {
			return request{
				member.ID(rapid.Uint16().Draw(t, "m")),
				Sequence(rapid.Uint32Range(1, maxSequence-256).Draw(t, "s")),
				rapid.Uint8().Draw(t, "more"), rapid.Uint8().Draw(t, "attempt")}
		}), 0, maxRequests).Draw(t, "requests")
		c.reports = rapid.SliceOfN(rapid.Custom(func(t *rapid.T) report {
			return report{
				member.ID(rapid.Uint16().Draw(t, "m")), rapid.Uint32().Draw(t, "clock"),
				rapid.Uint32Range(0, holdMost).Draw(t, "held"), rapid.Uint8().Draw(t, "loss")}
		}), 0, maxReports).Draw(t, "reports")
		var d controlBody
		if !readControl(c.append(nil), &d) {
			t.Fatal("was not read")
		}
		if len(c.requests) == 0 {
			d.requests, c.requests = nil, nil
		}
		if len(c.reports) == 0 {
			d.reports, c.reports = nil, nil
		}
		if !reflect.DeepEqual(c, d) {
			t.Fatalf("%+v became %+v", c, d)
		}
	})
}

package conn

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/netsim/simtest"
	"pgregory.net/rapid"
)

// TestReliableBeforeUnreliable is DOOM III's promise: a small reliable message sent
// before an unreliable one is delivered before it, whatever is lost on the way.
func TestReliableBeforeUnreliable(t *testing.T) {
	for _, cond := range []netsim.Conditions{netsim.WiFi, netsim.Awful, hostile} {
		t.Run(cond.Name, func(t *testing.T) {
			simtest.Run(t, seeds(20), func(n *netsim.Net) error {
				n.Use(cond)
				p := newPair(t, n, pairOptions{})
				var sent, got uint32
				var unreliable int
				var failed error
				p.onClient = func(e *Event) {
					if e.Kind != Message {
						return
					}
					v := binary.BigEndian.Uint32(e.Data)
					switch e.Channel {
					case 0:
						unreliable++
						if got < v {
							failed = fmt.Errorf(
								"an unreliable message came after %d reliable ones, %d were sent "+
									"before it", got, v)
						}
					case 2:
						got++
					}
				}
				composed := false
				p.sp.step = func() {
					if p.sc == nil || !p.sc.Open() {
						return
					}
					if p.sc.Unacked() < 20 && n.Rand().Chance(0.1) {
						sent++
						if err := p.sc.Send(2,
							binary.BigEndian.AppendUint32(nil, sent)); err != nil {
							failed = err
						}
					}
					// By turns as a queued message and as a composed packet.
					if composed = !composed; composed {
						b, err := p.sc.Compose(p.sp.now(), 0, 300)
						if err != nil {
							failed = err
							return
						}
						p.sc.Commit(append(binary.BigEndian.AppendUint32(b, sent),
							make([]byte, 296)...))
					} else if err := p.sc.Send(0,
						binary.BigEndian.AppendUint32(nil, sent)); err != nil {
						failed = err
					}
				}
				if err := p.tryConnect(); err != nil {
					return err
				}
				n.RunUntil(20*time.Second, func() bool { return failed != nil })
				if failed == nil && (unreliable < 100 || got < 20) {
					return fmt.Errorf("only %d unreliable and %d reliable came", unreliable, got)
				}
				return failed
			})
		})
	}
}

// TestAnySizes sends random messages of all modes and sizes over a bad network and
// wants back what the modes promise.
func TestAnySizes(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := netsim.New(netsim.Options{Seed: rapid.Uint64().Draw(rt, "seed"),
			Conditions: netsim.WiFi})
		datagram := rapid.SampledFrom([]int{512, 600, 1200, 1472, 9000}).Draw(rt, "datagram")
		p := newPair(t, n, pairOptions{
			server: func(o *ServerOptions) { o.Datagram = 1400 },
			client: func(o *ClientOptions) { o.Datagram = datagram },
		})
		p.cp.ep.SetMaxDatagram(datagram)
		p.sp.ep.SetMaxDatagram(1400)
		p.keep = true
		if err := p.tryConnect(); err != nil {
			rt.Fatal(err)
		}
		c := p.client.Conn()
		if want := min(datagram, 1400); c.Datagram() != want || p.sc.Datagram() != want {
			rt.Fatalf("agreed on %d and %d", c.Datagram(), p.sc.Datagram())
		}
		sizes := rapid.SliceOfN(rapid.OneOf(rapid.IntRange(0, 50),
			rapid.IntRange(c.MaxPayload()-5, c.MaxPayload()),
			rapid.IntRange(1000, 1300), rapid.IntRange(0, defaultMaxMessage)), 1, 30).Draw(rt,
			"sizes")
		var want [4][][]byte
		for i, size := range sizes {
			ch := uint8(i % 4)
			if ch < 2 {
				size = min(size, c.MaxPayload())
			}
			m := bytes.Repeat([]byte{byte(i + 1)}, size)
			if err := c.Send(ch, m); err != nil {
				rt.Fatalf("%d bytes on channel %d: %v", size, ch, err)
			}
			want[ch] = append(want[ch], m)
		}
		if !n.RunUntil(time.Minute, func() bool { return c.Unacked() == 0 }) {
			rt.Fatalf("%d messages never arrived", c.Unacked())
		}
		n.Run(time.Second)
		var got [4][][]byte
		for _, e := range p.serverEvents {
			if e.Kind == Message {
				got[e.Channel] = append(got[e.Channel], e.Data)
			}
		}
		if len(got[2]) != len(want[2]) || len(got[3]) != len(want[3]) {
			rt.Fatalf("%d ordered of %d, %d unordered of %d", len(got[2]), len(want[2]),
				len(got[3]), len(want[3]))
		}
		for i := range want[2] {
			if !bytes.Equal(got[2][i], want[2][i]) {
				rt.Fatalf("ordered message %d differs", i)
			}
		}
		left := append([][]byte(nil), want[3]...)
	next:
		for _, g := range got[3] {
			for i, w := range left {
				if bytes.Equal(g, w) {
					left = append(left[:i], left[i+1:]...)
					continue next
				}
			}
			rt.Fatal("an unordered message that was never sent")
		}
	})
}

func TestCoalescing(t *testing.T) {
	h := newHall(t, 1)
	c := h.clients[0].Conn()
	for i := range 30 {
		for ch := range uint8(4) {
			if err := c.Send(ch, []byte{ch, byte(i)}); err != nil {
				t.Fatal(err)
			}
		}
	}
	h.send()
	if len(h.in) != 1 {
		t.Errorf("120 small messages went in %d packets", len(h.in))
	}
	var got []string
	h.serve(func(e *Event) {
		if e.Kind == Message {
			got = append(got, fmt.Sprint(e.Data))
		}
	})
	if len(got) != 91 { // thirty on three channels, and one of the newest-only
		t.Errorf("%d messages came", len(got))
	}
	// What is reliable comes first, and each channel keeps its order.
	if got[0] != "[2 0]" || got[60] != "[0 0]" || got[90] != "[1 29]" {
		t.Errorf("order: %v", got)
	}
}

// TestPriorities: when the budget is short, urgent channels go first.
func TestPriorities(t *testing.T) {
	n := netsim.New(netsim.Options{Seed: 1, Conditions: netsim.Cable})
	chs := []Channel{
		{Mode: Unreliable, Priority: -1}, {Mode: Unreliable, Priority: 5}, {Mode: Ordered}}
	rate := func(o *Options) { o.Channels, o.Rate, o.MaxRate = chs, 8<<10, 8<<10 }
	p := newPair(t, n, pairOptions{
		server: func(o *ServerOptions) { rate(&o.Options) },
		client: func(o *ClientOptions) { rate(&o.Options) },
	})
	p.connect(t)
	var got [3]int
	p.onServer = func(e *Event) {
		if e.Kind == Message {
			got[e.Channel]++
		}
	}
	sent := 0
	p.cp.step = func() {
		sent++
		c := p.client.Conn()
		if err := errors.Join(c.Send(0, make([]byte, 400)),
			c.Send(1, make([]byte, 50))); err != nil {
			t.Fatal(err)
		}
	}
	n.Run(10 * time.Second)
	if got[1] < sent*9/10 {
		t.Errorf("%d of %d urgent messages came", got[1], sent)
	}
	if got[0] == 0 || got[0] > sent/2 {
		t.Errorf("%d of %d others came, on a budget for about a tenth", got[0], sent)
	}
	if d := p.client.Conn().Ledger().Dropped; d == 0 {
		t.Error("dropped messages were not counted")
	}
}

func TestSendErrors(t *testing.T) {
	h := newHall(t, 1)
	c := h.clients[0].Conn()
	big := make([]byte, defaultMaxMessage+1)
	for _, tt := range []struct {
		ch   uint8
		data []byte
		want error
	}{
		{0, big[:c.MaxPayload()], nil},
		{0, big[:c.MaxPayload()+1], ErrTooLarge},
		{1, big[:c.MaxPayload()+1], ErrTooLarge},
		{2, big[:defaultMaxMessage], nil},
		{2, big, ErrTooLarge},
		{4, nil, ErrChannel},
		{3, nil, nil},
	} {
		if err := c.Send(tt.ch, tt.data); err != tt.want {
			t.Errorf("%d bytes on channel %d: %v, want %v", len(tt.data), tt.ch, err, tt.want)
		}
	}
	var err error
	for i := 0; err == nil && i < 2*maxQueued; i++ {
		err = c.Send(3, []byte("x"))
	}
	if err != ErrBacklog {
		t.Errorf("a full queue: %v", err)
	}
	if _, err := c.Compose(h.now, 2, 10); err != ErrMode {
		t.Errorf("compose on a reliable channel: %v", err)
	}
	if _, err := c.Compose(h.now, 0, c.MaxPayload()+1); err != ErrTooLarge {
		t.Errorf("compose too much: %v", err)
	}
	if c.MaxPayload() < 1150 {
		t.Errorf("a payload of %d", c.MaxPayload())
	}
	c.Close(ReasonLeft, "")
	if err := c.Send(0, nil); err != ErrClosed {
		t.Errorf("after closing: %v", err)
	}
	if _, err := c.SendBulk(0, []byte("x")); err != ErrClosed {
		t.Errorf("after closing: %v", err)
	}
}

// TestComposeWithoutCommit: a packet that was begun and never finished takes nothing
// with it that was put in front.
func TestComposeWithoutCommit(t *testing.T) {
	h := newHall(t, 1)
	c := h.clients[0].Conn()
	var reliable, unreliable int
	for i := range 30 {
		if err := c.Send(2, []byte{byte(i)}); err != nil {
			t.Fatal(err)
		}
		b, err := c.Compose(h.now, 0, 100)
		if err != nil {
			t.Fatal(err)
		}
		if b = append(b, "whole"...); i%3 == 0 {
			c.Commit(b)
		}
		h.send()
		h.serve(func(e *Event) {
			switch {
			case e.Kind == Message && e.Channel == 2:
				if int(e.Data[0]) != reliable {
					t.Fatalf("message %d where %d was due", e.Data[0], reliable)
				}
				reliable++
			case e.Kind == Message:
				unreliable++
			case e.Kind == Disconnected:
				t.Fatal(e.Reason)
			}
		})
		h.fetch()
	}
	if reliable != 30 || unreliable != 10 {
		t.Errorf("%d reliable and %d unreliable messages came", reliable, unreliable)
	}
	defer func() {
		if recover() == nil {
			t.Error("Commit without Compose did not panic")
		}
	}()
	c.Commit(nil)
}

// TestDatagramTo: a peer to which the link carries less is sent less.
func TestDatagramTo(t *testing.T) {
	n := netsim.New(netsim.Options{Seed: 2, Conditions: netsim.Cable})
	p := newPair(t, n, pairOptions{server: func(o *ServerOptions) {
		o.DatagramTo = func(peer netip.AddrPort) int {
			if peer != n.Endpoint("client").LocalAddr() {
				t.Errorf("asked about %v", peer)
			}
			return 1000
		}
	}})
	p.connect(t)
	largest, got := 0, 0
	n.SetTrace(func(e netsim.Event) { largest = max(largest, len(e.Data)) })
	p.onClient = func(e *Event) {
		if e.Kind == Message {
			got = len(e.Data)
		}
	}
	if err := p.sc.Send(2, make([]byte, 5000)); err != nil {
		t.Fatal(err)
	}
	n.Run(2 * time.Second)
	if largest > 1000 || p.client.Conn().Datagram() != 1000 || got != 5000 {
		t.Errorf("largest datagram %d, agreed on %d, %d bytes came", largest,
			p.client.Conn().Datagram(), got)
	}
}

// TestLargestComposed: 1150 bytes always fit, however much there is to acknowledge.
func TestLargestComposed(t *testing.T) {
	n := netsim.New(netsim.Options{Seed: 2, Conditions: hostile})
	p := newPair(t, n, pairOptions{})
	p.connect(t)
	largest := 0
	n.SetTrace(func(e netsim.Event) { largest = max(largest, len(e.Data)) })
	p.cp.step = func() { _ = p.client.Conn().Send(0, []byte("up")) }
	p.sp.step = func() {
		b, err := p.sc.Compose(p.sp.now(), 0, 1150)
		if err != nil {
			t.Fatal(err)
		}
		if cap(b) < 1150 {
			t.Fatalf("room for %d", cap(b))
		}
		p.sc.Commit(b[:1150])
	}
	n.Run(10 * time.Second)
	if largest > 1200 || largest < 1170 {
		t.Errorf("largest datagram %d", largest)
	}
}

// TestComposeGivesWhatIsWanted: however many reliable messages wait, and however large they are,
// the room that was asked for is there.
func TestComposeGivesWhatIsWanted(t *testing.T) {
	h := newHall(t, 1)
	c := h.clients[0].Conn()
	for size := 1; size < 400; size++ {
		for range 3 {
			if err := c.Send(2, make([]byte, size)); err != nil {
				t.Fatal(err)
			}
		}
		for _, want := range []int{
			c.MaxPayload() - 3*size - 20, c.MaxPayload() - 2*size - 9, c.MaxPayload() - size,
			c.MaxPayload() - size%7} {
			if want < 0 {
				continue
			}
			b, err := c.Compose(h.now, 0, want)
			if err != nil {
				t.Fatal(err)
			}
			if cap(b) < want {
				t.Fatalf("with messages of %d bytes waiting, %d bytes of room where %d were wanted",
					size, cap(b), want)
			}
			c.Commit(b[:want])
		}
		h.send()
		h.serve(func(e *Event) {
			if e.Kind == Disconnected {
				t.Fatal(e.Reason)
			}
		})
		h.fetch()
	}
}

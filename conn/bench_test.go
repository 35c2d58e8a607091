package conn

import (
	"fmt"
	"net/netip"
	"testing"
	"time"
	"unsafe"

	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/link"
)

// fataler is what testing and rapid have in common.
type fataler interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// hall is a server and many clients joined by nothing but memory.
type hall struct {
	server  *Server
	clients []*Client
	addr    netip.AddrPort
	now     time.Duration
	in, out []link.Datagram
	byAddr  map[netip.AddrPort]*Client
	one     [1]link.Datagram
	got     int
}

func newHall(tb fataler, clients int) *hall {
	tb.Helper()
	h := &hall{addr: netip.MustParseAddrPort("10.0.0.1:4000"), byAddr: map[netip.AddrPort]*Client{}}
	s, err := NewServer(ServerOptions{Options: testOptions(1), Keys: []token.Key{testKey},
		MaxClients: clients})
	if err != nil {
		tb.Fatal(err)
	}
	h.server = s
	for i := range clients {
		c, err := NewClient(ClientOptions{Options: testOptions(uint64(2 + i)),
			Token:   testToken(tb, uint64(i), nil),
			Servers: []netip.AddrPort{h.addr}})
		if err != nil {
			tb.Fatal(err)
		}
		h.clients = append(h.clients, c)
		h.byAddr[netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 1, byte(i >> 8), byte(i)}), 4000)] =
			c
	}
	for i := 0; i < 20 || i < 600 && s.Len() < clients; i++ {
		h.send()
		h.serve(nil)
		h.fetch()
	}
	if n := s.Len(); n != clients {
		tb.Fatalf("%d of %d connected", n, clients)
	}
	return h
}

// send gathers a datagram batch from all clients.
func (h *hall) send() {
	h.in = h.in[:0]
	for i, c := range h.clients {
		from := len(h.in)
		h.in = c.Flush(h.now, h.in)
		for j := from; j < len(h.in); j++ {
			h.in[j].Addr = netip.AddrPortFrom(
				netip.AddrFrom4([4]byte{10, 1, byte(i >> 8), byte(i)}), 4000)
		}
	}
}

// serve is what is measured: the server's tick.
func (h *hall) serve(on func(*Event)) {
	h.server.Receive(h.now, h.in)
	events := h.server.Events()
	for i := range events {
		if on != nil {
			on(&events[i])
		}
	}
	h.out = h.server.Flush(h.now, h.out[:0])
}

// fetch gives the server's datagrams to the clients and lets a tick pass.
func (h *hall) fetch() {
	for _, d := range h.out {
		c := h.byAddr[d.Addr]
		if c == nil {
			continue
		}
		h.one[0] = link.Datagram{Addr: h.addr, Data: d.Data}
		c.Receive(h.now, h.one[:])
		for _, e := range c.Events() {
			if e.Kind == Message {
				h.got++
			}
		}
	}
	h.now += tick
}

func benchmarkEcho(b *testing.B, channel uint8, clients int, cold bool) {
	h := newHall(b, clients)
	var wash []byte
	if cold {
		wash = make([]byte, 24<<20)
	}
	message := make([]byte, 100)
	var failed error
	echo := func(e *Event) {
		if e.Kind == Message {
			if err := e.Conn.Send(e.Channel, e.Data); err != nil {
				failed = err
			}
		}
	}
	round := func() {
		for _, c := range h.clients {
			if err := c.Conn().Send(channel, message); err != nil {
				b.Fatal(err)
			}
		}
		h.send()
	}
	for range 100 {
		round()
		h.serve(echo)
		h.fetch()
	}
	before := h.server.Ledger()
	h.got = 0
	b.ReportAllocs()
	b.ResetTimer()
	n := 0
	for n < b.N {
		b.StopTimer()
		round()
		for i := 0; i < len(wash); i += 64 {
			wash[i]++
		}
		b.StartTimer()
		h.serve(echo)
		b.StopTimer()
		h.fetch()
		b.StartTimer()
		n += clients
	}
	b.StopTimer()
	if failed != nil {
		b.Fatal(failed)
	}
	after := h.server.Ledger()
	messages := float64(after.Messages - before.Messages)
	if h.got != n || messages != float64(n) {
		b.Fatalf("%d sent, %v echoed, %d came back", n, messages, h.got)
	}
	b.ReportMetric(float64(after.Packets-before.Packets)/messages, "packets/message")
	b.ReportMetric(float64(after.Total()-before.Total())/messages-100, "header-B/message")
}

// The server's whole work for one message of 100 bytes that is echoed: opening a
// packet, delivering, queueing, sealing a packet.
func BenchmarkServerEchoUnreliable(b *testing.B) {
	for _, clients := range []int{256, 512} {
		b.Run(fmt.Sprint(clients), func(b *testing.B) { benchmarkEcho(b, 0, clients, false) })
	}
}

func BenchmarkServerEchoReliable(b *testing.B) {
	for _, clients := range []int{256, 512} {
		b.Run(fmt.Sprint(clients), func(b *testing.B) { benchmarkEcho(b, 2, clients, false) })
	}
}

// The same when the processor's caches hold nothing of the server's at the start of
// a tick, as is the case when the kernel and others have been busy in between. This is
// nearer to what a real server pays.
func BenchmarkServerEchoCold(b *testing.B) {
	b.Run("unreliable/512", func(b *testing.B) { benchmarkEcho(b, 0, 512, true) })
	b.Run("reliable/512", func(b *testing.B) { benchmarkEcho(b, 2, 512, true) })
}

// A snapshot of 1150 bytes, composed in place.
func BenchmarkServerCompose(b *testing.B) {
	h := newHall(b, 64)
	var conns []*Conn
	h.server.Conns(func(c *Conn) bool { conns = append(conns, c); return true })
	snapshot := make([]byte, 1150)
	round := func() {
		for _, c := range conns {
			p, err := c.Compose(h.now, 0, len(snapshot))
			if err != nil {
				b.Fatal(err)
			}
			c.Commit(append(p, snapshot...))
		}
		h.serve(nil)
	}
	settle := func() {
		h.fetch()
		h.send()
	}
	for range 100 {
		round()
		settle()
	}
	b.SetBytes(int64(len(snapshot)))
	b.ReportAllocs()
	b.ResetTimer()
	for n := 0; n < b.N; n += len(conns) {
		round()
		b.StopTimer()
		settle()
		b.StartTimer()
	}
}

// What a spoofed request costs.
func BenchmarkServerChallenge(b *testing.B) {
	h := newHall(b, 1)
	var memory [requestSize]byte
	r := request{protocol: h.server.opt.Protocol}
	r.append(memory[:0])
	b.ReportAllocs()
	b.ResetTimer()
	for i := range b.N {
		h.one[0] = link.Datagram{Addr: address(i), Data: memory[:]}
		h.server.Receive(h.now, h.one[:])
		if i%256 == 0 {
			h.out = h.server.Flush(h.now, h.out[:0])
		}
	}
}

// What takes a power of two is put so that the same lines of all connections compete for the same
// few places of a processor's cache: with 2,048 bytes a flush took twice as long as with 1,792.
func TestSizeOfConn(t *testing.T) {
	const most = 1792 // what the allocator gives for a little less, and no power of two
	if n := unsafe.Sizeof(Conn{}); n > most {
		t.Errorf("a connection takes %d bytes, want %d at most", n, most)
	}
}

// A tick of a server whose clients are all silent.
func BenchmarkServerIdleFlush(b *testing.B) {
	h := newHall(b, 512)
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		h.out = h.server.Flush(h.now, h.out[:0])
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/512, "ns/connection")
}

// An agreement with a client that has proved itself: what Do takes for each, and what is left for
// the machine.
func BenchmarkExchange(b *testing.B) {
	s, d, _ := entry(b, nil)
	s.Receive(0, []link.Datagram{d})
	one := s.Exchanges(1)[0].entrants[0]
	b.ReportAllocs()
	clients := 0
	for b.Loop() {
		x := &Exchange{private: [shareSize]byte{1}}
		for range exchangeMost {
			x.entrants = append(x.entrants, one)
		}
		x.Do()
		clients += exchangeMost
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(clients), "µs/client")
}

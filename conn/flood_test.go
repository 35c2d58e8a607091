package conn

import (
	"net/netip"
	"runtime"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/netsim"
)

func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func address(i int) netip.AddrPort {
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)}),
		uint16(1024+i%60000))
}

// TestSpoofedRequests floods a server with a million requests from as many
// addresses: memory must not grow, and an honest client must get in meanwhile.
func TestSpoofedRequests(t *testing.T) {
	h := newHall(t, 1)
	s, err := NewServer(ServerOptions{Options: testOptions(5), Keys: []token.Key{testKey}})
	if err != nil {
		t.Fatal(err)
	}
	h.server = s
	honest, err := NewClient(ClientOptions{Options: testOptions(6), Token: testToken(t, 9, nil),
		Servers: []netip.AddrPort{h.addr}})
	if err != nil {
		t.Fatal(err)
	}
	h.clients = []*Client{honest}
	home := netip.MustParseAddrPort("10.1.0.0:4000")
	h.byAddr = map[netip.AddrPort]*Client{home: honest}

	const total, batch = 1_000_000, 1000
	var flood [batch]link.Datagram
	var memory [batch][requestSize]byte
	var out []link.Datagram
	var before uint64
	for i := 0; i < total; i += batch {
		for j := range batch {
			r := request{protocol: s.opt.Protocol, version: s.opt.Version}
			be.PutUint32(r.nonce[:], uint32(i+j))
			r.append(memory[j][:0])
			flood[j] = link.Datagram{Addr: address(i + j), Data: memory[j][:]}
		}
		s.Receive(h.now, flood[:])
		h.send() // the honest one's
		s.Receive(h.now, h.in)
		out = s.Flush(h.now, out[:0])
		for _, d := range out {
			if d.Addr == home {
				h.one[0] = d
				h.one[0].Addr = h.addr
				honest.Receive(h.now, h.one[:])
				continue
			}
			if len(d.Data) > requestSize {
				t.Fatalf("%d bytes in answer to %d", len(d.Data), requestSize)
			}
		}
		h.now += tick
		if i == 20*batch {
			if honest.Conn() == nil {
				t.Fatal("the honest client did not get in")
			}
			before = heap()
		}
	}
	after := heap()
	if after > before+256<<10 {
		t.Errorf("the heap grew from %d to %d bytes", before, after)
	}
	if st := s.Stats(); st.Requests+st.Flooded < total || s.Len() != 1 {
		t.Errorf("%d connections, stats %+v", s.Len(), st)
	}
	runtime.KeepAlive(s)
}

// TestFloodBetweenFlushes: a burst that comes within one tick is answered only up to a limit.
func TestFloodBetweenFlushes(t *testing.T) {
	h := newHall(t, 1)
	var memory [requestSize]byte
	r := request{protocol: h.server.opt.Protocol}
	for i := range 3 * maxReplies {
		r.append(memory[:0])
		h.one[0] = link.Datagram{Addr: address(i), Data: memory[:]}
		h.server.Receive(h.now, h.one[:])
	}
	out := h.server.Flush(h.now, nil)
	if len(out) > maxReplies+2 || h.server.Stats().Flooded != 2*maxReplies {
		t.Errorf("%d answers, %d left out", len(out), h.server.Stats().Flooded)
	}
}

// TestIdleMemory: a connection that does nothing but keep itself alive costs the
// server less than 8 KiB, also after it was busy.
func TestIdleMemory(t *testing.T) {
	const clients = 512
	h := newHall(t, clients)
	idle := func() {
		for range 600 {
			h.send()
			h.serve(nil)
			h.fetch()
		}
	}
	measure := func(when string) {
		with := heap()
		h.server, h.in, h.out = nil, nil, nil
		without := heap()
		per := int(with-without) / clients
		t.Logf("%s: %d bytes a connection", when, per)
		if per > 8<<10 {
			t.Errorf("%s: a connection takes %d bytes", when, per)
		}
		runtime.KeepAlive(h) // the clients are not to be counted
	}
	for i := range 300 {
		for _, c := range h.clients {
			if err := c.Conn().Send(uint8(i%4), make([]byte, 100)); err != nil {
				t.Fatal(err)
			}
		}
		h.send()
		h.serve(func(e *Event) {
			if e.Kind == Message {
				if err := e.Conn.Send(e.Channel, e.Data); err != nil {
					t.Fatal(err)
				}
			}
		})
		h.fetch()
	}
	if h.got == 0 {
		t.Fatal("nothing came back")
	}
	idle()
	if h.server.Len() != clients {
		t.Fatalf("%d connections left", h.server.Len())
	}
	measure("idle after being busy")
}

// TestSlimAfterBurst: what a burst needed is given back when it is over.
func TestSlimAfterBurst(t *testing.T) {
	n := netsim.New(netsim.Options{Seed: 5, Conditions: netsim.Cable})
	p := newPair(t, n, pairOptions{client: func(o *ClientOptions) { o.Rate = 4 << 20 }})
	p.connect(t)
	c := p.client.Conn()
	if _, err := c.SendBulk(1, make([]byte, 1<<20)); err != nil {
		t.Fatal(err)
	}
	most := 0
	p.cp.step = func() {
		most = max(most, len(c.sent.ring))
		for range 40 {
			_ = c.Send(0, make([]byte, 1000))
			_ = c.Send(2, make([]byte, 20))
		}
	}
	n.Run(3 * time.Second)
	p.cp.step = nil
	if !n.RunUntil(time.Minute, func() bool { return c.Unacked() == 0 }) {
		t.Fatal("not done")
	}
	n.Run(5 * time.Second)
	if most < 128 {
		t.Fatalf("no burst: %d records", most)
	}
	if len(c.sent.ring) > 4*sentFirst || len(c.sent.refs) > 4*sentFirst || cap(c.queued) > 4<<10 ||
		len(c.channels[2].out.ring) > 8*outboxFirst {
		t.Errorf("%d records, %d refs, %d bytes queued, %d messages", len(c.sent.ring),
			len(c.sent.refs), cap(c.queued), len(c.channels[2].out.ring))
	}
}

package conn

import (
	"net/netip"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/netsim"
	"pgregory.net/rapid"
)

// TestHijack: someone on the way copies each of the client's packets and sends the
// copy on from another address, faster than the original. The server must go on
// sending to the client, and to the other address no more than came from there.
func TestHijack(t *testing.T) {
	h := newHall(t, 1)
	c := h.clients[0].Conn()
	thief := address(99)
	home := netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 1, 0, 0}), 4000)
	in, out, answered := 0, 0, 0
	for i := range 300 {
		if err := c.Send(2, []byte{byte(i)}); err != nil {
			t.Fatal(err)
		}
		h.send()
		var copies []link.Datagram
		for _, d := range h.in {
			copies = append(copies,
				link.Datagram{Addr: thief, Data: append([]byte(nil), d.Data...)})
			in += len(d.Data)
		}
		h.server.Receive(h.now, copies)
		h.serve(nil)
		for _, d := range h.out {
			if d.Addr == thief {
				out += len(d.Data)
			} else {
				answered++
			}
		}
		h.fetch()
		if out > in {
			t.Fatalf("%d bytes sent to an address from which %d came", out, in)
		}
	}
	sc := h.server.Find(0)
	if sc == nil || sc.Addr() != home {
		t.Fatal("the connection was hijacked")
	}
	if answered < 50 || h.server.Stats().Moves != 0 || h.server.Stats().Probes == 0 {
		t.Errorf("%d answers, stats %+v", answered, h.server.Stats())
	}
}

// TestRoam: a client whose packets come from a new address, and only from there,
// keeps its connection as soon as the new path has proved itself.
func TestRoam(t *testing.T) {
	n := netsim.New(netsim.Options{Seed: 4, Conditions: netsim.Transatlantic})
	p := newPair(t, n, pairOptions{})
	p.connect(t)
	p.cp.ep.RebindAddr()
	if p.sc.Addr() == p.cp.ep.PublicAddr() {
		t.Fatal("the address did not change")
	}
	if err := p.client.Conn().Send(2, []byte("from elsewhere")); err != nil {
		t.Fatal(err)
	}
	moved := func() bool { return kinds(p.serverEvents)[Roamed] == 1 }
	if !n.RunUntil(2*time.Second, moved) {
		t.Fatalf("not moved: %+v", p.server.Stats())
	}
	if p.sc.Addr() != p.cp.ep.PublicAddr() {
		t.Errorf("moved to %v, the client is at %v", p.sc.Addr(), p.cp.ep.PublicAddr())
	}
}

// TestNATTimeout: a router that forgets its mapping now and then is no more than a
// series of moves.
func TestNATTimeout(t *testing.T) {
	n := netsim.New(netsim.Options{Seed: 4, Conditions: netsim.Cable})
	p := newPair(t, n, pairOptions{
		server: func(o *ServerOptions) { o.KeepAlive = 5 * time.Second },
		client: func(o *ClientOptions) { o.KeepAlive = 1900 * time.Millisecond },
	})
	p.cp.ep.BehindNAT(netsim.NAT{
		Timeout: 1500 * time.Millisecond, Kind: netsim.PortRestricted})
	p.connect(t)
	n.Run(time.Minute)
	if k := kinds(p.serverEvents); k[Disconnected] != 0 || k[Roamed] < 5 {
		t.Errorf("server saw %v", k)
	}
	if p.sc.Addr() != p.cp.ep.PublicAddr() {
		t.Errorf("the server sends to %v, the client is at %v", p.sc.Addr(), p.cp.ep.PublicAddr())
	}
}

// TestNeverMoreOutThanIn: whatever an address sends that has proved nothing, it gets
// no more bytes back. Requests, responses and copies of a client's packets, whole
// and mangled.
func TestNeverMoreOutThanIn(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		h := newHall(t, 1)
		in, out := map[netip.AddrPort]int{}, map[netip.AddrPort]int{}
		known := map[netip.AddrPort]bool{
			netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 1, 0, 0}), 4000): true}
		tok := testToken(t, 60, nil)
		var seen [][]byte // handshake packets to mangle and send again
		for range rapid.IntRange(1, 60).Draw(rt, "steps") {
			from := address(200 + rapid.IntRange(0, 3).Draw(rt, "from"))
			var data []byte
			switch rapid.IntRange(0, 4).Draw(rt, "what") {
			case 0:
				r := request{protocol: h.server.opt.Protocol, version: h.server.opt.Version}
				data = r.append(nil)
			case 1: // a response with a cookie that may or may not be right
				r := response{
					request: request{
						protocol: h.server.opt.Protocol, version: h.server.opt.Version},
					client: 5, datagram: 1200, sealed: append([]byte(nil), tok.Sealed...)}
				copy(r.cookie[:], h.server.cookies.bake(nil, from, r.nonce[:], cookieTime(h.now)))
				keys := deriveHandshake(&tok.Secret)
				switch rapid.IntRange(0, 2).Draw(rt, "wrong") {
				case 0:
					r.sealed[30] ^= 1
				case 1:
					r.version++
				case 2:
					r.cookie[9] ^= 1
				}
				data = r.append(nil, &keys)
			case 2: // a copy of what a client sends
				if err := h.clients[0].Conn().Send(0, []byte("x")); err != nil {
					rt.Fatal(err)
				}
				h.send()
				if len(h.in) == 0 {
					continue
				}
				data = append([]byte(nil), h.in[0].Data...)
			case 3:
				if len(seen) == 0 {
					continue
				}
				data = append([]byte(nil),
					seen[rapid.IntRange(0, len(seen)-1).Draw(rt, "which")]...)
				if len(data) > 0 {
					data[rapid.IntRange(0, len(data)-1).Draw(rt, "at")] ^= byte(rapid.IntRange(0,
						255).Draw(rt, "by"))
				}
			case 4:
				data = rapid.SliceOfN(rapid.Byte(), 0, 80).Draw(rt, "noise")
			}
			seen = append(seen, append([]byte(nil), data...))
			in[from] += len(data)
			h.in = append(h.in[:0], link.Datagram{Addr: from, Data: data})
			h.serve(nil)
			for _, d := range h.out {
				out[d.Addr] += len(d.Data)
			}
			h.fetch()
			for a, n := range out {
				if !known[a] && n > in[a] {
					rt.Fatalf("%v got %d bytes for %d", a, n, in[a])
				}
			}
		}
	})
}

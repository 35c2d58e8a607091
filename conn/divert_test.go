package conn

import (
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/netsim"
)

// thief sees every datagram between a client and its server, copies it, and sends the copy first,
// from an address of its own. What the server sends to that address it passes on to the client, as
// if it came from the server itself if spoofs is set. It cannot take a datagram away.
type thief struct {
	p       *pair
	ep      *netsim.Endpoint
	spoofs  bool
	most    int // copies that it makes at most, if not zero
	copied  int
	stolen  int // datagrams that the server sent to it
	sent    int // bytes that it sent to the server
	got     int // and that the server sent to it
	reached int // datagrams that the server sent to the client
}

// rob makes a pair whose client is robbed once it is connected.
func rob(t *testing.T, seed uint64, c netsim.Conditions, spoofs bool) *thief {
	t.Helper()
	th := &thief{spoofs: spoofs}
	n := netsim.New(netsim.Options{Seed: seed, Conditions: c, Trace: func(e netsim.Event) {
		if e.What == netsim.Sent && th.p != nil {
			th.saw(e.From, e.To, e.Data)
		}
	}})
	p := newPair(t, n, pairOptions{})
	p.connect(t)
	th.ep = n.Endpoint("thief")
	n.Connect(th.ep, p.sp.ep, netsim.Both(netsim.Profile{Latency: time.Millisecond}))
	n.Connect(th.ep, p.cp.ep, netsim.Both(netsim.Profile{Latency: time.Millisecond}))
	th.ep.Handle(func(from netip.AddrPort, data []byte) {
		data = append([]byte(nil), data...)
		th.stolen++
		th.got += len(data)
		if !th.spoofs {
			_ = th.ep.SendTo(p.cp.ep.PublicAddr(), data)
			return
		}
		th.ep.After(time.Millisecond, func() {
			p.client.Receive(p.cp.now(), []link.Datagram{{Addr: p.sp.ep.LocalAddr(), Data: data}})
			p.client.Events()
		})
	})
	th.p = p
	return th
}

func (th *thief) saw(from, to string, data []byte) {
	switch {
	case from == "client" && (th.most == 0 || th.copied < th.most):
		th.copied++
		th.sent += len(data)
		_ = th.ep.SendTo(th.p.sp.ep.LocalAddr(), append([]byte(nil), data...))
	case from == "server" && to == "client":
		th.reached++
	}
}

// TestDivert plays the attack of RFC 9000, 9.3.3: a thief that copies the client's packets, sends
// the copies first from another address, and passes the challenge on to the client. The connection
// must stay where the client is, busy or idle, whoever the challenge seems to come from, on good
// paths and on bad ones.
func TestDivert(t *testing.T) {
	conditions := []netsim.Conditions{netsim.Cable, netsim.Transatlantic, netsim.WiFi, netsim.Awful}
	for _, c := range conditions {
		for _, spoofs := range []bool{false, true} {
			for _, busy := range []bool{false, true} {
				name := fmt.Sprintf("%s, spoofs %v, busy %v", c.Name, spoofs, busy)
				t.Run(name, func(t *testing.T) {
					for seed := range uint64(seeds(3)) {
						divert(t, seed+1, c, spoofs, busy)
					}
				})
			}
		}
	}
}

func divert(t *testing.T, seed uint64, c netsim.Conditions, spoofs, busy bool) {
	th := rob(t, seed, c, spoofs)
	p := th.p
	if busy {
		p.cp.step = func() { _ = p.client.Conn().Send(0, []byte("input")) }
	}
	p.sp.step = func() {
		if p.sc.Open() {
			_ = p.sc.Send(0, []byte("snapshot"))
		}
	}
	p.net.Run(20 * time.Second)
	st := p.server.Stats()
	if !p.sc.Open() || !p.client.Conn().Open() {
		t.Fatalf("seed %d: the connection ended; %d datagrams went to the thief, %d to the client",
			seed, th.stolen, th.reached)
	}
	// Where packets come late by half a second the thief may win for a moment, until the next of
	// the client's own packets takes the connection back.
	if st.Moves > 0 && (c.Name != "awful" || st.Moves > 4 || st.Moves > 2*st.Returns+1) {
		t.Errorf("seed %d: diverted, %d moves, %d returns", seed, st.Moves, st.Returns)
	}
	if th.stolen > th.reached/2 {
		t.Errorf("seed %d: %d datagrams to the thief, %d to the client", seed, th.stolen,
			th.reached)
	}
	if st.Moves == 0 && th.got > th.sent {
		t.Errorf("seed %d: the thief got %d bytes for %d", seed, th.got, th.sent)
	}
	if st.Probes == 0 || st.Stayed == 0 {
		t.Errorf("seed %d: no trial ended for the client: %+v", seed, st)
	}
	if misled := p.client.Stats().Misled; (misled == 0) != spoofs {
		t.Errorf("seed %d: the client counts %d challenges from strangers", seed, misled)
	}
	if th.reached < 500 {
		t.Errorf("seed %d: only %d datagrams to the client", seed, th.reached)
	}
}

// TestRoamAmidCopies: a thief copies packets until the client moves to another network. The
// connection follows the client as soon as the thief is silent.
func TestRoamAmidCopies(t *testing.T) {
	for seed := range uint64(seeds(5)) {
		th := rob(t, seed+1, netsim.WiFi, true)
		p := th.p
		p.cp.step = func() { _ = p.client.Conn().Send(0, []byte("input")) }
		p.net.Run(2 * time.Second)
		th.most = 1
		p.cp.ep.RebindAddr()
		moved := func() bool { return p.sc.Addr() == p.cp.ep.PublicAddr() }
		if !p.net.RunUntil(2*time.Second, moved) {
			t.Errorf("seed %d: not moved: %+v", seed+1, p.server.Stats())
		}
		if kinds(p.serverEvents)[Roamed] != 1 {
			t.Errorf("seed %d: roamed %d times", seed+1, kinds(p.serverEvents)[Roamed])
		}
	}
}

// TestStragglersDoNotHoldBack: packets that the client sent before it moved, and copies of them
// that the network makes, come late from the old address. They do not keep the connection there.
func TestStragglersDoNotHoldBack(t *testing.T) {
	h := newHall(t, 1)
	c, sc := h.clients[0].Conn(), h.server.Find(0)
	home, away := sc.Addr(), address(99)
	say := func() link.Datagram {
		if err := c.Send(0, []byte("x")); err != nil {
			t.Fatal(err)
		}
		h.send()
		return link.Datagram{Addr: home, Data: append([]byte(nil), h.in[0].Data...)}
	}
	give := func(d link.Datagram, from netip.AddrPort) {
		d.Data = append([]byte(nil), d.Data...)
		d.Addr = from
		h.server.Receive(h.now, []link.Datagram{d})
		h.server.Events()
	}
	early, late := say(), say()
	give(early, home)
	h.byAddr[away] = h.clients[0]
	delete(h.byAddr, home)
	for range 60 {
		give(say(), away)
		give(early, home) // doubled on the way
		give(late, home)
		h.in = h.in[:0]
		h.serve(nil)
		h.fetch()
	}
	if sc.Addr() != away || h.server.Stats().Stayed != 0 {
		t.Errorf("at %v after %+v", sc.Addr(), h.server.Stats())
	}
}

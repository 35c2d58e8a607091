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

// Those of one address have a share of a server's answers. Those whom Source counts as nobody, such
// as the bots and proxies of the server's own machine, have none to keep to: a thousand of them
// are answered at once.
func TestShareOfSource(t *testing.T) {
	far, near := netip.MustParseAddr("10.1.0.0"), netip.MustParseAddr("127.0.0.1")
	s := newSiege(t)
	server, err := NewServer(ServerOptions{Options: testOptions(5), Keys: []token.Key{testKey},
		Source: func(a netip.AddrPort) netip.Addr {
			if a.Addr().IsLoopback() {
				return netip.Addr{}
			}
			return link.SourceOf(a.Addr())
		}})
	if err != nil {
		t.Fatal(err)
	}
	s.server = server
	const many = 1000
	for _, c := range []struct {
		from    netip.Addr
		answers int
	}{{far, requestShare}, {near, many}, {far, requestShare}} {
		server.Receive(s.now, s.spoof(many, func(i int) netip.AddrPort {
			return netip.AddrPortFrom(c.from, uint16(1024+i))
		}))
		if out := server.Flush(s.now, nil); len(out) != c.answers {
			t.Errorf("%d requests of %v have %d answers, want %d", many, c.from, len(out),
				c.answers)
		}
	}
}

// A siege is a server under a flood, and an honest client that wants in.
type siege struct {
	*hall
	honest *Client
	home   netip.AddrPort
	memory [][requestSize]byte
	flood  []link.Datagram
	next   int // spoofed so far
}

func newSiege(t *testing.T) *siege {
	t.Helper()
	s := &siege{hall: newHall(t, 1), home: netip.MustParseAddrPort("10.1.0.0:4000")}
	server, err := NewServer(ServerOptions{Options: testOptions(5), Keys: []token.Key{testKey}})
	if err != nil {
		t.Fatal(err)
	}
	s.server = server
	s.clients = nil
	return s
}

// come has an honest client begin to knock.
func (s *siege) come(t *testing.T, client uint64) {
	t.Helper()
	c, err := NewClient(ClientOptions{Options: testOptions(6 + client),
		Token: testToken(t, client, nil), Servers: []netip.AddrPort{s.addr}})
	if err != nil {
		t.Fatal(err)
	}
	s.honest, s.clients = c, []*Client{c}
	s.byAddr = map[netip.AddrPort]*Client{s.home: c}
}

// spoof makes requests of as many addresses.
func (s *siege) spoof(n int, from func(i int) netip.AddrPort) []link.Datagram {
	for len(s.memory) < n {
		s.memory = append(s.memory, [requestSize]byte{})
	}
	s.flood = s.flood[:0]
	for j := range n {
		r := request{protocol: s.server.opt.Protocol, version: s.server.opt.Version}
		be.PutUint32(r.nonce[:], uint32(s.next))
		r.append(s.memory[j][:0])
		s.flood = append(s.flood, link.Datagram{Addr: from(s.next), Data: s.memory[j][:]})
		s.next++
	}
	return s.flood
}

// tick lets what is given come first, then what the honest one sends, and flushes.
func (s *siege) tick(t *testing.T, first []link.Datagram) {
	t.Helper()
	s.server.Receive(s.now, first)
	if s.honest != nil {
		s.send()
		s.server.Receive(s.now, s.in)
	}
	s.out = s.server.Flush(s.now, s.out[:0])
	if len(s.out) > maxChallenges+maxResponses+2 {
		t.Fatalf("%d datagrams at one flush", len(s.out))
	}
	for _, d := range s.out {
		switch {
		case d.Addr == s.home && s.honest != nil:
			s.one[0] = d
			s.one[0].Addr = s.addr
			s.honest.Receive(s.now, s.one[:])
		case len(d.Data) > requestSize:
			t.Fatalf("%d bytes in answer to %d", len(d.Data), requestSize)
		}
	}
	s.now += tick
}

// TestSpoofedRequests floods a server with a million requests from as many addresses, more at each
// flush than it answers, and each time before those of honest clients: memory must not grow, and an
// honest client must be in within a second, whenever it comes.
func TestSpoofedRequests(t *testing.T) {
	const total, batch = 1_000_000, 4_200 // 252,000 a second
	s := newSiege(t)
	var before uint64
	in, longest, came := 0, time.Duration(0), time.Duration(0)
	for i := 0; s.next < total; i++ {
		if s.honest == nil && i%60 == 3 {
			s.come(t, uint64(i))
			came = s.now
		}
		s.tick(t, s.spoof(batch, address))
		if s.honest != nil && s.honest.Conn() != nil {
			in, longest = in+1, max(longest, s.now-came)
			s.honest, s.clients = nil, nil
		}
		if s.honest != nil && s.now-came > time.Second {
			t.Fatalf("an honest client was out for %v", s.now-came)
		}
		if i == 10 {
			before = heap()
		}
	}
	t.Logf("%d honest clients, the slowest in after %v; %d requests, %d not answered", in, longest,
		s.server.Stats().Requests, s.server.Stats().Flooded)
	if after := heap(); after > before+256<<10 {
		t.Errorf("the heap grew from %d to %d bytes", before, after)
	}
	if st := s.server.Stats(); st.Requests < total || st.Accepted != uint64(in) || in < 3 {
		t.Errorf("%d in, stats %+v", in, st)
	}
	runtime.KeepAlive(s)
}

// TestFloodOfOne: a flood from one address takes nothing from the others, however large it is, and
// whether or not the address is proven.
func TestFloodOfOne(t *testing.T) {
	s := newSiege(t)
	thief := netip.MustParseAddrPort("10.9.9.9:999")
	one := func(int) netip.AddrPort { return thief }
	s.tick(t, s.spoof(20_000, one))
	if n := len(s.out); n > requestShare {
		t.Errorf("%d answers to one address at one flush", n)
	}
	// With cookies that it was sent, it floods with tokens that cannot be opened: the same again
	// and again, or each with another cookie.
	var ch challenge
	if !ch.parse(s.out[0].Data) {
		t.Fatal("no challenge")
	}
	r := response{request: request{protocol: s.server.opt.Protocol, version: s.server.opt.Version,
		nonce: ch.nonce}, cookie: ch.cookie, datagram: 1200,
		sealed: testToken(t, 5, nil).Sealed}
	r.sealed = append([]byte(nil), r.sealed...)
	r.sealed[60] ^= 1
	bad := r.append(nil, &handshakeKeys{})
	var flood []link.Datagram
	for i := range 10_000 {
		be.PutUint32(r.nonce[:], uint32(i))
		copy(r.cookie[:], s.server.cookies.bake(nil, thief, r.nonce[:], cookieTime(s.now)))
		flood = append(flood, link.Datagram{Addr: thief, Data: bad},
			link.Datagram{Addr: thief, Data: r.append(nil, &handshakeKeys{})})
	}
	s.come(t, 9)
	for began := s.now; s.honest.Conn() == nil; {
		if s.now-began > time.Second {
			t.Fatal("an honest client is kept out")
		}
		tried := s.server.Stats().BadTokens
		s.tick(t, flood)
		if n := s.server.Stats().BadTokens - tried; n > responseShare {
			t.Fatalf("%d tokens of one address were tried at one flush", n)
		}
	}
	if st := s.server.Stats(); st.Crowded == 0 || st.Duplicates == 0 {
		t.Errorf("not all was counted: %+v", st)
	}
}

// TestResponsesAtOnce: however many come at once with good tokens, a Flush opens so many, what
// waits is bounded, and all are let in within the time in which clients try.
func TestResponsesAtOnce(t *testing.T) {
	const clients = 1000
	h := newHall(t, 1)
	s, err := NewServer(ServerOptions{Options: testOptions(1), Keys: []token.Key{testKey},
		MaxClients: clients})
	if err != nil {
		t.Fatal(err)
	}
	h.server, h.clients = s, nil
	for i := range clients {
		c, err := NewClient(ClientOptions{Options: testOptions(uint64(2 + i)),
			Token: testToken(t, uint64(i), nil), Servers: []netip.AddrPort{h.addr}})
		if err != nil {
			t.Fatal(err)
		}
		h.clients = append(h.clients, c)
		h.byAddr[netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 1, byte(i >> 8), byte(i)}), 4000)] =
			c
	}
	s.Exchanges(0) // the driver takes them
	for began := h.now; s.clients < clients; {
		h.send()
		s.Receive(h.now, h.in)
		s.Events()
		before := len(s.exchanges.by)
		jobs := s.Exchanges(3)
		if n := len(s.exchanges.by) - before; n > maxResponses {
			t.Fatalf("%d tokens were opened at once", n)
		}
		if n := len(s.strangers.responses); n > keptResponses {
			t.Fatalf("%d responses wait", n)
		}
		for _, x := range jobs {
			x.Do()
			s.Exchanged(h.now, x)
		}
		h.out = s.Flush(h.now, h.out[:0])
		h.fetch()
		if h.now-began > 3*time.Second {
			t.Fatalf("%d of %d are in", s.clients, clients)
		}
	}
	if n := len(s.exchanges.asked) + len(s.strangers.responses) + len(s.exchanges.by); n != 0 {
		t.Errorf("%d are remembered that are in", n)
	}
}

// TestLots: of the requests between two flushes each has the same chance, early or late.
func TestLots(t *testing.T) {
	s := newSiege(t)
	const rounds, batch, parts = 200, 4 * maxChallenges, 4
	var got [parts]int
	for range rounds {
		first := s.next
		s.server.Receive(s.now, s.spoof(batch, func(i int) netip.AddrPort {
			return netip.AddrPortFrom(netip.AddrFrom4([4]byte{11, byte(i >> 16), byte(i >> 8),
				byte(i)}), 7)
		}))
		for _, d := range s.server.Flush(s.now, s.out[:0]) {
			var ch challenge
			if !ch.parse(d.Data) {
				t.Fatal("no challenge")
			}
			got[(int(be.Uint32(ch.nonce[:]))-first)*parts/batch]++
		}
	}
	const want = rounds * maxChallenges / parts
	for i, n := range got {
		if n < want*97/100 || n > want*103/100 {
			t.Errorf("quarter %d: %d answers, about %d are fair: %v", i, n, want, got)
		}
	}
}

// TestPerSource: one source has so many connections at a time and no more, a /64 of IPv6 being one,
// and whoever leaves makes room.
func TestPerSource(t *testing.T) {
	h := newHall(t, 1)
	o := ServerOptions{Options: testOptions(5), Keys: []token.Key{testKey}, MaxPerSource: 3}
	s, err := NewServer(o)
	if err != nil {
		t.Fatal(err)
	}
	next := uint64(100)
	try := func(from string) Reason {
		next++
		c, err := NewClient(ClientOptions{Options: testOptions(next),
			Token: testToken(t, next, nil), Servers: []netip.AddrPort{h.addr}})
		if err != nil {
			t.Fatal(err)
		}
		at := netip.MustParseAddrPort(from)
		for range 40 {
			for _, d := range c.Flush(h.now, nil) {
				d.Addr = at
				s.Receive(h.now, []link.Datagram{d})
			}
			for _, d := range s.Flush(h.now, nil) {
				if d.Addr == at {
					d.Addr = h.addr
					c.Receive(h.now, []link.Datagram{d})
				}
			}
			h.now += tick
		}
		if c.Conn() == nil {
			return c.reason
		}
		return ReasonNone
	}
	for i, from := range []string{"192.0.2.1:1", "192.0.2.1:2", "192.0.2.1:3"} {
		if why := try(from); why != ReasonNone {
			t.Fatalf("connection %d was refused: %v", i, why)
		}
	}
	if why := try("192.0.2.1:4"); why != ReasonCrowded {
		t.Errorf("the fourth of one address: %v", why)
	}
	if why := try("192.0.2.2:1"); why != ReasonNone {
		t.Errorf("another address: %v", why)
	}
	first := next + 1
	for i := range 3 {
		why := try(netip.AddrPortFrom(netip.AddrFrom16([16]byte{0x20, 1, 13, 184, 15: byte(i + 1),
			12: byte(i)}), 9).String())
		if why != ReasonNone {
			t.Fatalf("IPv6 %d: %v", i, why)
		}
	}
	if why := try("[2001:db8:0:0:ffff::1]:9"); why != ReasonCrowded {
		t.Errorf("the fourth of one network: %v", why)
	}
	source := link.SourceOf(netip.MustParseAddr("2001:db8::"))
	if s.From(source) != 3 || s.Stats().Refusals[ReasonCrowded] != 2 {
		t.Errorf("%d of the network, refusals %v", s.From(source), s.Stats().Refusals)
	}
	s.Find(first).Close(ReasonLeft, "")
	if why := try("[2001:db8::7]:9"); why != ReasonNone {
		t.Errorf("after one has left: %v", why)
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

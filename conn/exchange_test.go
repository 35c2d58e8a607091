package conn

import (
	"bytes"
	"crypto/sha256"
	"net/netip"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/netsim"
)

// tape is all that someone saw who recorded a connection from its first datagram.
type tape struct {
	toServer, toClient [][]byte
}

func record(t *testing.T, tok func(*token.Grant)) (*tape, *pair) {
	t.Helper()
	rec := &tape{}
	n := netsim.New(netsim.Options{Seed: 5, Trace: func(e netsim.Event) {
		if e.What != netsim.Sent {
			return
		}
		if e.From == "client" {
			rec.toServer = append(rec.toServer, bytes.Clone(e.Data))
		} else {
			rec.toClient = append(rec.toClient, bytes.Clone(e.Data))
		}
	}})
	p := newPair(t, n, pairOptions{token: tok})
	p.connect(t)
	for range 20 {
		_ = p.client.Conn().Send(2, []byte("to be kept secret"))
		_ = p.sc.Send(2, []byte("this as well"))
		n.Run(tick)
	}
	n.Run(time.Second)
	return rec, p
}

// handshake finds the response and the accept on a tape.
func (rec *tape) handshake(t *testing.T) (r response, a accept) {
	t.Helper()
	for _, b := range rec.toServer {
		if b[0] == kindResponse && !r.parse(b) {
			t.Fatal("not a response")
		}
	}
	for _, b := range rec.toClient {
		if b[0] == kindAccept && !a.parse(b) {
			t.Fatal("not an accept")
		}
	}
	return r, a
}

// opened counts the data packets on a tape that keys open.
func (rec *tape) opened(s session) (n int) {
	for i, list := range [][][]byte{rec.toServer, rec.toClient} {
		d := [...]*direction{&s.toServer, &s.toClient}[i]
		for _, b := range list {
			if b[0]&kindData == 0 {
				continue
			}
			number, _ := expand(0, be.Uint16(b[3:]))
			if _, err := d.aead.Open(nil, d.number(number), b[dataHeader:],
				b[:dataHeader]); err == nil {
				n++
			}
		}
	}
	return n
}

// TestForwardSecrecy: someone has recorded a connection, and learns the token's secret and the
// servers' key afterwards. All that they can compute of it opens no packet. What they lack is one
// of the two ephemeral keys: with it all opens, so the test looks in the right place.
func TestForwardSecrecy(t *testing.T) {
	rec, p := record(t, nil)
	r, a := rec.handshake(t)
	grant, err := token.Open(testKey, r.sealed)
	if err != nil {
		t.Fatal(err)
	}
	tr := transcript{protocol: r.protocol, version: r.version, clientNonce: r.nonce,
		serverNonce: a.serverNonce, client: r.client, sealedDigest: sha256.Sum256(r.sealed),
		clientShare: r.share, serverShare: a.share}
	guesses := map[string][shareSize]byte{
		"nothing": {}, "the client's share": r.share, "the server's": a.share,
		"the token's secret": grant.Secret}
	for name, shared := range guesses {
		ch := deriveSession(&grant.Secret, &shared, &tr)
		if n := rec.opened(ch.keys()); n != 0 {
			t.Errorf("%d packets open with %s for what was agreed on", n, name)
		}
	}
	if ch := p.sc.renewal.chain; rec.opened(ch.keys()) < 40 {
		t.Error("the recording does not open with the keys of the connection")
	}
	// Nor do the ends still have what it takes.
	if p.client.private != nil || p.server.so.Seed != [32]byte{} ||
		p.client.opt.Seed != [32]byte{} {
		t.Error("what the keys were made of is kept")
	}
}

// TestSharesDiffer: each connection has a secret of its own, those that began in one exchange as
// well.
func TestSharesDiffer(t *testing.T) {
	rec, _ := record(t, nil)
	r, a := rec.handshake(t)
	if r.share == a.share || r.share == [shareSize]byte{} || a.share == [shareSize]byte{} {
		t.Error("a share twice, or none")
	}
	h := newHall(t, 30)
	kept := map[chain]bool{}
	for c := range h.server.Conns {
		if kept[c.renewal.chain] {
			t.Error("two connections have the same secret")
		}
		kept[c.renewal.chain] = true
	}
	if st := h.server.Stats(); st.Exchanges != 30 || len(kept) != 30 {
		t.Errorf("%d exchanges, %d secrets", st.Exchanges, len(kept))
	}
}

// entry is a server, and a response that it would take.
func entry(t fataler, change func(*response)) (*Server, link.Datagram, handshakeKeys) {
	t.Helper()
	s, err := NewServer(ServerOptions{Options: testOptions(1), Keys: []token.Key{testKey}})
	if err != nil {
		t.Fatal(err)
	}
	tok := testToken(t, 60, nil)
	keys := deriveHandshake(&tok.Secret)
	r := response{request: request{protocol: s.opt.Protocol, version: s.opt.Version}, client: 5,
		datagram: 1200, sealed: tok.Sealed, share: [shareSize]byte{9}}
	from := address(3)
	copy(r.cookie[:], s.cookies.bake(nil, from, r.nonce[:], cookieTime(s.now)))
	if change != nil {
		change(&r)
	}
	return s, link.Datagram{Addr: from, Data: r.append(nil, &keys)}, keys
}

// TestNothingIsComputedForStrangers: only who has proved an address and a token is worth an
// exchange, and only one.
func TestNothingIsComputedForStrangers(t *testing.T) {
	give := func(s *Server, d link.Datagram) int {
		s.Receive(0, []link.Datagram{{Addr: d.Addr, Data: bytes.Clone(d.Data)}})
		n := 0
		for _, x := range s.Exchanges(1000) {
			n += x.Len()
		}
		s.Flush(0, nil) // an address may send only so many until then
		return n
	}
	s, d, _ := entry(t, nil)
	if give(s, d) != 1 || give(s, d) != 0 {
		t.Error("a response is not worth one exchange")
	}
	s, d, _ = entry(t, nil)
	for i := range d.Data {
		d.Data[i] ^= 1
		if give(s, d) != 0 {
			t.Errorf("byte %d of a response is not proved", i)
		}
		d.Data[i] ^= 1
	}
	d.Addr = address(4)
	if give(s, d) != 0 {
		t.Error("an address that was not challenged is worth an exchange")
	}
	if s.Stats().BadCookies == 0 || s.Stats().BadTokens == 0 || s.Stats().BadProofs == 0 {
		t.Errorf("not counted: %+v", s.Stats())
	}
}

// TestBadShares: shares that make a secret of zeros let nobody in.
func TestBadShares(t *testing.T) {
	// Points of small order (RFC 7748, section 6.1; Bernstein, "Curve25519", 2006).
	for _, share := range [][shareSize]byte{{}, {1}} {
		s, d, _ := entry(t, func(r *response) { r.share = share })
		s.Receive(0, []link.Datagram{d})
		if out := s.Flush(0, nil); len(out) != 0 || s.Stats().BadShares != 1 || s.Len() != 0 {
			t.Errorf("%d datagrams, %d clients, %+v", len(out), s.Len(), s.Stats())
		}
	}
}

// TestNoDowngrade: whatever of a response or an accept is changed on the way, nobody is connected
// with other keys than were meant: not with an earlier version, nor without a share, nor with
// someone else's.
func TestNoDowngrade(t *testing.T) {
	s, d, _ := entry(t, nil)
	d.Data[1] = 1
	s.Receive(0, []link.Datagram{d})
	if s.Stats().Malformed != 1 || s.Len() != 0 {
		t.Error("a response of version 1 is taken")
	}
	c, err := NewClient(ClientOptions{Options: testOptions(2), Token: testToken(t, 7, nil),
		Servers: []netip.AddrPort{rigServer}})
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{t: t, client: c, home: address(1)}
	if r.server, err = NewServer(ServerOptions{Options: testOptions(1),
		Keys: []token.Key{testKey}}); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		r.flush()
		for _, d := range r.toServer {
			r.server.Receive(r.now, []link.Datagram{{Addr: r.home, Data: d.Data}})
		}
		r.toServer = nil
		r.flush()
		if good := r.toClient[len(r.toClient)-1]; good.Data[0] == kindAccept {
			for i := range good.Data {
				b := bytes.Clone(good.Data)
				b[i] ^= 1
				c.Receive(r.now, []link.Datagram{{Addr: rigServer, Data: b}})
				if c.Conn() != nil {
					t.Fatalf("connected with byte %d of the accept altered", i)
				}
			}
			c.Receive(r.now, []link.Datagram{good})
			if c.Conn() == nil {
				t.Fatal("not connected with the accept as it was")
			}
			return
		}
		r.deliver(0, len(r.toClient))
		r.now += 200 * time.Millisecond
	}
	t.Fatal("no accept")
}

// TestExchangesElsewhere: a driver that does the work itself may do it late and in any order. Those
// who wait count as clients, and are told if the server closes meanwhile.
func TestExchangesElsewhere(t *testing.T) {
	for _, shut := range []bool{false, true} {
		s, err := NewServer(ServerOptions{Options: testOptions(1), Keys: []token.Key{testKey},
			MaxClients: 30})
		if err != nil {
			t.Fatal(err)
		}
		h := &hall{addr: rigServer, server: s, byAddr: map[netip.AddrPort]*Client{}}
		for i := range 31 {
			c, err := NewClient(ClientOptions{Options: testOptions(uint64(2 + i)),
				Token: testToken(t, uint64(i), nil), Servers: []netip.AddrPort{h.addr}})
			if err != nil {
				t.Fatal(err)
			}
			h.clients = append(h.clients, c)
			h.byAddr[netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 1, 0, byte(i)}), 4000)] = c
		}
		s.Exchanges(0) // from now on Flush does nothing of it
		round := func() {
			h.send()
			h.serve(nil)
			h.fetch()
		}
		for range 40 {
			round()
		}
		if s.Len() != 30 || s.Stats().Accepted != 0 || h.clients[30].Reason() != ReasonFull {
			t.Fatalf("%d wait, %d are in, the last one is told %v", s.Len(), s.Stats().Accepted,
				h.clients[30].Reason())
		}
		jobs := s.Exchanges(100)
		if shut {
			s.Shutdown(ReasonClosing, "")
		}
		for i := range jobs {
			x := jobs[len(jobs)-1-i]
			x.Do()
			s.Exchanged(h.now, x)
			s.Exchanged(h.now, x) // twice is once
		}
		for range 40 {
			round()
		}
		in := 0
		for _, c := range h.clients[:30] {
			if c.Conn() != nil && c.Conn().Open() {
				in++
			} else if c.Reason() != ReasonClosing {
				t.Errorf("told %v", c.Reason())
			}
		}
		if want := map[bool]int{false: 30, true: 0}[shut]; in != want || s.Len() != want {
			t.Errorf("%d of %d are in, the server has %d", in, want, s.Len())
		}
	}
}

package conn

import (
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/netsim/simtest"
	"pgregory.net/rapid"
)

func TestRefusals(t *testing.T) {
	other := netip.MustParseAddrPort("192.0.2.1:1")
	tests := []struct {
		name string
		want Reason
		o    pairOptions
	}{
		{"expired", ReasonExpired,
			pairOptions{token: func(g *token.Grant) { g.Expires = testWall - 1 }}},
		{"wrong game in the token", ReasonWrongGame,
			pairOptions{token: func(g *token.Grant) { g.Protocol++ }}},
		{"wrong game", ReasonWrongGame,
			pairOptions{client: func(o *ClientOptions) { o.Protocol++ }}},
		{"wrong version", ReasonWrongVersion,
			pairOptions{client: func(o *ClientOptions) { o.Version++ }}},
		{"banned", ReasonBanned, pairOptions{server: func(o *ServerOptions) {
			o.Admit = func(c Candidate) Reason {
				if c.Client == 7 && string(c.UserData) == "player 7" && !c.Resumed {
					return ReasonBanned
				}
				return ReasonNone
			}
		}}},
		{"reason of the game", ReasonGame + 9, pairOptions{server: func(o *ServerOptions) {
			o.Admit = func(Candidate) Reason { return ReasonGame + 9 }
		}}},
		{"other server", ReasonWrongServer, pairOptions{
			token: func(g *token.Grant) { g.Servers = []netip.AddrPort{other} },
			client: func(o *ClientOptions) {
				o.Servers = []netip.AddrPort{netip.MustParseAddrPort("10.0.0.1:4000")}
			},
		}},
		{"other key", ReasonBadToken,
			pairOptions{server: func(o *ServerOptions) { o.Keys = []token.Key{{9}} }}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			n := netsim.New(netsim.Options{Seed: 3, Conditions: netsim.Cable})
			p := newPair(t, n, tt.o)
			n.Run(15 * time.Second)
			if len(p.clientEvents) != 1 || p.clientEvents[0].Kind != Disconnected ||
				p.clientEvents[0].Reason != tt.want {
				t.Fatalf("client saw %+v, want a refusal with %v", p.clientEvents, tt.want)
			}
			if len(p.serverEvents) != 0 || p.server.Len() != 0 {
				t.Errorf("server saw %+v", p.serverEvents)
			}
			if got := p.server.Stats().Refusals[min(tt.want, ReasonGame-1)]; got == 0 {
				t.Error("the refusal was not counted")
			}
			if !p.client.Done() || p.client.Reason() != tt.want {
				t.Errorf("client: done %v, reason %v", p.client.Done(), p.client.Reason())
			}
			if tt.want < ReasonGame && tt.want != ReasonBanned && tt.want.Advice() == "" {
				t.Error("no advice")
			}
		})
	}
	t.Run("full", func(t *testing.T) {
		h := newHall(t, 2)
		late, err := NewClient(ClientOptions{Options: testOptions(50), Token: testToken(t, 50, nil),
			Servers: []netip.AddrPort{h.addr}})
		if err != nil {
			t.Fatal(err)
		}
		h.clients = append(h.clients, late)
		h.byAddr[netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 1, 0, 2}), 4000)] = late
		for range 30 {
			h.send()
			h.serve(nil)
			h.fetch()
		}
		if late.Reason() != ReasonFull || h.server.Len() != 2 {
			t.Errorf("reason %v, %d clients", late.Reason(), h.server.Len())
		}
	})
	t.Run("closing", func(t *testing.T) {
		n := netsim.New(netsim.Options{Seed: 3, Conditions: netsim.Cable})
		p := newPair(t, n, pairOptions{})
		p.server.Shutdown(ReasonClosing, "")
		n.Run(5 * time.Second)
		if p.client.Reason() != ReasonClosing {
			t.Errorf("reason %v", p.client.Reason())
		}
	})
}

// again makes a second client on the network of a pair, with a token of choice.
func (p *pair) again(t testing.TB, name string, tok token.Token, server *Server) (*party, *Client) {
	t.Helper()
	ep := p.net.Endpoint(name)
	o := ClientOptions{
		Options: testOptions(uint64(len(name)) * 77), Token: tok, Servers: []netip.AddrPort{
			p.sp.ep.LocalAddr()}}
	c, err := NewClient(o)
	if err != nil {
		t.Fatal(err)
	}
	pt := &party{ep: ep, machine: c}
	pt.start()
	return pt, c
}

func TestTokenWorksOnce(t *testing.T) {
	n := netsim.New(netsim.Options{Seed: 3, Conditions: netsim.Cable})
	p := newPair(t, n, pairOptions{})
	p.connect(t)
	_, second := p.again(t, "second", p.client.co.Token, p.server)
	n.Run(5 * time.Second)
	if second.Conn() != nil || second.Reason() != ReasonTokenUsed {
		t.Errorf("a used token: %v", second.Reason())
	}
	if !p.sc.Open() || !p.client.Conn().Open() {
		t.Error("the first connection suffered")
	}
	p.client.Close(ReasonLeft, "")
	n.Run(5 * time.Second)
	_, third := p.again(t, "the third", p.client.co.Token, p.server)
	n.Run(5 * time.Second)
	if third.Conn() != nil || third.Reason() != ReasonTokenUsed {
		t.Errorf("a used token, after the first has left: %v", third.Reason())
	}
	// It is remembered only as long as it would be refused for nothing else.
	n.Run(3700 * time.Second)
	if len(p.server.used.clients) != 0 {
		t.Errorf("%d tokens still remembered", len(p.server.used.clients))
	}
}

// TestOverheardToken: who sees a token go by can neither use it nor use it up.
func TestOverheardToken(t *testing.T) {
	h := newHall(t, 1)
	victim, err := NewClient(ClientOptions{Options: testOptions(50), Token: testToken(t, 50, nil),
		Servers: []netip.AddrPort{h.addr}})
	if err != nil {
		t.Fatal(err)
	}
	tok := victim.co.Token
	tok.Secret = [32]byte{1} // the thief does not know it
	thief, err := NewClient(ClientOptions{Options: testOptions(51), Token: tok,
		Servers: []netip.AddrPort{h.addr}})
	if err != nil {
		t.Fatal(err)
	}
	h.server.so.MaxClients = 3
	run := func(c *Client, addr netip.AddrPort) {
		h.clients, h.byAddr = []*Client{c}, map[netip.AddrPort]*Client{addr: c}
		for range 60 {
			h.in = c.Flush(h.now, h.in[:0])
			for i := range h.in {
				h.in[i].Addr = addr
			}
			h.serve(nil)
			h.fetch()
		}
	}
	run(thief, address(70))
	if thief.Conn() != nil || h.server.Stats().BadProofs == 0 {
		t.Errorf("the thief got in, or was not noticed: %+v", h.server.Stats())
	}
	run(victim, address(71))
	if victim.Conn() == nil {
		t.Errorf("the victim's token was used up: %v", victim.Reason())
	}
}

// TestDamagedPackets: replayed, truncated, altered and misdirected packets have no
// effect and are counted.
func TestDamagedPackets(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		h := newHall(t, 2)
		messages := 0
		on := func(e *Event) {
			if e.Kind == Message {
				messages++
			}
			if e.Kind == Disconnected {
				rt.Fatalf("disconnected: %v", e.Reason)
			}
		}
		for i := range 20 {
			for _, c := range h.clients {
				if err := c.Conn().Send(uint8(i%4), []byte{byte(i)}); err != nil {
					rt.Fatal(err)
				}
			}
			h.send()
			var copies []link.Datagram
			for _, d := range h.in {
				copies = append(copies,
					link.Datagram{Addr: d.Addr, Data: append([]byte(nil), d.Data...)})
			}
			mangled := make([]link.Datagram, 0, 8)
			for _, d := range copies {
				data := append([]byte(nil), d.Data...)
				switch rapid.IntRange(0, 3).Draw(rt, "damage") {
				case 0:
					data = data[:rapid.IntRange(0, len(data)-1).Draw(rt, "length")]
				case 1:
					bit := rapid.IntRange(0, 8*len(data)-1).Draw(rt, "bit")
					data[bit/8] ^= 1 << (bit % 8)
				case 2:
					data = append(data, rapid.SliceOfN(rapid.Byte(), 1, 30).Draw(rt, "tail")...)
				case 3:
					data = rapid.SliceOfN(rapid.Byte(), 0, 60).Draw(rt, "noise")
				}
				mangled = append(mangled, link.Datagram{Addr: d.Addr, Data: data})
			}
			h.server.Receive(h.now, mangled) // before the genuine ones
			for _, e := range h.server.Events() {
				if e.Kind == Message {
					rt.Fatal("a mangled packet brought a message")
				}
			}
			h.serve(on)
			sent := append([]link.Datagram(nil), h.out...)
			h.server.Receive(h.now, copies) // and once more
			for _, e := range h.server.Events() {
				if e.Kind == Message {
					rt.Fatal("a replayed packet brought a message")
				}
			}
			h.out = sent
			h.fetch()
		}
		if messages != 40 {
			rt.Fatalf("%d of 40 messages came", messages)
		}
		st := h.server.Stats()
		if st.Replayed < 40 {
			rt.Fatalf("replays were not counted: %+v", st)
		}
		if st.Forged+st.Malformed+st.Unknown+st.TooOld+st.Replayed < 80 {
			rt.Fatalf("damage was not counted: %+v", st)
		}
	})
}

// TestGuessedIdentifiers: packets to every identifier there is, with no key, do
// nothing but count.
func TestGuessedIdentifiers(t *testing.T) {
	h := newHall(t, 4)
	data := make([]byte, 60)
	for id := range identifier(1 << identifierBits) {
		putHeader(data, ackClean, byte(id)&keyPhase, id, uint32(id))
		h.one[0] = link.Datagram{Addr: address(int(id)), Data: data}
		h.server.Receive(h.now, h.one[:])
	}
	if out := h.server.Flush(h.now, nil); len(out) > 8 {
		t.Errorf("%d datagrams in answer", len(out))
	}
	st := h.server.Stats()
	if st.Unknown+st.Forged+st.Replayed+st.TooOld != 1<<identifierBits ||
		st.Unknown < 1<<identifierBits-5 {
		t.Errorf("%+v", st)
	}
	for range 60 {
		h.send()
		h.serve(nil)
		h.fetch()
	}
	if h.server.Len() != 4 {
		t.Error("a connection was lost")
	}
}

// TestFalseAcks: a peer that acknowledges what was never sent is cut off, alone.
func TestFalseAcks(t *testing.T) {
	h := newHall(t, 2)
	liar := h.clients[0].Conn()
	liar.received.largest += 1000
	if err := liar.Send(0, []byte("x")); err != nil {
		t.Fatal(err)
	}
	var ended []Event
	for range 60 {
		h.send()
		h.serve(func(e *Event) {
			if e.Kind == Disconnected {
				ended = append(ended, *e)
			}
		})
		h.fetch()
	}
	if len(ended) != 1 || ended[0].Reason != ReasonViolation || ended[0].Conn.Client() != 0 {
		t.Errorf("ended: %+v", ended)
	}
	if st := h.server.Stats(); st.FalseAcks != 1 || st.Violations != 1 {
		t.Errorf("%+v", st)
	}
	if h.server.Len() != 1 {
		t.Errorf("%d left", h.server.Len())
	}
}

// TestNeverAcks: a peer that talks but acknowledges nothing is cut off in the end,
// and costs no more than the backlog allows until then.
func TestNeverAcks(t *testing.T) {
	h := newHall(t, 2)
	mute := h.clients[0].Conn()
	var ended []Event
	refused := 0
	for range 60 * 40 {
		if err := mute.Send(0, []byte("still here")); err != nil {
			t.Fatal(err)
		}
		largest := mute.received.largest
		mute.received.largest = 0 // says nothing about what it received
		h.send()
		mute.received.largest, mute.received.unsaid = largest, 0
		h.serve(func(e *Event) {
			switch e.Kind {
			case Message:
				if err := e.Conn.Send(2, make([]byte, 1000)); err != nil {
					refused++
				}
			case Disconnected:
				ended = append(ended, *e)
			}
		})
		h.fetch()
		if len(ended) > 0 {
			break
		}
	}
	if len(ended) != 1 || ended[0].Reason != ReasonNoAcks {
		t.Errorf("ended: %+v", ended)
	}
	if refused == 0 {
		t.Error("the backlog never filled")
	}
	if h.server.Len() != 1 {
		t.Errorf("%d left", h.server.Len())
	}
}

// TestClockJumps: neither end's clock going back or far ahead ends a connection, or
// spoils the round trip.
func TestClockJumps(t *testing.T) {
	for _, jump := range []time.Duration{
		-time.Hour, time.Hour, -100 * time.Millisecond, 5 * time.Second} {
		for _, who := range []string{"server", "client"} {
			t.Run(fmt.Sprint(who, jump), func(t *testing.T) {
				simtest.Run(t, seeds(5), func(n *netsim.Net) error {
					n.Use(netsim.Cable)
					var stats func() Stats
					err := conversation(t, n, pairOptions{}, 8*time.Second, 30*time.Second,
						func(p *pair) {
							party := p.sp
							stats = p.server.Stats
							if who == "client" {
								party, stats = p.cp, p.client.Stats
							}
							var shift time.Duration
							party.clock = func() time.Duration { return n.Now() + shift }
							n.After(3*time.Second, func() { shift = jump })
							n.After(10*time.Second, func() {
								if trip := p.sc.Quality().RoundTrip; trip > 150*time.Millisecond {
									panic(fmt.Sprintf("round trip of %v", trip))
								}
							})
						})
					if st := stats(); err == nil && jump < 0 && st.ClockBack == 0 ||
						jump > maxStep && st.ClockJumps == 0 {
						return fmt.Errorf("the jump was not counted: %+v", st)
					}
					return err
				})
			})
		}
	}
}

package conn

import (
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/netsim"
)

// TestReturnAfterCrash: a client that crashed returns with its ticket at once, and
// takes over from the connection that the server still believes in.
func TestReturnAfterCrash(t *testing.T) {
	n := netsim.New(netsim.Options{Seed: 4, Conditions: netsim.Cable})
	p := newPair(t, n, pairOptions{})
	p.connect(t)
	n.Run(time.Second)
	kept, ok := p.client.Ticket()
	if !ok {
		t.Fatal("no ticket")
	}
	text := kept.Text() // as it would be kept on disk
	p.cp.ep.Close()     // the crash
	old := p.sc
	p.sc = nil
	ticket, err := token.ParseText(text)
	if err != nil {
		t.Fatal(err)
	}
	_, again := p.again(t, "returned", ticket, p.server)
	if !n.RunUntil(3*time.Second, func() bool { return p.sc != nil && again.Conn() != nil }) {
		t.Fatalf("not back: %v, %+v", again.Reason(), p.server.Stats())
	}
	if old.Open() || !p.sc.Resumed() || p.sc.Client() != 7 ||
		string(p.sc.UserData()) != "player 7" {
		t.Errorf("old open %v, new resumed %v, client %d, data %q", old.Open(), p.sc.Resumed(),
			p.sc.Client(), p.sc.UserData())
	}
	k := kinds(p.serverEvents)
	if k[Connected] != 2 || k[Disconnected] != 1 || p.server.Len() != 1 {
		t.Errorf("server saw %v, has %d", k, p.server.Len())
	}
	_, thief := p.again(t, "once more", ticket, p.server)
	n.Run(3 * time.Second)
	if thief.Conn() != nil || thief.Reason() != ReasonTokenUsed {
		t.Errorf("the ticket worked twice: %v", thief.Reason())
	}
	if _, ok := again.Ticket(); !ok {
		t.Error("no new ticket for the next time")
	}
}

// TestReturnAtAnotherServer: when a server dies its players return at another one
// with the same key, with what the first one's token said of them.
func TestReturnAtAnotherServer(t *testing.T) {
	n := netsim.New(netsim.Options{Seed: 4, Conditions: netsim.Cable})
	p := newPair(t, n, pairOptions{})
	p.connect(t)
	n.Run(time.Second)
	ticket, _ := p.client.Ticket()
	p.sp.ep.Close()
	if !n.RunUntil(15*time.Second,
		func() bool { return kinds(p.clientEvents)[Disconnected] == 1 }) {
		t.Fatal("the client did not notice")
	}
	if r := p.clientEvents[len(p.clientEvents)-1].Reason; r != ReasonTimeout {
		t.Errorf("ended with %v", r)
	}
	other, err := NewServer(ServerOptions{Options: testOptions(123),
		Keys: []token.Key{{8}, testKey}})
	if err != nil {
		t.Fatal(err)
	}
	ep := n.Endpoint("other")
	var sc *Conn
	pt := &party{ep: ep, machine: other, on: func(e *Event) {
		if e.Kind == Connected {
			sc = e.Conn
		}
	}}
	pt.start()
	p.sp.ep = ep
	_, again := p.again(t, "returned", ticket, other)
	if !n.RunUntil(3*time.Second, func() bool { return sc != nil && again.Conn() != nil }) {
		t.Fatalf("not back: %v", again.Reason())
	}
	if string(sc.UserData()) != "player 7" {
		t.Errorf("user data %q", sc.UserData())
	}
}

// TestTicketIsRenewed: a ticket in the client's hands is always good for a while.
func TestTicketIsRenewed(t *testing.T) {
	n := netsim.New(netsim.Options{Seed: 4, Conditions: netsim.WiFi})
	p := newPair(t, n,
		pairOptions{server: func(o *ServerOptions) { o.TicketLife = 10 * time.Second }})
	p.connect(t)
	n.Run(21 * time.Second)
	if k := kinds(p.clientEvents)[TicketReceived]; k < 4 {
		t.Errorf("%d tickets in 21 s", k)
	}
	if tok, _ := p.client.Ticket(); tok.Expires < testWall+21+4 {
		t.Errorf("the last ticket expires %d s after the start", tok.Expires-testWall)
	}
}

// TestKeysAreNeverTheSame: a server that forgets everything and draws the same
// randomness again, or a client that does, still makes other keys than before.
func TestKeysAreNeverTheSame(t *testing.T) {
	keys := func(serverSeed, clientSeed uint64) string {
		var lines []string
		n := netsim.New(netsim.Options{Seed: 1})
		p := newPair(t, n, pairOptions{
			server: func(o *ServerOptions) {
				o.Seed = testSeed(serverSeed)
				o.KeyLog = func(l string) { lines = append(lines, l) }
			},
			client: func(o *ClientOptions) {
				o.Seed = testSeed(clientSeed)
				o.KeyLog = func(l string) { lines = append(lines, l) }
			},
		})
		p.connect(t)
		if len(lines) != 2 || lines[0] != lines[1] {
			t.Fatalf("key log: %q", lines)
		}
		f := strings.Fields(lines[0])
		if len(f) != 5 || f[0] != "COEVAL" || len(f[3]) != 2*keySize || len(f[4]) != 2*ivSize {
			t.Fatalf("key log: %q", lines[0])
		}
		c, s := p.client.Conn(), p.sc
		if c.seal.nonce[0] == s.seal.nonce[0] || c.seal.nonce[0] != s.open.nonce[0] {
			t.Fatal("both directions use the same nonces")
		}
		return f[3] + f[4]
	}
	first := keys(1, 2)
	if keys(1, 2) != first {
		t.Error("a run does not repeat from its seeds")
	}
	if keys(1, 3) == first {
		t.Error("same keys though the client's randomness was fresh")
	}
	if keys(4, 2) == first {
		t.Error("same keys though the server's randomness was fresh")
	}
}

// visit lets a client connect to a server of its own with a token, at a time of day, and returns
// the ticket that it is handed, or the reason why it was not let in.
func visit(t *testing.T, o ServerOptions, tok token.Token, wall int64,
	group ...netip.AddrPort) (token.Token, Reason) {
	t.Helper()
	n := netsim.New(netsim.Options{Seed: uint64(wall), Conditions: netsim.Perfect})
	ep := n.Endpoint("server")
	o.Options, o.Keys = testOptions(uint64(wall)), []token.Key{testKey}
	o.Wall = wall
	s, err := NewServer(o)
	if err != nil {
		t.Fatal(err)
	}
	if len(group) > 0 {
		s.SetGroup(group)
	}
	c, err := NewClient(ClientOptions{Options: testOptions(uint64(wall) + 1), Token: tok,
		Servers: []netip.AddrPort{ep.LocalAddr()}})
	if err != nil {
		t.Fatal(err)
	}
	(&party{ep: ep, machine: s}).start()
	(&party{ep: n.Endpoint("client"), machine: c}).start()
	n.RunUntil(5*time.Second, func() bool {
		_, ok := c.Ticket()
		return ok || c.Done()
	})
	ticket, _ := c.Ticket()
	return ticket, c.Reason()
}

var (
	serverA = netip.MustParseAddrPort("192.0.2.1:4000")
	serverB = netip.MustParseAddrPort("192.0.2.2:4000")
	serverC = netip.MustParseAddrPort("[2001:db8::3]:4000")
)

// TestTicketNamesItsServers: a token for server A becomes by its ticket good at A and nowhere else,
// however often it is renewed; and at B if A says that B belongs to its group.
func TestTicketNamesItsServers(t *testing.T) {
	at := func(a netip.AddrPort) ServerOptions {
		return ServerOptions{Addresses: []netip.AddrPort{a}}
	}
	tok := testToken(t, 7, func(g *token.Grant) { g.Servers = []netip.AddrPort{serverA} })
	ticket, reason := visit(t, at(serverA), tok, testWall)
	if reason != ReasonNone || !slices.Equal(ticket.Servers, []netip.AddrPort{serverA}) {
		t.Fatalf("the ticket names %v, reason %v", ticket.Servers, reason)
	}
	if _, reason = visit(t, at(serverB), ticket, testWall+1); reason != ReasonWrongServer {
		t.Errorf("B takes A's ticket: %v", reason)
	}
	ticket, reason = visit(t, at(serverA), ticket, testWall+2)
	if reason != ReasonNone {
		t.Fatalf("A does not take its own: %v", reason)
	}
	if _, reason = visit(t, at(serverB), ticket, testWall+3); reason != ReasonWrongServer {
		t.Errorf("B takes A's second ticket: %v", reason)
	}
	ticket, reason = visit(t, at(serverA), ticket, testWall+4, serverA, serverB)
	if reason != ReasonNone || !slices.Equal(ticket.Servers, []netip.AddrPort{serverA, serverB}) {
		t.Fatalf("the ticket names %v, reason %v", ticket.Servers, reason)
	}
	if _, reason = visit(t, at(serverB), ticket, testWall+5); reason != ReasonNone {
		t.Errorf("B does not take a ticket of its group: %v", reason)
	}
	if _, reason = visit(t, at(serverC), ticket, testWall+6); reason != ReasonWrongServer {
		t.Errorf("C takes a ticket of another group: %v", reason)
	}
	// A token that names nobody is for all, and so is its ticket.
	ticket, _ = visit(t, at(serverA), testToken(t, 8, nil), testWall, serverA, serverB)
	if len(ticket.Servers) != 0 {
		t.Errorf("the ticket of a token for all names %v", ticket.Servers)
	}
}

// TestTicketsEnd: a token of a minute renews itself by tickets for as long as the server, or the
// token, allows, and no longer; whichever server with the key is asked.
func TestTicketsEnd(t *testing.T) {
	for _, tt := range []struct {
		name   string
		issued int64
		until  int64
		most   time.Duration
		want   int64 // seconds for which it can be renewed
	}{
		{"by default", testWall, 0, 0, 12 * 3600},
		{"issuer does not say when", 0, 0, 0, 12 * 3600},
		{"the server says two hours", testWall, 0, 2 * time.Hour, 2 * 3600},
		{"the token says one", testWall, testWall + 3600, 2 * time.Hour, 3600},
		{"issued long ago", testWall - 11*3600, 0, 0, 3600},
	} {
		t.Run(tt.name, func(t *testing.T) {
			now := int64(testWall)
			o := ServerOptions{TicketsFor: tt.most}
			tok := testToken(t, 7, func(g *token.Grant) {
				g.Expires, g.Issued, g.Until = testWall+60, tt.issued, tt.until
			})
			ticket, reason := visit(t, o, tok, now)
			if reason != ReasonNone {
				t.Fatal(reason)
			}
			for range 24 * 29 * 2 {
				next, reason := visit(t, o, ticket, now+1500)
				if reason != ReasonNone {
					if reason != ReasonExpired {
						t.Errorf("refused with %v", reason)
					}
					break
				}
				now += 1500
				if len(next.Sealed) == 0 || next.Expires > testWall+tt.want {
					t.Fatalf("a ticket until %d, want %d at most", next.Expires-testWall, tt.want)
				}
				ticket = next
			}
			if age := now - testWall; age >= tt.want || age < tt.want-2*1500 {
				t.Errorf("renewed for %d s, want %d", age, tt.want)
			}
		})
	}
}

// TestGroupChanges: who is connected when a group changes is handed a ticket for it within a
// second, or at once when asked; who has a token for all is not.
func TestGroupChanges(t *testing.T) {
	n := netsim.New(netsim.Options{Seed: 4, Conditions: netsim.Cable})
	p := newPair(t, n, pairOptions{})
	p.connect(t)
	n.Run(time.Second)
	was, _ := p.client.Ticket()
	home := p.sp.ep.LocalAddr()
	p.server.SetGroup([]netip.AddrPort{home, serverB})
	n.Run(1200 * time.Millisecond)
	is, _ := p.client.Ticket()
	if !slices.Equal(was.Servers, []netip.AddrPort{home}) ||
		!slices.Equal(is.Servers, []netip.AddrPort{home, serverB}) {
		t.Errorf("the ticket named %v and names %v", was.Servers, is.Servers)
	}
	got := kinds(p.clientEvents)[TicketReceived]
	p.server.SetGroup([]netip.AddrPort{home, serverB, serverC})
	p.sc.RenewTicket()
	p.sc.RenewTicket()
	n.Run(2 * time.Second)
	if more := kinds(p.clientEvents)[TicketReceived] - got; more != 1 {
		t.Errorf("%d tickets for one change", more)
	}
}

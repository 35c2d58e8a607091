package conn

import (
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

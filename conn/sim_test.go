package conn

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/conn/seed"
	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/netsim"
)

const (
	testWall = 1_800_000_000
	tick     = time.Second / 60
)

var testKey = token.Key{1, 2, 3}

// seeds is how many seeds a test runs: n, or that many times COEVAL_SEEDS for a soak.
func seeds(n int) int {
	if k, err := strconv.Atoi(os.Getenv("COEVAL_SEEDS")); err == nil && k > 0 {
		return n * k
	}
	return n
}

func testSeed(n uint64) (s [32]byte) {
	binary.BigEndian.PutUint64(s[:], n)
	s[31] = 1
	return s
}

func testOptions(seed uint64) Options {
	return Options{
		Protocol: token.ProtocolID("test"), Version: 3, Seed: testSeed(seed), Wall: testWall}
}

// testToken issues a token as a backend would.
func testToken(t fataler, client uint64, change func(*token.Grant)) token.Token {
	t.Helper()
	g := token.Grant{Protocol: token.ProtocolID("test"), Client: client, Expires: testWall + 3600,
		UserData: fmt.Appendf(nil, "player %d", client)}
	if change != nil {
		change(&g)
	}
	r := seed.New(testSeed(1000 + client))
	tok, err := token.Issue(testKey, g, r)
	if err != nil {
		t.Fatal(err)
	}
	return tok
}

// party is a machine on a simulated network, with what happened to it.
type party struct {
	ep      *netsim.Endpoint
	machine interface {
		Receive(time.Duration, []link.Datagram)
		Events() []Event
		Flush(time.Duration, []link.Datagram) []link.Datagram
		Refused(int)
		Ledger() Ledger
	}
	on    func(e *Event)
	step  func() // between receiving and sending
	batch [64]link.Datagram
	out   []link.Datagram
	clock func() time.Duration      // what the party takes for the time
	takes func(*link.Datagram) bool // whether the link takes one; all if nil
}

func (p *party) now() time.Duration {
	if p.clock != nil {
		return p.clock()
	}
	return p.ep.Net().Now()
}

func (p *party) tick() {
	for {
		n, err := p.ep.Receive(p.batch[:])
		if err != nil {
			return
		}
		p.machine.Receive(p.now(), p.batch[:n])
		events := p.machine.Events()
		for i := range events {
			if p.on != nil {
				p.on(&events[i])
			}
		}
		if n < len(p.batch) {
			break
		}
	}
	if p.step != nil {
		p.step()
	}
	p.out = p.machine.Flush(p.now(), p.out[:0])
	for i := range p.out {
		if p.takes != nil && !p.takes(&p.out[i]) {
			p.machine.Refused(i)
			continue
		}
		if err := p.ep.SendTo(p.out[i].Addr, p.out[i].Data); err != nil {
			p.machine.Refused(i)
		}
	}
	events := p.machine.Events()
	for i := range events {
		if p.on != nil {
			p.on(&events[i])
		}
	}
}

func (p *party) start() { p.ep.Every(tick, p.tick) }

// pair is a server with one client.
type pair struct {
	net          *netsim.Net
	sp, cp       *party
	server       *Server
	client       *Client
	sc           *Conn // the server's end, once connected
	serverEvents []Event
	clientEvents []Event
	onServer     func(*Event)
	onClient     func(*Event)
	keep         bool // keep all events with copies of their data
}

type pairOptions struct {
	server func(*ServerOptions)
	client func(*ClientOptions)
	token  func(*token.Grant)
}

func newPair(t testing.TB, n *netsim.Net, o pairOptions) *pair {
	t.Helper()
	p := &pair{net: n}
	sep, cep := n.Endpoint("server"), n.Endpoint("client")
	so := ServerOptions{
		Options: testOptions(n.Seed()*2 + 1), Keys: []token.Key{testKey},
		Addresses: []netip.AddrPort{sep.LocalAddr()}}
	if o.server != nil {
		o.server(&so)
	}
	var err error
	if p.server, err = NewServer(so); err != nil {
		t.Fatal(err)
	}
	tok := testToken(t, 7, func(g *token.Grant) {
		g.Servers = []netip.AddrPort{sep.LocalAddr()}
		if o.token != nil {
			o.token(g)
		}
	})
	co := ClientOptions{Options: testOptions(n.Seed()*2 + 2), Token: tok}
	if o.client != nil {
		o.client(&co)
	}
	if p.client, err = NewClient(co); err != nil {
		t.Fatal(err)
	}
	p.sp = &party{ep: sep, machine: p.server}
	p.cp = &party{ep: cep, machine: p.client}
	p.sp.on = func(e *Event) {
		if e.Kind == Connected {
			p.sc = e.Conn
		}
		p.serverEvents = p.note(p.serverEvents, e)
		if p.onServer != nil {
			p.onServer(e)
		}
	}
	p.cp.on = func(e *Event) {
		p.clientEvents = p.note(p.clientEvents, e)
		if p.onClient != nil {
			p.onClient(e)
		}
	}
	p.sp.start()
	p.cp.start()
	return p
}

func (p *pair) note(list []Event, e *Event) []Event {
	if e.Kind == Message && !p.keep {
		return list
	}
	c := *e
	c.Data = append([]byte(nil), e.Data...)
	return append(list, c)
}

func (p *pair) connected() bool { return p.sc != nil && p.client.Conn() != nil }

// connect lets time pass until both ends know that they are connected.
func (p *pair) connect(t testing.TB) {
	t.Helper()
	if err := p.tryConnect(); err != nil {
		t.Fatal(err)
	}
}

func (p *pair) tryConnect() error {
	if !p.net.RunUntil(30*time.Second, p.connected) {
		return fmt.Errorf("not connected after 30 s: client %v, server %+v", p.client.reason,
			p.server.Stats())
	}
	return nil
}

func kinds(events []Event) map[EventKind]int {
	m := map[EventKind]int{}
	for _, e := range events {
		m[e.Kind]++
	}
	return m
}

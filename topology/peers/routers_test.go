package peers_test

import (
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/conn"
	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/paths"
	"github.com/coeval-dev/coeval/topology/peers"
	"github.com/coeval-dev/coeval/topology/relay"
)

// A station is a relay on the network of a table.
type station struct {
	server *relay.Server
	at     *netsim.Endpoint
	key    token.Key
	number uint64
}

func (tb *table) relay() *station {
	s := &station{at: tb.net.Endpoint("relay"), key: tb.seed("relay")}
	o := relay.Options{Voter: peers.Witness, Links: []link.Link{s.at}, Keys: []token.Key{s.key},
		Conn: conn.Options{Wall: 1_700_000_000, Seed: tb.seed("relay's")}}
	var err error
	if s.server, err = relay.New(o); err != nil {
		tb.t.Fatal(err)
	}
	s.at.Every(2*time.Millisecond, func() {
		if err := s.server.Tick(tb.net.Now()); err != nil && tb.failed == nil {
			tb.failed = err
		}
	})
	return s
}

// token is one that lets somebody connect with the relay.
func (s *station) token(tb *table) token.Token {
	s.number++
	random := &stream{seed: tb.seed(fmt.Sprint("token", s.number))}
	tok, err := token.Issue(s.key, token.Grant{Protocol: relay.Protocol, Client: s.number,
		Expires: 1_700_100_000}, random)
	if err != nil {
		tb.t.Fatal(err)
	}
	return tok
}

// meeting makes a machine's connection with the relay.
func (s *station) meeting(tb *table, code relay.Code) *peers.Meeting {
	tok := s.token(tb)
	c, err := relay.NewClient(conn.ClientOptions{Token: tok,
		Servers: []netip.AddrPort{s.at.PublicAddr()},
		Options: conn.Options{Seed: tb.seed(fmt.Sprint("client", s.number)), Wall: 1_700_000_000}})
	if err != nil {
		tb.t.Fatal(err)
	}
	return &peers.Meeting{Client: c, Addrs: []netip.AddrPort{s.at.PublicAddr()}, Code: code}
}

type stream struct {
	seed [32]byte
	n    int
}

func (s *stream) Read(b []byte) (int, error) {
	for i := range b {
		s.n++
		b[i] = s.seed[s.n%32] + byte(s.n)
	}
	return len(b), nil
}

// TestThroughRouters has players behind routers of all kinds meet at a relay. They play at once,
// carried, and directly where their routers let them.
func TestThroughRouters(t *testing.T) {
	tb := newTable(t, netsim.New(netsim.Options{Seed: 5, Conditions: netsim.Cable}),
		peers.Match{Start: 2})
	at := tb.relay()
	kinds := []netsim.NATKind{netsim.FullCone, netsim.AddressRestricted, netsim.PortRestricted,
		netsim.Symmetric, netsim.Symmetric}
	var code relay.Code
	for i, kind := range kinds {
		name := fmt.Sprint("p", i)
		s := tb.sit(name, func(o *peers.Options) {
			o.Ask = nil
			o.Meeting = at.meeting(tb, code)
		}, behind(tb.net.Router("r"+name, netsim.NAT{Kind: kind})))
		if i == 0 {
			tb.until("there is a code", 5*time.Second,
				func() bool { return s.Code() != relay.Code{} })
			code = s.Code()
		}
	}
	took := tb.until("all play", 15*time.Second, tb.allPlay)
	t.Logf("all play after %v", took)
	tb.goesOn(120, 10*time.Second)
	tb.run(5 * time.Second)
	direct, carried := 0, 0
	for _, s := range tb.seats {
		for _, p := range s.Paths() {
			t.Log(s.name, p)
			switch p.Kind {
			case paths.Direct:
				direct++
			case paths.Relay, paths.Over:
				carried++
			default:
				t.Errorf("%s does not reach %d", s.name, p.Member)
			}
		}
	}
	if direct == 0 || carried == 0 {
		t.Errorf("%d paths are direct, %d carried", direct, carried)
	}
}

package conn

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/netsim"
)

// TestPing: a server answers pings with fewer bytes than it was asked with, and remembers nobody;
// what others make up is no answer.
func TestPing(t *testing.T) {
	n := netsim.New(netsim.Options{Seed: 1,
		Conditions: netsim.Both(netsim.Profile{Latency: 30 * time.Millisecond})})
	p := newPair(t, n, pairOptions{})
	p.connect(t)
	c, asked := p.client, p.server.Stats().Requests
	for range 10 {
		c.Ping(c.conn.Addr())
		n.Run(100 * time.Millisecond)
	}
	list := c.Pongs(nil)
	for _, g := range list {
		if g.Addr != c.conn.Addr() || g.Trip < 60*time.Millisecond || g.Trip > 90*time.Millisecond {
			t.Errorf("%+v, and a round trip takes 60 ms", g)
		}
	}
	if len(list) != 10 || len(c.Pongs(nil)) != 0 || p.server.Stats().Requests-asked != 10 {
		t.Errorf("%d of 10 pings were answered, and %d came", len(list),
			p.server.Stats().Requests-asked)
	}
	conns := 0
	p.server.Conns(func(*Conn) bool { conns++; return true })
	if conns != 1 || challengeSize > requestSize {
		t.Errorf("%d connections, and %d bytes are answered by %d", conns, requestSize,
			challengeSize)
	}
	c.Ping(c.conn.Addr())
	c.Flush(n.Now(), nil)
	forged := make([]byte, challengeSize)
	forged[0], forged[1] = kindChallenge, wireVersion
	c.Receive(n.Now(), []link.Datagram{{Addr: c.conn.Addr(), Data: forged}})
	copy(forged[2:], c.pings.open[0].nonce[:])
	elsewhere := netip.AddrPortFrom(c.conn.Addr().Addr(), 1)
	c.Receive(n.Now(), []link.Datagram{{Addr: elsewhere, Data: forged}})
	if list := c.Pongs(nil); len(list) != 0 {
		t.Errorf("believes %v", list)
	}
	for range 10 * maxPings {
		c.Ping(c.conn.Addr())
	}
	if len(c.pings.open) > maxPings {
		t.Errorf("%d pings are open", len(c.pings.open))
	}
}

// TestConnectsToTheNearest: of eight servers, listed in any order, a client connects to one that is
// hardly further than the nearest, over jitter and loss; dead ones do not keep it.
func TestConnectsToTheNearest(t *testing.T) {
	const runs = 100
	near, worst, longest := 0, time.Duration(0), time.Duration(0)
	for seed := range uint64(runs) {
		off, took := raceOnce(t, seed)
		if off <= 3*time.Millisecond {
			near++
		}
		worst, longest = max(worst, off), max(longest, took)
	}
	t.Logf("within 3 ms of the best of 8 in %d of %d runs, %v off at worst; connected after %v "+
		"at most", near, runs, worst, longest)
	if near < 99 {
		t.Errorf("only %d of %d runs found the nearest", near, runs)
	}
}

// raceOnce connects once, and says how much further the server is than the nearest that lives, and
// how long it took.
func raceOnce(t *testing.T, seed uint64) (off, took time.Duration) {
	n := netsim.New(netsim.Options{Seed: seed})
	dice := rand.New(rand.NewPCG(seed, 23))
	end := n.Endpoint("player")
	key := token.Key{1}
	var list []netip.AddrPort
	far := map[netip.AddrPort]time.Duration{}
	best := time.Hour
	for i := range 8 {
		place := n.Endpoint(fmt.Sprint("server ", i))
		way := time.Duration(5+dice.IntN(100)) * time.Millisecond
		n.Connect(end, place, netsim.Both(netsim.Profile{Latency: way, Loss: 0.02,
			Jitter: netsim.Jitter{Amount: 5 * time.Millisecond}}))
		addr := place.PublicAddr()
		list = append(list, addr)
		if i == 0 {
			continue // it is dead
		}
		far[addr], best = 2*way, min(best, 2*way)
		s, err := NewServer(ServerOptions{Keys: []token.Key{key}, Options: raceOptions(byte(i))})
		if err != nil {
			t.Fatal(err)
		}
		pump(place, time.Millisecond, s.Receive, s.Flush)
	}
	tok, err := token.Issue(key, token.Grant{Protocol: 5, Client: 1, Expires: 1000, Servers: list},
		rand.NewChaCha8([32]byte{byte(seed)}))
	if err != nil {
		t.Fatal(err)
	}
	c, err := NewClient(ClientOptions{Options: raceOptions(99), Token: tok, Nearest: true})
	if err != nil {
		t.Fatal(err)
	}
	pump(end, 5*time.Millisecond, c.Receive, c.Flush)
	if !n.RunUntil(10*time.Second, func() bool { return c.Conn() != nil }) {
		t.Fatalf("seed %d: not connected, %v", seed, c.Reason())
	}
	return far[c.Conn().Addr()] - best, n.Now()
}

func raceOptions(seed byte) Options {
	return Options{Protocol: 5, Version: 1, Seed: [32]byte{seed, 7}, Wall: 1,
		Channels: []Channel{{Mode: Ordered}}}
}

// pump drives one end.
func pump(e *netsim.Endpoint, every time.Duration, receive func(time.Duration, []link.Datagram),
	flush func(time.Duration, []link.Datagram) []link.Datagram) {
	batch := make([]link.Datagram, 64)
	e.Every(every, func() {
		for {
			k, err := e.Receive(batch)
			if err != nil || k == 0 {
				break
			}
			receive(e.Net().Now(), batch[:k])
		}
		if out := flush(e.Net().Now(), nil); len(out) > 0 {
			_, _ = e.Send(out) // a simulated link takes all
		}
	})
}

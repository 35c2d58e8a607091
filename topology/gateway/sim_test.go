package gateway

import (
	"fmt"
	"net/netip"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/conn"
	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/topology/client"
	"github.com/coeval-dev/coeval/topology/seamless"
	"github.com/coeval-dev/coeval/topology/server"
	"github.com/coeval-dev/coeval/world"
	"github.com/coeval-dev/coeval/zone"
)

const (
	ms   = time.Millisecond
	wall = 1_700_000_000
)

// sim is a world in zones, its gateways and their clients, in virtual time.
type sim struct {
	t       *testing.T
	title   *game.Title
	net     *netsim.Net
	kept    seamless.Backing
	plan    *seamless.Plan
	key     token.Key
	servers []*zoned
	gates   []*gated
	players []*player
	// away says that what is kept of the cluster cannot be reached.
	away bool
}

// zoned is a server of zones.
type zoned struct {
	*seamless.Member
	end  *netsim.Endpoint
	dead bool
}

// gated is a gateway, with an endpoint for clients and one for the cluster.
type gated struct {
	*Gateway
	end, line *netsim.Endpoint
	dead      bool
}

// player is a client that plays by a bot.
type player struct {
	*client.Client
	end   *netsim.Endpoint
	ended error
	view  client.View
	see   func(v *client.View)
	ticks int // of commands
}

// seeds is how many seeds a test runs: n, or that many times COEVAL_SEEDS.
func seeds(n int) int {
	if k, err := strconv.Atoi(os.Getenv("COEVAL_SEEDS")); err == nil && k > 0 {
		return k * n
	}
	return n
}

func newSim(t *testing.T, seed uint64, o seamless.FoundOptions) *sim {
	t.Helper()
	if testing.Short() {
		t.Skip("it runs in one goroutine, in which the race detector finds nothing")
	}
	t.Logf("seed %d", seed)
	s := &sim{t: t, title: o.Title, kept: seamless.Memory(),
		net: netsim.New(netsim.Options{Seed: seed, Conditions: netsim.LAN})}
	s.key[0] = 7
	o.Cluster = s.kept
	o.Level.Name, o.Level.Seed, o.Level.Secret = o.Title.Levels.First(), seed, seed+1
	var err error
	if s.plan, err = seamless.Found(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *sim) cluster(end *netsim.Endpoint, self int) seamless.Options {
	return seamless.Options{Title: s.title, Cluster: s.kept, Link: end, Keys: []token.Key{{9}},
		Self: zone.ServerID(self), Seed: [32]byte{byte(self)}, Name: end.Name(),
		News: func(n seamless.News) {
			if n.Err != nil {
				s.t.Log(n.Zone, n.Tick, n.Err)
			}
		},
		Simulated: func() time.Duration {
			if s.away {
				return -1
			}
			return time.Duration(500+s.net.Rand().Uint64()%1500) * time.Microsecond
		}}
}

// serve adds a server of zones.
func (s *sim) serve() *zoned {
	x := &zoned{end: s.net.Endpoint(fmt.Sprint("server ", len(s.servers)))}
	x.end.SetInbox(1 << 16)
	var err error
	x.Member, err = seamless.Enter(s.t.Context(), s.cluster(x.end, len(s.servers)+1), nil)
	if err != nil {
		s.t.Fatal(err)
	}
	x.end.Every(2*ms, func() {
		if !x.dead {
			s.check(x.Poll(s.net.Now()))
		}
	})
	s.servers = append(s.servers, x)
	return x
}

func (s *sim) check(err error) {
	if err != nil {
		s.t.Fatalf("seed %d, at %v: %v", s.net.Seed(), s.net.Now(), err)
	}
}

// gate adds a gateway.
func (s *sim) gate() *gated {
	n := len(s.gates)
	x := &gated{end: s.net.Endpoint(fmt.Sprint("gateway ", n)),
		line: s.net.Endpoint(fmt.Sprint("line ", n))}
	x.end.SetInbox(1 << 16)
	x.line.SetInbox(1 << 16)
	o := Options{Cluster: s.cluster(x.line, 100+n), Public: x.end.PublicAddr(),
		Server: server.Options{Title: s.title, Links: []link.Link{x.end},
			Keys: []token.Key{s.key}, Addresses: []netip.AddrPort{x.end.PublicAddr()}, Workers: 1,
			Conn: conn.Options{Seed: [32]byte{1, byte(n)}, Wall: wall}}}
	var err error
	if x.Gateway, err = New(s.t.Context(), o); err != nil {
		s.t.Fatal(err)
	}
	x.end.Every(2*ms, func() {
		if !x.dead {
			s.check(x.Poll(s.net.Now()))
		}
	})
	s.gates = append(s.gates, x)
	return x
}

// play is what a player does.
type play func(w *world.World, me world.Player, t world.Tick, in *world.Inputs)

type plain byte

func (r plain) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = byte(r) + byte(i)
	}
	return len(b), nil
}

// join adds a player at a gateway.
func (s *sim) join(at *gated, c netsim.Conditions, play play,
	see func(*client.View)) *player {
	n := len(s.players) + 1
	p := &player{end: s.net.Endpoint(fmt.Sprint("player ", n)), see: see}
	for _, g := range s.gates {
		s.net.Connect(p.end, g.end, c)
	}
	t, err := token.Issue(s.key, token.Grant{Protocol: token.ProtocolID(s.title.Name()),
		Client: uint64(n), Expires: wall + 3600,
		Servers: []netip.AddrPort{at.end.PublicAddr()}}, plain(n))
	s.check(err)
	p.Client, err = client.New(client.Options{Title: s.title, Link: p.end, Token: t,
		Name: fmt.Sprint("player", n), Conn: conn.Options{Seed: [32]byte{2, byte(n)}, Wall: wall}})
	s.check(err)
	bot := s.title.NewBot(uint64(n))
	command := func(t world.Tick, me world.Player, w *world.World, in *world.Inputs) {
		if p.ticks++; play != nil {
			play(w, me, t, in)
			return
		}
		_ = bot(w, me, t, in)
	}
	p.end.Every(s.title.Game.TickLength(), func() {
		if p.ended != nil {
			return
		}
		v := p.Frame(s.net.Now(), command)
		if p.view = v; v.Ended {
			p.ended = fmt.Errorf("ended: %w", v.Err)
			return
		}
		if p.see != nil {
			p.see(&p.view)
		}
	})
	s.players = append(s.players, p)
	return p
}

// plays says whether a player is in the world and sees its body.
func (p *player) plays() bool {
	if p.view.World == nil || p.view.Me == world.Nobody {
		return false
	}
	for id := range p.view.World.Entities() {
		if p.view.World.Owner(id) == p.view.Me {
			return true
		}
	}
	return false
}

func (s *sim) until(what string, most time.Duration, f func() bool) {
	s.t.Helper()
	if !s.net.RunUntil(most, f) {
		s.t.Fatalf("seed %d: after %v it was still waited until %s", s.net.Seed(), most, what)
	}
}

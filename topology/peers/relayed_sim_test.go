package peers_test

import (
	"crypto/sha256"
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/conn"
	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/topology/peers"
	"github.com/coeval-dev/coeval/topology/relay"
	"github.com/coeval-dev/coeval/world"
)

const relayWall = 1_800_000_000

// A star is a match around a relay, over a simulated network.
type star struct {
	t      testing.TB
	net    *netsim.Net
	at     *netsim.Endpoint
	relay  *relay.Server
	key    token.Key
	match  peers.Match
	seats  []*starSeat
	hashes map[world.Tick]uint64 // of settled worlds, as the first said
	path   netsim.Conditions
	failed error
	log    []string
	game   *world.Game
	first  func(*peers.Match) (*world.World, error)
	count  uint64
	mute   error // in place of tokens
}

// A starSeat is one machine.
type starSeat struct {
	*peers.Relayed
	star   *star
	name   string
	end    *netsim.Endpoint
	opt    peers.RelayedOptions
	down   bool
	life   int
	timer  netsim.Timer
	marked world.Tick
	news   []peers.News
	lies   bool          // its world is not that of the others, and it is not compared here
	moved  time.Duration // when it last showed a new tick
	shown  world.Tick
	stood  time.Duration // the longest that it showed none, since it last began to play
}

func newStar(t testing.TB, n *netsim.Net, m peers.Match) *star {
	s := &star{t: t, net: n, match: m, at: n.Endpoint("relay"), hashes: map[world.Tick]uint64{},
		path: netsim.LAN, game: rules}
	s.key = s.seed("key")
	s.first = func(m *peers.Match) (*world.World, error) {
		return s.game.New(world.Settings{Seed: m.Seed})
	}
	o := relay.Options{Links: []link.Link{s.at}, Keys: []token.Key{s.key},
		Conn: conn.Options{Wall: relayWall, Timeout: 5 * time.Second, Seed: s.seed("relay")}}
	var err error
	if s.relay, err = relay.New(o); err != nil {
		t.Fatal(err)
	}
	s.at.Every(2*time.Millisecond, func() {
		if err := s.relay.Tick(n.Now()); err != nil {
			s.fail(err)
		}
	})
	return s
}

func (s *star) seed(what string) [32]byte {
	return sha256.Sum256([]byte(fmt.Sprint(what, s.net.Seed())))
}

func (s *star) fail(err error) {
	if s.failed == nil {
		s.failed = err
	}
}

// token is one that lets somebody connect with the relay.
func (s *star) token() (token.Token, error) {
	if s.mute != nil {
		return token.Token{}, s.mute
	}
	s.count++
	seed := s.seed(fmt.Sprint("token", s.count))
	return token.Issue(s.key, token.Grant{Protocol: relay.Protocol, Client: s.count,
		Expires: relayWall + 100_000}, &repeats{seed[:]})
}

// repeats reads as bytes over and over.
type repeats struct{ b []byte }

func (r *repeats) Read(to []byte) (int, error) {
	for i := range to {
		to[i] = r.b[i%len(r.b)]
	}
	return len(to), nil
}

// sit adds a machine: the first creates the match.
func (s *star) sit(name string, change func(*peers.RelayedOptions)) *starSeat {
	x := &starSeat{star: s, name: name, end: s.net.Endpoint(name)}
	s.net.Connect(x.end, s.at, s.path)
	x.opt = peers.RelayedOptions{
		Game: s.game, Identity: s.seed("identity " + name), Name: name, Wall: relayWall,
		Timeout: 3 * time.Second, Servers: []netip.AddrPort{s.at.PublicAddr()}, Renew: s.token,
		Style: peers.Rollback(),
		News: func(n peers.News) {
			x.news = append(x.news, n)
			x.say(n.String())
		},
		Input: func(_ *world.World, me world.Player, t world.Tick, in *world.Inputs) {
			random := s.seed(fmt.Sprint(name, t/7))
			_ = world.Give(in, me, walk{X: int8(random[0]%15) - 7, Y: int8(random[1]%15) - 7,
				Fire: random[2]%4 == 0})
		},
	}
	if len(s.seats) == 0 {
		x.opt.Create, x.opt.World = &s.match, s.first
	}
	if change != nil {
		change(&x.opt)
	}
	s.seats = append(s.seats, x)
	x.boot()
	return x
}

func (x *starSeat) say(what string) {
	x.star.log = append(x.star.log,
		fmt.Sprintf("%8.3f %s: %s", x.star.net.Now().Seconds(), x.name, what))
}

// boot starts the machine's program.
func (x *starSeat) boot() {
	s := x.star
	x.life++
	x.down, x.marked, x.shown = false, 0, 0
	o := x.opt
	o.Link, o.Seed = x.end, s.seed(fmt.Sprint("seed", x.name, x.life))
	if o.Create == nil && o.Code == (relay.Code{}) {
		o.Code = s.seats[0].Code()
	}
	var err error
	if o.Token, err = s.token(); err != nil {
		s.t.Fatal(err)
	}
	if x.Relayed, err = peers.NewRelayed(o); err != nil {
		s.t.Fatal(err)
	}
	began := s.net.Now()
	x.timer = x.end.Every(4*time.Millisecond, func() {
		if x.down {
			return
		}
		if err := x.Poll(s.net.Now() - began); err != nil {
			s.fail(fmt.Errorf("%s: %w", x.name, err))
		}
		x.check()
	})
}

// crash ends the program without a word, and restart starts it again, with nothing left but who it
// is and what lets it return.
func (x *starSeat) crash() {
	x.down = true
	x.timer.Stop()
	x.opt.Code, x.opt.Back = x.Code(), x.Back()
	x.opt.Create = nil
	x.say("crashes")
}

func (x *starSeat) restart() {
	x.say("starts again")
	x.boot()
}

// check compares what is settled here with what is settled elsewhere.
func (x *starSeat) check() {
	c, s := x.Copy(), x.star
	if c == nil {
		return
	}
	if c.Shown() != x.shown {
		if x.shown != 0 && x.Phase() == peers.Playing {
			x.stood = max(x.stood, s.net.Now()-x.moved)
		}
		x.shown, x.moved = c.Shown(), s.net.Now()
	}
	for _, m := range c.Marks() {
		if m.Tick <= x.marked || m.Tick > c.Settled() || x.lies {
			continue
		}
		x.marked = m.Tick
		if h, ok := s.hashes[m.Tick]; !ok {
			s.hashes[m.Tick] = m.Hash
		} else if h != m.Hash {
			s.fail(fmt.Errorf("%s has settled another world at tick %d", x.name, m.Tick))
		}
	}
}

func (s *star) dump() {
	for _, l := range s.log {
		s.t.Log(l)
	}
	for _, x := range s.seats {
		s.t.Log(x.Relayed, x.Stats(), x.down)
	}
}

func (s *star) run(d time.Duration) {
	s.t.Helper()
	s.net.RunUntil(d, func() bool { return s.failed != nil })
	if s.failed != nil {
		s.dump()
		s.t.Fatalf("seed %d: %v", s.net.Seed(), s.failed)
	}
}

// until runs until something is true.
func (s *star) until(what string, most time.Duration, done func() bool) time.Duration {
	s.t.Helper()
	from := s.net.Now()
	if !s.net.RunUntil(most, func() bool { return s.failed != nil || done() }) ||
		s.failed != nil {
		s.dump()
		s.t.Fatalf("seed %d: after %v not: %s (%v)", s.net.Seed(), most, what, s.failed)
	}
	return s.net.Now() - from
}

// opens has the first seat make the match, so that others have a code.
func (s *star) opens() {
	s.t.Helper()
	s.until("there is a match", 5*time.Second,
		func() bool { return s.seats[0].Code() != relay.Code{} })
}

func (s *star) allPlay() bool {
	for _, x := range s.seats {
		if x.down {
			continue
		}
		if x.opt.Watch && x.Copy() == nil || !x.opt.Watch && x.Phase() != peers.Playing {
			return false
		}
	}
	return true
}

// goesOn has all settle so many more ticks.
func (s *star) goesOn(ticks world.Tick, most time.Duration) {
	s.t.Helper()
	at := map[*starSeat]world.Tick{}
	for _, x := range s.seats {
		if !x.down && x.World() != nil {
			at[x] = x.Copy().Settled()
		}
	}
	s.until("all go on", most, func() bool {
		for x, t := range at {
			if !x.down && (x.Copy() == nil || x.Copy().Settled() < t+ticks) {
				return false
			}
		}
		return true
	})
}

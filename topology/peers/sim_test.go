package peers_test

import (
	"crypto/sha256"
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/topology/peers"
	"github.com/coeval-dev/coeval/world"
)

// A table is a match over a simulated network.
type table struct {
	t      testing.TB
	net    *netsim.Net
	match  peers.Match
	seats  []*seat
	hashes map[world.Tick]uint64 // of settled worlds, as the first said
	turns  map[world.Tick]uint64
	failed error
	log    []string
	path   netsim.Conditions
	secret [32]byte
	loose  bool // worlds may differ for now
	after  func(name string, w *world.World, in *world.Inputs)
}

// A seat is one machine.
type seat struct {
	*peers.Peer
	name   string
	table  *table
	end    *netsim.Endpoint
	opt    peers.Options
	down   bool
	life   int
	timer  netsim.Timer
	marked world.Tick
}

func newTable(t testing.TB, n *netsim.Net, m peers.Match) *table {
	return &table{t: t, net: n, match: m, hashes: map[world.Tick]uint64{},
		turns: map[world.Tick]uint64{}, path: netsim.LAN,
		secret: sha256.Sum256([]byte(fmt.Sprint("secret", n.Seed())))}
}

func (tb *table) seed(what string) [32]byte {
	return sha256.Sum256([]byte(fmt.Sprint(what, tb.net.Seed())))
}

// sit adds a machine: the first founds the match.
func (tb *table) sit(name string, change func(*peers.Options),
	place ...func(*netsim.Endpoint)) *seat {
	s := &seat{name: name, table: tb, end: tb.net.Endpoint(name)}
	for _, f := range place {
		f(s.end)
	}
	for _, o := range tb.seats {
		tb.net.Connect(s.end, o.end, tb.path)
	}
	s.opt = peers.Options{
		Game: rules, Identity: tb.seed("identity " + name), Name: name, Secret: tb.secret,
		Wall: 1_700_000_000, Style: peers.Rollback(),
		News: func(n peers.News) { s.say(n.String()) },
		Input: func(_ *world.World, me world.Player, t world.Tick, in *world.Inputs) {
			random := tb.seed(fmt.Sprint(name, t/7))
			_ = world.Give(in, me, walk{X: int8(random[0]%15) - 7, Y: int8(random[1]%15) - 7,
				Fire: random[2]%4 == 0})
		},
	}
	if len(tb.seats) == 0 {
		s.opt.Match = &tb.match
		s.opt.World = func(m *peers.Match) (*world.World, error) {
			return rules.New(world.Settings{Seed: m.Seed})
		}
	}
	for _, o := range tb.seats {
		if o.opt.Watch == false || len(s.opt.Ask) == 0 {
			s.opt.Ask = append(s.opt.Ask, o.end.PublicAddr())
		}
	}
	if change != nil {
		change(&s.opt)
	}
	tb.seats = append(tb.seats, s)
	s.boot()
	return s
}

// behind places a machine behind a router.
func behind(r *netsim.Router) func(*netsim.Endpoint) {
	return func(e *netsim.Endpoint) { e.Behind(r) }
}

func (s *seat) say(what string) {
	s.table.log = append(s.table.log,
		fmt.Sprintf("%8.3f %s: %s", s.table.net.Now().Seconds(), s.name, what))
}

// boot starts the machine's program.
func (s *seat) boot() {
	s.life++
	s.down = false
	o := s.opt
	if o.Link = s.end; s.end.Router() == nil {
		o.Address = s.end.PublicAddr()
	}
	o.Seed = s.table.seed(fmt.Sprint("seed", s.name, s.life))
	p, err := peers.New(o)
	if err != nil {
		s.table.t.Fatal(err)
	}
	s.Peer, s.marked = p, 0
	began := s.table.net.Now()
	s.timer = s.end.Every(4*time.Millisecond, func() {
		if s.down {
			return
		}
		if err := s.Poll(s.table.net.Now() - began); err != nil && s.table.failed == nil {
			s.table.failed = fmt.Errorf("%s: %w", s.name, err)
		}
		s.check()
	})
}

// crash ends the program without a word.
func (s *seat) crash() {
	s.down = true
	s.timer.Stop()
	s.say("crashes")
}

// restart starts it again, with nothing left but who it is.
func (s *seat) restart() {
	s.opt.Match, s.opt.World, s.opt.Ask = nil, nil, nil
	for _, o := range s.table.seats {
		if o != s {
			s.opt.Ask = append(s.opt.Ask, o.end.PublicAddr())
		}
	}
	s.say("starts again")
	s.boot()
}

// check compares what is settled here with what is settled elsewhere.
func (s *seat) check() {
	c := s.Copy()
	if c == nil || s.table.loose {
		return
	}
	for _, m := range c.Marks() {
		if m.Tick <= s.marked || m.Tick > c.Settled() {
			continue
		}
		s.marked = m.Tick
		if h, ok := s.table.hashes[m.Tick]; !ok {
			s.table.hashes[m.Tick], s.table.turns[m.Tick] = m.Hash, m.Turns
		} else if h != m.Hash && s.table.failed == nil {
			s.table.failed = fmt.Errorf("%s has settled another world at tick %d (turns %v)",
				s.name,
				m.Tick, s.table.turns[m.Tick] == m.Turns)
		}
	}
}

func (tb *table) run(d time.Duration) {
	tb.net.RunUntil(d, func() bool { return tb.failed != nil })
	if tb.failed != nil {
		tb.dump()
		tb.t.Fatalf("seed %d: %v", tb.net.Seed(), tb.failed)
	}
}

func (tb *table) dump() {
	for _, l := range tb.log {
		tb.t.Log(l)
	}
	for _, s := range tb.seats {
		tb.t.Log(s.Peer, s.Stats(), s.down)
	}
}

// until runs until something is true.
func (tb *table) until(what string, most time.Duration, done func() bool) time.Duration {
	from := tb.net.Now()
	if !tb.net.RunUntil(most, func() bool { return tb.failed != nil || done() }) ||
		tb.failed != nil {
		tb.dump()
		tb.t.Fatalf("seed %d: after %v not: %s (%v)", tb.net.Seed(), most, what, tb.failed)
	}
	return tb.net.Now() - from
}

func (tb *table) allPlay() bool {
	for _, s := range tb.seats {
		if !s.down && !s.opt.Watch && s.Phase() != peers.Playing {
			return false
		}
	}
	return true
}

// goesOn has all who play show so many more ticks.
func (tb *table) goesOn(ticks world.Tick, most time.Duration) {
	tb.t.Helper()
	at := map[*seat]world.Tick{}
	for _, s := range tb.seats {
		if !s.down && s.World() != nil {
			at[s] = s.World().Tick()
		}
	}
	tb.until("all go on", most, func() bool {
		for s, t := range at {
			if !s.down && (s.Copy() == nil || s.Copy().Settled() < t+ticks) {
				return false
			}
		}
		return true
	})
}

func TestTwoPlay(t *testing.T) {
	tb := newTable(t, netsim.New(netsim.Options{Seed: 1}), peers.Match{Start: 2})
	tb.sit("ann", nil)
	tb.sit("bob", nil)
	t.Log(tb.until("both play", 5*time.Second, tb.allPlay))
	tb.goesOn(300, 10*time.Second)
	for _, s := range tb.seats {
		t.Log(s.Peer, s.Stats(), s.Copy().Stats(), s.Delay())
	}
	if len(tb.hashes) < 4 {
		t.Fatalf("%d worlds were compared", len(tb.hashes))
	}
}

func TestEightPlay(t *testing.T) {
	tb := newTable(t, netsim.New(netsim.Options{Seed: 2}), peers.Match{Start: 2})
	tb.path = netsim.WiFi
	for i := range 8 {
		tb.sit(fmt.Sprint("p", i), func(o *peers.Options) {
			if i%2 == 1 {
				o.Style = peers.Lockstep()
			}
		})
	}
	t.Log(tb.until("all play", 10*time.Second, tb.allPlay))
	tb.goesOn(300, 10*time.Second)
	for _, s := range tb.seats {
		t.Log(s.Peer, s.Stats(), s.Copy().Stats(), s.Delay())
	}
}

var _ netip.AddrPort

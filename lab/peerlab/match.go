package peerlab

import (
	"context"
	"crypto/sha256"
	"fmt"
	"time"

	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/lab"
	"github.com/coeval-dev/coeval/lab/session"
	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/timeline/turns"
	"github.com/coeval-dev/coeval/topology/peers"
	"github.com/coeval-dev/coeval/world"
)

// A match is machines on a simulated network that play one title.
type match struct {
	ctx    context.Context
	o      *Options
	rules  *world.Game
	world  func() (*world.World, error)
	bot    func(i int) game.Bot
	founds peers.Match
	style  peers.Style

	net   *netsim.Net
	hub   *hub // nil in a mesh
	seats []*seat
	coder *turns.Coder
	given [peers.MaxSeats + 1]given // by player
	err   error

	on     bool // it is measured
	since  time.Duration
	hashes map[world.Tick]uint64 // of settled worlds, as the first said
	count  Compared
	series []Moment
}

// Compared counts settled worlds that were held against those of others.
type Compared struct {
	Compared  int `json:"compared" head:"worlds compared"`
	Different int `json:"different" head:"different"`
}

// newMatch makes a match with nobody in it. What is played is set by the caller.
func newMatch(ctx context.Context, o *Options, g *world.Game) *match {
	m := &match{ctx: ctx, o: o, rules: g, net: netsim.New(netsim.Options{Seed: o.Seed}),
		coder: turns.NewCoder(g), hashes: map[world.Tick]uint64{}}
	if o.Relay {
		m.open()
	}
	return m
}

func (m *match) fail(err error) {
	if m.err == nil && err != nil {
		m.err = fmt.Errorf("seed %d, at %v: %w", m.net.Seed(), m.net.Now(), err)
	}
}

// now is the processor's time, if that is measured.
func (m *match) now() time.Duration {
	if m.o.Clock == nil {
		return 0
	}
	return m.o.Clock()
}

func (m *match) secret(of string) [32]byte {
	return sha256.Sum256(fmt.Appendf(nil, "peerlab %d %s", m.net.Seed(), of))
}

// sit adds a machine. The first founds the match, and the others ask all that are there.
func (m *match) sit() *seat {
	i := len(m.seats)
	name := fmt.Sprintf("peer %d", i+1)
	s := &seat{match: m, end: m.net.Endpoint(name), image: make([]int32, m.coder.Len()),
		bot: m.bot(i), sat: m.net.Now()}
	s.end.SetInbox(1 << 12)
	s.line = &line{Endpoint: s.end}
	o := peers.Options{
		Game: m.rules, Link: s.line, Seed: m.secret("seed " + name),
		Identity: m.secret("identity " + name), Secret: m.secret("secret"), Name: name,
		Wall: session.Wall, Address: s.end.PublicAddr(), Input: s.command, After: s.after,
		News: s.news, Style: m.style, Packets: m.o.Packets,
	}
	p, err := m.machine(s, i, &o)
	m.seats = append(m.seats, s)
	if s.machine = p; err != nil {
		s.machine = nil
		m.fail(err)
		return s
	}
	// Machines are not in step with each other.
	s.end.After(session.Offset(m.rules.TickLength(), i, 8), s.poll)
	return s
}

// machine makes a machine: one of a mesh, or one that plays by a relay's rows.
func (m *match) machine(s *seat, i int, o *peers.Options) (machine, error) {
	if m.hub != nil {
		return m.follow(s, i, o)
	}
	if i == 0 {
		o.Match = &m.founds
		o.World = func(*peers.Match) (*world.World, error) { return m.world() }
	}
	for _, other := range m.seats {
		m.net.Connect(s.end, other.end, m.o.Conditions)
		o.Ask = append(o.Ask, other.end.PublicAddr())
	}
	return peers.New(*o)
}

// until lets time go by until something is so, and fails if it is not in time.
func (m *match) until(d time.Duration, what string, done func() bool) {
	if m.err != nil {
		return
	}
	if !m.net.RunUntil(m.net.Now()+d, func() bool {
		m.fail(m.ctx.Err())
		return m.err != nil || done()
	}) {
		m.fail(fmt.Errorf("not within %v: %s", d, what))
	}
}

// pass lets time go by.
func (m *match) pass(d time.Duration, p lab.Progress, what string) {
	if m.err != nil {
		return
	}
	begin := m.net.Now()
	err := session.Advance(m.ctx, m.net, d, 100*time.Millisecond, func() bool {
		p.Tell(float64(m.net.Now()-begin)/float64(max(d, 1)), what)
		return m.err != nil
	})
	m.fail(err)
}

func (m *match) playing() bool {
	for _, s := range m.seats {
		if !s.plays() {
			return false
		}
	}
	return true
}

// begin starts to measure.
func (m *match) begin() {
	m.on, m.since = true, m.net.Now()
	for _, s := range m.seats {
		s.begin()
	}
	if m.hub != nil {
		m.hub.begin()
	}
	m.net.Every(time.Second, m.moment)
}

func (m *match) close() {
	for _, s := range m.seats {
		if s.machine != nil {
			_ = s.Close()
		}
	}
}

// given is what one player has commanded in the last ticks.
type given struct {
	last  world.Tick
	image []int32
	ring  session.Ring[command]
}

// A command is one that was given for a tick.
type command struct {
	at    time.Duration
	image []int32
	fresh bool // nobody could have guessed it
	asked bool // a bot gave it, rather than that it was repeated because the delay has grown
}

// give notes a command. Those between the last and this one were repeated.
func (m *match) give(p world.Player, t world.Tick, image []int32) {
	g := &m.given[p]
	if g.image == nil || t > g.last+session.Remember/4 || t <= g.last {
		g.image = make([]int32, m.coder.Len())
		m.coder.Start(g.image)
		g.last = t - 1
	}
	for g.last+1 < t {
		g.last++
		m.coder.Repeat(g.image)
		g.note(m.net.Now(), g.image, false, false)
	}
	g.last = t
	m.coder.Repeat(g.image)
	fresh := !equal(g.image, image)
	copy(g.image, image)
	g.note(m.net.Now(), g.image, fresh, true)
}

func (g *given) note(now time.Duration, image []int32, fresh, asked bool) {
	c := g.ring.Put(g.last)
	c.at, c.fresh, c.asked = now, fresh, asked
	c.image = append(c.image[:0], image...)
}

func equal(a, b []int32) bool {
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return len(a) == len(b)
}

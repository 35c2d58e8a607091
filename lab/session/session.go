// Package session has bots play a title over a simulated network, in virtual time, each through a
// client of its own. It is what experiments share that watch what clients are told and show.
//
//	lab/feellab, bandwidthlab, mirrorlab   what is measured
//	lab/session                            who plays             <- here
//	topology, crimp, netsim                what it is played on
package session

import (
	"cmp"
	"context"
	"fmt"
	"net/netip"
	"time"

	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/lab"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/topology/server"
	"github.com/coeval-dev/coeval/world"
)

// A Session is a simulated network with players on it, whoever serves them.
type Session struct {
	Title  *lab.Subject
	Body   int // class of what players move about in
	ctx    context.Context
	Net    *netsim.Net
	Random lab.Random
	Key    token.Key
	Guests []*Guest
	Of     map[world.Player]*Guest
	About  string // what is played, for errors
	Err    error

	On    bool          // it is measured
	Since time.Duration // from when
	// What guests met since: causes of corrections, frames, and by how many ticks clients were past
	// their newest snapshot, over all frames.
	Causes Causes
	Looks  int
	Ahead  float64

	// Host is the plain server, and End where it is, if Serve made one.
	Host *server.Server
	End  *netsim.Endpoint
	// Timed, if set, is given all that Drive does, to do it.
	Timed func(do func())
}

// Wall is the time of day when simulated networks begin.
const Wall = 1_800_000_000

// New makes a session without anyone in it. It fails when the context ends.
func New(ctx context.Context, title *lab.Subject, seed uint64, about string) *Session {
	n := netsim.New(netsim.Options{Seed: seed})
	s := &Session{
		ctx: ctx, Title: title, Body: title.BodyClass(), Net: n,
		Random: lab.Random{Rand: n.Rand()}, Of: map[world.Player]*Guest{}, About: about}
	_, _ = s.Random.Read(s.Key[:])
	return s
}

// Fail ends the session with an error. The first counts: all that lets time pass does nothing
// after it.
func (s *Session) Fail(err error) {
	if s.Err == nil && err != nil {
		s.Err = fmt.Errorf("%sseed %d, at %v: %w", s.About, s.Net.Seed(), s.Net.Now(), err)
	}
}

// Endpoint makes one for a server, which many send to.
func (s *Session) Endpoint(name string) *netsim.Endpoint {
	e := s.Net.Endpoint(name)
	e.SetInbox(1 << 16)
	return e
}

// Server are the options of a server for clients that all kinds share.
func (s *Session) Server(players int, seed [32]byte) server.Options {
	o := server.Options{
		Title: s.Title.Title, Level: s.Title.On(s.Net.Seed() + 1), Players: players, Workers: 1}
	o.Conn.Seed, o.Conn.Wall = seed, Wall
	return o
}

// Serve makes a plain server, which Close closes.
func (s *Session) Serve(o server.Options) {
	s.End = s.Endpoint("server")
	o.Links, o.Keys = []link.Link{s.End}, []token.Key{s.Key}
	var err error
	s.Host, err = server.New(o)
	s.Fail(err)
}

// pollsATick is how often a server looks for datagrams in a tick.
const pollsATick = 4

// Drive lets the plain server tick, and look for datagrams in between as server.Run does.
func (s *Session) Drive() {
	turn := 0
	poll := func() {
		if turn++; turn%pollsATick == 0 {
			s.Fail(s.Host.Tick(s.Net.Now()))
		} else {
			s.Fail(s.Host.Receive(s.Net.Now()))
		}
	}
	every := poll
	if s.Timed != nil {
		every = func() { s.Timed(poll) }
	}
	s.End.Every(s.Title.Game.TickLength()/pollsATick, every)
}

// Token is for a client of a server.
func (s *Session) Token(client uint64, to netip.AddrPort) (token.Token, error) {
	grant := token.Grant{
		Protocol: token.ProtocolID(s.Title.Name()), Client: client, Expires: Wall + 86400,
		Servers: []netip.AddrPort{to}}
	return token.Issue(s.Key, grant, s.Random)
}

// Advance lets a network's time go by, a step at a time, until it is enough.
func Advance(ctx context.Context, net *netsim.Net, d, step time.Duration,
	enough func() bool) error {
	for end := net.Now() + d; !enough() && net.Now() < end; net.Run(min(step, end-net.Now())) {
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

// Wait lets time go by until something is so, or for as long as it is worth waiting.
func (s *Session) Wait(d, step time.Duration, done func() bool) error {
	err := Advance(s.ctx, s.Net, d, step, func() bool { return s.Err != nil || done() })
	s.Err = cmp.Or(s.Err, err)
	return s.Err
}

// Pass lets time go by, and tells how far it has come.
func (s *Session) Pass(d time.Duration, p lab.Progress, what string) error {
	begin := s.Net.Now()
	return s.Wait(d, 100*time.Millisecond, func() bool {
		p.Tell(float64(s.Net.Now()-begin)/float64(max(d, 1)), what)
		return false
	})
}

// Until lets time go by until something is so, and fails if it is not in time.
func (s *Session) Until(d time.Duration, what string, done func() bool) error {
	if !s.Net.RunUntil(d, func() bool {
		s.Err = cmp.Or(s.Err, s.ctx.Err())
		return s.Err != nil || done()
	}) {
		s.Fail(fmt.Errorf("not within %v: %s", d, what))
	}
	return s.Err
}

// Play warms up, begins to measure, and measures.
func (s *Session) Play(warm, measured time.Duration, begin func(), p lab.Progress,
	what string) error {
	share := float64(warm) / float64(warm+measured)
	if err := s.Pass(warm, p.Within(0, share), what); err != nil {
		return err
	}
	s.On, s.Since = true, s.Net.Now()
	begin()
	return s.Pass(measured, p.Within(share, 1-share), what)
}

// Witness notes which of a server's own players were hit in the tick of a world, or died, or came
// back.
func (s *Session) Witness(w *world.World, mine func(u *Guest) bool) {
	t := w.Tick()
	s.Title.Hits(w, func(h game.Hit) bool {
		for _, u := range s.Guests {
			if h.Victim == u.Me && mine(u) {
				u.struck = t
			}
		}
		return true
	})
	for id := range w.Host().Of(s.Body) {
		u := s.Of[w.Owner(id)]
		if u == nil || !mine(u) {
			continue
		}
		if life, alive := game.Lives(w, id); life != u.life || alive != u.alive {
			u.life, u.alive, u.struck = life, alive, t
		}
	}
}

// Strike notes that a player was hit, or something else happened to the player's body, which is
// told with the tick given.
func (s *Session) Strike(p world.Player, t world.Tick) {
	if u := s.Of[p]; u != nil {
		u.struck = max(u.struck, t)
	}
}

// Close closes all clients, and the plain server: the network is no more.
func (s *Session) Close() {
	for _, u := range s.Guests {
		if u.Client != nil {
			_ = u.Client.Close()
		}
	}
	if s.Host != nil {
		_ = s.Host.Close()
	}
}

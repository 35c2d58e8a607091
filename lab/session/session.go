// Package session has bots play a title over a simulated network, in virtual time, each through a
// client of its own. It is what experiments share that watch what clients are told and show.
//
//	lab/feellab, bandwidthlab, mirrorlab   what is measured
//	lab/session                            who plays             <- here
//	topology, crimp, netsim                what it is played on
package session

import (
	"context"
	"fmt"
	"net/netip"
	"time"

	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/lab"
	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/topology/server"
	"github.com/coeval-dev/coeval/world"
)

// A Session is a simulated network with players on it, whoever serves them.
type Session struct {
	Title  *lab.Subject
	Body   int // class of what players move about in
	Net    *netsim.Net
	Random lab.Random
	Key    token.Key
	Guests []*Guest
	Of     map[world.Player]*Guest
	About  string // what is played, for errors
	Err    error

	On    bool          // it is measured
	Since time.Duration // from when
}

// Wall is the time of day when simulated networks begin.
const Wall = 1_800_000_000

// New makes a session without anyone in it.
func New(title *lab.Subject, seed uint64, about string) *Session {
	n := netsim.New(netsim.Options{Seed: seed})
	s := &Session{
		Title: title, Body: title.BodyClass(), Net: n, Random: lab.Random{Rand: n.Rand()},
		Of: map[world.Player]*Guest{}, About: about}
	_, _ = s.Random.Read(s.Key[:])
	return s
}

// Fail ends the session with an error. The first counts.
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

// pollsATick is how often a server looks for datagrams in a tick.
const pollsATick = 4

// Drive lets a server tick, and look for datagrams in between as server.Run does.
func (s *Session) Drive(end *netsim.Endpoint, srv *server.Server) {
	turn := 0
	end.Every(s.Title.Game.TickLength()/pollsATick, func() {
		if turn++; turn%pollsATick == 0 {
			s.Fail(srv.Tick(s.Net.Now()))
		} else {
			s.Fail(srv.Receive(s.Net.Now()))
		}
	})
}

// Token is for a client of a server.
func (s *Session) Token(client uint64, to netip.AddrPort) (token.Token, error) {
	grant := token.Grant{
		Protocol: token.ProtocolID(s.Title.Name()), Client: client, Expires: Wall + 86400,
		Servers: []netip.AddrPort{to}}
	return token.Issue(s.Key, grant, s.Random)
}

// Pass lets time go by, and tells how far it has come.
func (s *Session) Pass(ctx context.Context, d time.Duration, tell func(done float64)) error {
	for begin, end := s.Net.Now(), s.Net.Now()+d; s.Net.Now() < end && s.Err == nil; {
		if err := ctx.Err(); err != nil {
			return err
		}
		s.Net.Run(min(100*time.Millisecond, end-s.Net.Now()))
		if tell != nil {
			tell(float64(s.Net.Now()-begin) / float64(d))
		}
	}
	return s.Err
}

// Until lets time go by until something is so.
func (s *Session) Until(ctx context.Context, d time.Duration, what string, done func() bool) error {
	for end := s.Net.Now() + d; s.Err == nil && !done(); {
		if err := ctx.Err(); err != nil {
			return err
		}
		if s.Net.Now() >= end {
			s.Fail(fmt.Errorf("not within %v: %s", d, what))
			break
		}
		s.Net.RunUntil(min(100*time.Millisecond, end-s.Net.Now()),
			func() bool { return s.Err != nil || done() })
	}
	return s.Err
}

// Play warms up, begins to measure, and measures.
func (s *Session) Play(ctx context.Context, warm, measured time.Duration, begin func(),
	tell func(done float64)) error {
	all := float64(warm + measured)
	if err := s.Pass(ctx, warm, func(d float64) { tell(d * float64(warm) / all) }); err != nil {
		return err
	}
	s.On, s.Since = true, s.Net.Now()
	begin()
	return s.Pass(ctx, measured,
		func(d float64) { tell((float64(warm) + d*float64(measured)) / all) })
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

// Close closes all clients: the network is no more.
func (s *Session) Close() {
	for _, u := range s.Guests {
		if u.Client != nil {
			_ = u.Client.Close()
		}
	}
}

package mirrorlab

import (
	"context"
	"encoding/binary"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/lab"
	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/topology/server"
	"github.com/coeval-dev/coeval/world"
)

// A stage is a simulated network with players on it, whoever serves them.
type stage struct {
	o      *Options
	g      *lab.Subject
	body   int // class
	net    *netsim.Net
	key    token.Key
	guests []*guest
	of     map[world.Player]*guest
	err    error

	on    bool          // it is measured
	since time.Duration // from when
	kept  causes
	looks int
	ahead float64
}

// causes count corrections.
type causes struct{ all, takenBack, struck, contact int }

// wall is the time of day when simulated networks begin.
const wall = 1_800_000_000

func newStage(o *Options, seed uint64) *stage {
	s := &stage{o: o, g: o.subject, body: o.subject.BodyClass(), of: map[world.Player]*guest{}, net: netsim.New(netsim.Options{Seed: seed})}
	_, _ = draws{s.net.Rand()}.Read(s.key[:])
	return s
}

// draws makes keys and tokens that are the same in each run.
type draws struct{ r *netsim.Rand }

func (e draws) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = byte(e.r.Uint64())
	}
	return len(b), nil
}

// seed makes one for a part of the run that has these numbers.
func (s *stage) seed(parts ...int) (out [32]byte) {
	binary.BigEndian.PutUint64(out[:], s.net.Seed()+1)
	for i, p := range parts {
		binary.BigEndian.PutUint32(out[8+4*i:], uint32(p)+1)
	}
	return out
}

// server are the options of a server for clients that all kinds share.
func (s *stage) server(players int, seed [32]byte) server.Options {
	o := server.Options{
		Title: s.g.Title, Level: s.g.On(s.net.Seed() + 1),
		Players: players, Spectators: -1, Workers: 1, SnapshotRate: s.o.SnapshotRate,
	}
	o.Conn.Seed, o.Conn.Wall = seed, wall
	return o
}

func (s *stage) token(client uint64, to netip.AddrPort) (token.Token, error) {
	return token.Issue(s.key, token.Grant{Protocol: token.ProtocolID(s.g.Name()), Client: client, Expires: wall + 86400, Servers: []netip.AddrPort{to}}, draws{s.net.Rand()})
}

func (s *stage) fail(err error) {
	if s.err == nil && err != nil {
		s.err = fmt.Errorf("seed %d, at %v: %w", s.net.Seed(), s.net.Now(), err)
	}
}

// pass lets time go by, and tells how far it has come.
func (s *stage) pass(ctx context.Context, d time.Duration, tell func(done float64)) error {
	for begin, end := s.net.Now(), s.net.Now()+d; s.net.Now() < end && s.err == nil; {
		if err := ctx.Err(); err != nil {
			return err
		}
		s.net.Run(min(100*time.Millisecond, end-s.net.Now()))
		if tell != nil {
			tell(float64(s.net.Now()-begin) / float64(d))
		}
	}
	return s.err
}

// until lets time go by until something is so.
func (s *stage) until(ctx context.Context, d time.Duration, what string, done func() bool) error {
	for end := s.net.Now() + d; s.err == nil && !done(); {
		if err := ctx.Err(); err != nil {
			return err
		}
		if s.net.Now() >= end {
			s.fail(fmt.Errorf("not within %v: %s", d, what))
			break
		}
		s.net.RunUntil(min(100*time.Millisecond, end-s.net.Now()), func() bool { return s.err != nil || done() })
	}
	return s.err
}

// allPlay says whether every client is shown its own body, but for those who get none.
func (s *stage) allPlay() bool {
	return !slices.ContainsFunc(s.guests, func(u *guest) bool { return !u.plays() && !u.watches() })
}

// begin starts to measure.
func (s *stage) begin() {
	s.on, s.since = true, s.net.Now()
	for _, u := range s.guests {
		u.mark()
	}
}

// witness notes which of a server's own players were hit in the tick of a world, or died, or came back.
func (s *stage) witness(w *world.World, mine func(u *guest) bool) {
	t := w.Tick()
	s.g.Hits(w, func(h game.Hit) bool {
		for _, u := range s.guests {
			if h.Victim == u.me && mine(u) {
				u.struck = t
			}
		}
		return true
	})
	for id := range w.Host().Of(s.body) {
		u := s.of[w.Owner(id)]
		if u == nil || !mine(u) {
			continue
		}
		if life, alive := game.Lives(w, id); life != u.life || alive != u.alive {
			u.life, u.alive, u.struck = life, alive, t
		}
	}
}

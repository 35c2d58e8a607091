package seamless

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/coeval-dev/coeval/topology/drive"
	"github.com/coeval-dev/coeval/world"
	"github.com/coeval-dev/coeval/zone"
)

// A Server runs zones of a world, together with others. It is made by New and driven by Run, in one
// goroutine; Do and what is said to do so may be called from any.
type Server struct {
	opt   Options
	calls drive.Calls
	node  *node // belongs to Run

	mu       sync.Mutex
	commands []commanded
	spare    []commanded
}

// commanded is what a player commands, until the server's next turn.
type commanded struct {
	who   world.Player
	image []int32
}

// New makes a server of the world that a cluster keeps. It does nothing before Run.
func New(o Options) (*Server, error) {
	if err := o.fill(); err != nil {
		return nil, err
	}
	if _, err := placesOf(o.Title); err != nil {
		return nil, err
	}
	return &Server{opt: o}, nil
}

// Self is the server's number.
func (s *Server) Self() zone.ServerID { return s.opt.Self }

// ErrStopped says that Run has ended, so that nothing more is done.
var ErrStopped = drive.ErrStopped

// ErrFull says that nobody can join, as there are as many players as there may be.
var ErrFull = errors.New("seamless: there are as many players as there may be")

// Do has f called by the goroutine that runs the server, and waits for it. Before the server has
// found its world the methods that f may use give nothing.
func (s *Server) Do(ctx context.Context, f func()) error { return s.calls.Do(ctx, f) }

// Join lets a player into the world, from any goroutine. The error is the context's, ErrFull or
// ErrStopped.
func (s *Server) Join(ctx context.Context) (world.Player, error) {
	var b [8]byte
	if _, err := rand.Read(b[:]); err != nil {
		return world.Nobody, fmt.Errorf("seamless: %w", err)
	}
	who, err := s.request(ctx, &request{nonce: binary.BigEndian.Uint64(b[:])})
	if err == nil && who == world.Nobody {
		err = ErrFull
	}
	return who, err
}

// Leave has a player leave the world, from any goroutine. When it returns without an error that is
// durable.
func (s *Server) Leave(ctx context.Context, who world.Player) error {
	if who == world.Nobody {
		return errors.New("seamless: nobody cannot leave")
	}
	_, err := s.request(ctx, &request{who: who})
	return err
}

// request asks for something and waits for the answer.
func (s *Server) request(ctx context.Context, r *request) (world.Player, error) {
	answer := make(chan world.Player, 1)
	r.then = func(who world.Player) { answer <- who }
	begin := func() bool {
		if s.node != nil {
			s.node.ask(r)
		}
		return s.node != nil
	}
	for asked := false; !asked; {
		if err := s.Do(ctx, func() { asked = begin() }); err != nil {
			return world.Nobody, err
		}
		if !asked && !pause(ctx, askAgain) {
			return world.Nobody, context.Cause(ctx)
		}
	}
	select {
	case who := <-answer:
		return who, nil
	case <-ctx.Done():
	}
	err := context.Cause(ctx)
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	_ = s.Do(stop, func() { r.over = true })
	return world.Nobody, err
}

// pause waits, unless the context ends before.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// Command gives a player's command, as an image by Game.Commands, to wherever the player is: for
// the next tick there. It may be lost on its way, as the next is about to come. It may be called
// from any goroutine, and does not wait.
func (s *Server) Command(who world.Player, image []int32) {
	s.mu.Lock()
	n := len(s.commands)
	if n < cap(s.commands) {
		s.commands = s.commands[:n+1]
	} else if n < maxCommands {
		s.commands = append(s.commands, commanded{})
	} else {
		s.mu.Unlock()
		return
	}
	c := &s.commands[n]
	c.who, c.image = who, append(c.image[:0], image...)
	s.mu.Unlock()
	s.calls.Wake()
}

// maxCommands is how many wait for a server's next turn.
const maxCommands = 1 << 14

// bring brings the commands that were given on their way.
func (s *Server) bring() {
	s.mu.Lock()
	s.commands, s.spare = s.spare[:0], s.commands
	s.mu.Unlock()
	for i := range s.spare {
		s.node.command(s.spare[i].who, s.spare[i].image)
	}
}

// Numbers say how the server does, from any goroutine.
func (s *Server) Numbers(ctx context.Context) (x Numbers, err error) {
	err = s.Do(ctx, func() {
		if s.node != nil {
			x = s.node.numbers()
		}
	})
	return x, err
}

// Plan is how space is divided. It is for Do.
func (s *Server) Plan() *Plan {
	if s.node == nil {
		return nil
	}
	return s.node.head.Plan
}

// Zones lists the zones that this server steps. It is for Do.
func (s *Server) Zones() []zone.ID {
	var list []zone.ID
	if s.node != nil {
		for _, v := range s.node.zones.Zones() {
			list = append(list, v.Zone)
		}
	}
	return list
}

// World is that of a zone, to be looked at and not to be changed, or nil if this server does not
// step it. It is for Do.
func (s *Server) World(id zone.ID) *world.World {
	if s.node == nil {
		return nil
	}
	if b := s.node.body(id); b != nil {
		return b.w
	}
	return nil
}

// Hash is that of all that a zone's next tick depends on beside its inputs, with the tick that it
// is of; ok says whether this server steps the zone. It is for Do.
func (s *Server) Hash(id zone.ID) (tick world.Tick, hash uint64, ok bool) {
	if s.node == nil {
		return 0, 0, false
	}
	b := s.node.body(id)
	if b == nil {
		return 0, 0, false
	}
	return b.w.Tick(), b.Hash(), true
}

// Find says in which zone a player is, if it is one of this server's. It is for Do.
func (s *Server) Find(who world.Player) (zone.ID, bool) {
	for _, id := range s.Zones() {
		if b := s.node.body(id); b != nil && b.players.here(who) {
			return id, true
		}
	}
	return 0, false
}

// Give has another server own a zone. It says whether that has begun. It is for Do.
func (s *Server) Give(id zone.ID, to zone.ServerID) bool {
	return s.node != nil && s.node.zones.Give(id, to)
}

// PutBack has a zone of this server try once more to execute what it has set aside, one item in
// each tick, and says how many there are: once the game was mended, for example. What fails again
// stays aside, and so does what was set aside after it. It is for Do.
func (s *Server) PutBack(id zone.ID) (tried int, err error) {
	if s.node == nil {
		return 0, zone.ErrNotOwned
	}
	return s.node.zones.PutBack(id)
}

// Aside lists what a zone has set aside, as every tick with it failed. It is for Do.
func (s *Server) Aside(id zone.ID) []zone.Aside {
	if s.node == nil {
		return nil
	}
	return slices.Clone(s.node.zones.Aside(id))
}

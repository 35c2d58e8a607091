package server

import (
	"cmp"
	"errors"
	"net/netip"
	"slices"
	"time"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/conn"
	"github.com/coeval-dev/coeval/replica"
	"github.com/coeval-dev/coeval/world"
)

// An Engine computes the world of a server. The plain one has its world to itself (local.go); a
// mirror puts another into Options.Engine, whose world follows from the commands of all mirrors'
// clients and may be taken back. The server keeps to its clients: it takes their commands and shows
// them what the engine says.
//
// All methods are called by the goroutine that drives the server, and none of them calls the
// server: what an engine decides it returns, by Decisions and Advance.
type Engine interface {
	// Traits says what kind of engine it is. It is asked once.
	Traits() Traits
	// Begin is given the world that the level starts with, before the first tick; the engine owns
	// it from now on. A mirror that joins a game under way ignores it; its World is then where the
	// game is, and what has happened in it is taken for certain.
	Begin(w *world.World, l Level) error
	// World is what is shown, good until the next Advance.
	World() *world.World
	// Open is the first tick for which commands still count; a client's command for an earlier one
	// is late. It never goes back. How early commands come, which snapshots tell, is measured
	// against it.
	Open() world.Tick
	// Advance computes what is due by now and says what came of it. The error is one that the
	// server cannot go on after; a *world.Panic is dealt with as Options.OnPanic says.
	Advance(now time.Duration) (Progress, error)

	// Claim asks for a player for someone who has greeted and wants to play. The answer is a
	// decision, Grant or Deny, at once or later. It may be asked again for the same client, which
	// has connected anew in the meantime.
	Claim(v Visitor)
	// Enter tells that a player's client is ready to be shown the world, for the first time in it.
	Enter(p world.Player)
	// Give is told each command of a player that has a seat here, once the game's rules have passed
	// it, and what the client showed with it, within bounds: for a tick from Open on, and once for
	// each; when it is, Traits.Eager says. The image is
	// good during the call. If no command comes none is told, except for the one by which the
	// levels of a player of whom nothing is heard are let go. The error is that the image is no
	// command.
	Give(p world.Player, t world.Tick, image []int32, s world.Sight) error
	// Tell is told an input of another kind that the game has declared, which the game's program
	// gives this server: it comes in with the next tick that is open. The bytes are good during the
	// call. The error is that the game has no such input, or that it cannot be taken now.
	Tell(t world.Told, data []byte) error
	// Said tells what someone said here, once the game's rules have passed it.
	Said(l Line)
	// Release tells that a seat is given up here, and so the player; or, with world.Nobody, that a
	// claim is wanted no more which was not answered.
	Release(client uint64, p world.Player)

	// Decisions gives what the engine has decided about people since it was last asked, in order.
	// The server asks after each Claim and whenever it takes in what has come, and does what they
	// say.
	Decisions() []Decision
}

// Traits are what engines differ in.
type Traits struct {
	// Pausable says that the world stands still while Advance is not called.
	Pausable bool
	// Levels says that Begin may be called again, with the world of another level.
	Levels bool
	// Eager says that commands are given as soon as they come, also by those who are not ready for
	// the world yet, since others have to hear of them. Otherwise those of the tick that is about
	// to be computed are given before Advance, which computes exactly that one.
	Eager bool
	// Outlives says that the world goes on when this server ends, and with it the players.
	Outlives bool
	// Leading says that the world may be taken back; see replica.Publisher.PublishLeading.
	Leading bool
}

// Progress is what an Advance came to.
type Progress struct {
	// Leading is for replica.Publisher.PublishLeading, if the engine has that trait.
	replica.Leading
	// Inputs are what went into the tick that was computed, good until the next Give, Enter,
	// Release or Advance; or nil if no single tick was.
	Inputs *world.Inputs
	// Asks says that this server is the one to ask the outside what the game asks of it; see
	// Options.Asked. Of several that compute one world, it is one.
	Asks bool
	// Fault is what the game did wrong in it, if anything. The tick is complete all the same.
	Fault error
	// Flight is how the world came to the tick in which the game panicked, if that is the error of
	// Advance and the engine remembers.
	Flight *Flight
}

// A Decision is what an engine has decided about one of the people at its server.
type Decision struct {
	Kind   DecisionKind
	Client uint64
	Player world.Player
	Name   string
	Reason conn.Reason
	Text   string
	To     netip.AddrPort
	// Alone is for whom a line is, if it is not for everyone.
	Alone []world.Player
}

// A Line is something that a player has said: to everyone, or to some alone.
type Line struct {
	Player     world.Player
	Name, Text string
	To         []world.Player
}

// A DecisionKind says what is to be done, and which of a Decision's fields count.
type DecisionKind uint8

// What an engine can decide.
const (
	// Grant answers a claim: Client is Player, by Name, or if that is empty by the name that was
	// asked for. Someone who is not there any more has the seat all the same, and it is kept as for
	// anyone whose connection was lost.
	Grant DecisionKind = iota + 1
	// Deny is the other answer. Reason and Text are told to Client.
	Deny
	// Revoke takes the seat of Client, whose Player is another server's now; Release is not told of
	// it. It does nothing if the client is another player by now, or only watches. Client is told
	// to go on at To, if that is valid; until it is shown the world there it still sees it here,
	// but its commands do not count any more. So it is to be decided when Open has passed the tick
	// from which the player is the other's.
	Revoke
	// Move asks Client to go on at To, as Server.Move does.
	Move
	// Relay has everyone here, or those whom it is for Alone, hear Text, which Player said by Name
	// at another server of the same game. The game's rules decide who hears it; they are given a
	// seat with no more than a player and a name.
	Relay
	// Pause says that the world stands still from now on, and Resume that it goes on; everyone here
	// is told, and Text, which is who wanted it or why. Advance is called all the same.
	Pause
	Resume
)

// decide does what the engine has decided.
func (s *Server) decide() {
	for _, d := range s.engine.Decisions() {
		switch d.Kind {
		case Grant:
			s.grant(d.Client, d.Player, d.Name)
		case Deny:
			s.deny(d.Client, d.Reason, d.Text)
		case Revoke:
			s.revoke(d.Client, d.Player, d.Text, d.To)
		case Move:
			if seat := s.seats[d.Client]; seat != nil {
				s.Move(seat, d.To)
			}
		case Relay:
			s.relay(Line{d.Player, d.Name, d.Text, d.Alone})
		case Pause, Resume:
			s.setPaused(d.Kind == Pause, d.Text)
		}
	}
}

// errEngine is what cannot be done where the world is not the server's own.
var errEngine = errors.New("server: the world belongs to Options.Engine, which begins its " +
	"levels itself; start another server for another level")

// start has the engine begin with a scene's world.
func (s *Server) start(g *scene) error {
	if err := s.engine.Begin(g.world, g.level); err != nil {
		return err
	}
	w := s.engine.World()
	g.world, s.passed = w, s.engine.Open()
	if w.Tick() == 0 {
		return nil
	}
	// What is kept for latecomers is part of a world that comes from elsewhere.
	l := replica.Leading{Again: true}
	var sync bits.Sync
	for e, v := range w.Host().SavedHappened {
		layout := s.game.Events()[e.Kind].Layout()
		image := make([]int32, layout.Len())
		if err := layout.Pack(&sync, v, image); err != nil {
			return err
		}
		l.Events = append(l.Events,
			replica.Happening{What: replica.Confirmed, Event: e, Image: image})
	}
	slices.SortStableFunc(l.Events, func(a, b replica.Happening) int {
		return cmp.Compare(a.Event.Tick, b.Event.Tick)
	})
	return g.publisher.PublishLeading(w, l)
}

// closed is the newest tick for which commands come too late.
func (s *Server) closed() world.Tick { return max(s.engine.Open(), 1) - 1 }

// step has the engine compute, unless the world stands still, and publishes what it came to.
func (s *Server) step() error {
	if s.paused && s.traits.Pausable || s.failed.err != nil || s.closing && !s.traits.Outlives {
		return nil
	}
	if !s.traits.Eager {
		s.gather(s.engine.Open())
	}
	done, err := s.engine.Advance(s.now)
	if p := panicOf(err); p != nil {
		return s.panicked(p, done)
	} else if err != nil {
		return err
	}
	s.decide()
	if done.Fault != nil {
		s.gameError(done.Fault)
	}
	g := s.scene
	w := s.engine.World()
	s.asks(w, &done)
	still := w == g.world && w.Tick() == g.publisher.Tick() && !done.Again &&
		done.Settled == g.settled && len(done.Events) == 0
	g.world, g.settled = w, done.Settled
	if s.traits.Eager {
		s.pass()
	}
	s.stats.Commands.Doubted += uint64(w.Host().Doubted())
	if done.Inputs != nil && s.opt.After != nil {
		s.opt.After(w, done.Inputs)
	}
	if still {
		return nil
	}
	if err := s.publish(w, done.Leading); err != nil {
		if s.opt.Develop {
			return err
		}
		s.gameError(err)
	}
	return nil
}

func (s *Server) publish(w *world.World, l replica.Leading) error {
	if s.traits.Leading {
		return s.scene.publisher.PublishLeading(w, l)
	}
	return s.scene.publisher.Publish(w)
}

package server

import (
	"maps"
	"net/netip"
	"time"

	"github.com/coeval-dev/coeval/conn"
	"github.com/coeval-dev/coeval/topology/wire"
	"github.com/coeval-dev/coeval/world"
)

// A Seat is one person at a server: who they are, and, if they play, which player of the world they
// are. It outlasts their connection by a while, so that someone whose machine crashed finds
// everything as it was.
type Seat struct {
	// Client is the number in the person's token.
	Client uint64
	// Player is the number in the world, or world.Nobody for a spectator.
	Player world.Player
	// Name is what others read.
	Name string
	// UserData is what the issuer of the token wanted the server to know.
	UserData []byte

	peer     *peer // nil while away
	since    time.Duration
	away     time.Duration   // since when the person is away
	inside   bool            // the world knows the player
	repeated int             // ticks in a row without a command
	source   netip.Addr      // what it counts for, of those that are limited by address
	gone     bool            // the player is another server's now, and the client goes there
	predicts wire.Prediction // as the client says
	uploads  allowance
}

// Spectator says that the person only watches.
func (s *Seat) Spectator() bool { return s.Player == world.Nobody }

// Away says that the person has no connection now, and may come back.
func (s *Seat) Away() bool { return s.peer == nil }

// Addr is where the person is, by the real address where the link knows it, or the zero address.
func (s *Seat) Addr() netip.AddrPort {
	if s.peer == nil {
		return netip.AddrPort{}
	}
	return s.peer.addr()
}

// Quality is how the person's connection does. It is zero while they are away.
func (s *Seat) Quality() conn.Quality {
	if s.peer == nil {
		return conn.Quality{}
	}
	return s.peer.conn.Quality()
}

// Predicts is how the person's client does, as it said itself a few seconds ago: how far ahead of
// the server it is, and what predicting takes. It is zero for one that does not predict.
func (s *Seat) Predicts() wire.Prediction { return s.predicts }

// Ledger books what was sent to the person and came from them, over the connection that they have.
func (s *Seat) Ledger() conn.Ledger {
	if s.peer == nil {
		return conn.Ledger{}
	}
	return s.peer.conn.Ledger()
}

// Commands tells how the person's commands arrived since they were given the connection that they
// have.
func (s *Seat) Commands() CommandCounts {
	if s.peer == nil {
		return CommandCounts{}
	}
	return s.peer.counts
}

// CommandCounts is how the commands of one player arrived.
type CommandCounts struct {
	Taken, Again, Late, Future, Differed uint64
	// Merged is how many of those that were late had edges, such as a shot, which became part of a
	// later one.
	Merged uint64
	// Bounded is how often the client said that it showed others at a moment at which it could not
	// have, so that its shots are judged by another.
	Bounded uint64
	// Claims is how many things the client said to have hit. Of those, Mistaken were none that
	// anyone can hit, or the player's own, and did not count. Doubted is how often one was shown
	// where it cannot have been, and was looked for at the nearest place where it can; it is
	// counted for all players together.
	Claims, Mistaken, Doubted uint64
	// Repeated is for how many ticks the last command was used again; Neutral how often it was
	// given up.
	Repeated, Neutral uint64
	// Early is how much before it was needed the newest came, in quarters of a tick; below zero,
	// how much too late.
	Early int
}

// comeBack gives someone the seat again that was kept for them.
func (s *Server) comeBack(p *peer, seat *Seat) {
	if old := seat.peer; old != nil {
		// The same person over another link; over the same one package conn has seen to it.
		old.seat = nil
		s.close(old, conn.ReasonReplaced, "")
	}
	seat.peer, seat.UserData, seat.source = p, p.conn.UserData(), p.source()
	s.seated(p, seat, Returned)
}

// watch gives someone a seat who only watches.
func (s *Server) watch(p *peer, name string) {
	if s.crowded(p.source()) {
		s.refuse(p, conn.ReasonCrowded, "")
		return
	}
	if s.watching >= s.opt.Spectators {
		s.refuse(p, wire.ReasonNoSeat, "")
		return
	}
	s.watching++
	seat := &Seat{
		Client: p.conn.Client(), UserData: p.conn.UserData(), Name: name, peer: p, since: s.now,
		source: p.source(),
	}
	s.seats[seat.Client] = seat
	seat.Name = s.nameFor(seat, name)
	s.seated(p, seat, Joined)
}

// release lets the world forget a seat's player.
func (s *Server) release(seat *Seat) {
	switch {
	case seat.Spectator():
		s.watching--
	default:
		if s.players[seat.Player] == seat {
			s.players[seat.Player] = nil
		}
		s.engine.Release(seat.Client, seat.Player)
	}
	seat.inside = false
}

// leave ends a seat for good.
func (s *Server) leave(seat *Seat) {
	s.release(seat)
	delete(s.seats, seat.Client)
	s.tell(News{Kind: Left, Seat: seat})
}

// side lets a person play who watched, or the reverse.
func (s *Server) side(p *peer, spectate bool) {
	seat := p.seat
	switch {
	case seat.Spectator() == spectate:
	case spectate && s.watching >= s.opt.Spectators:
		s.notice(p, "there is no room for more spectators")
	case !spectate && s.full(seat.Client):
		s.notice(p, "all seats of players are taken")
	case !spectate:
		s.ask(p, seat.Name) // what the engine grants is a change of side
	default:
		s.release(seat)
		seat.Player, seat.repeated = world.Nobody, 0
		s.watching++
		s.welcome(p)
		s.show(p) // what is told depends on who is told
		s.tell(News{Kind: Changed, Seat: seat})
	}
}

// Seats goes through all seats in no order. It can be ranged over.
func (s *Server) Seats(yield func(*Seat) bool) {
	maps.Values(s.seats)(yield)
}

// Sitting is for how long a person has had their seat.
func (s *Server) Sitting(seat *Seat) time.Duration { return s.now - seat.since }

// Seat finds a person's seat by the number in their token, or gives nil.
func (s *Server) Seat(client uint64) *Seat { return s.seats[client] }

// SeatOf finds a player's seat, or gives nil.
func (s *Server) SeatOf(p world.Player) *Seat {
	if int(p) >= len(s.players) {
		return nil
	}
	return s.players[p]
}

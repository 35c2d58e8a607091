package server

import (
	"net/netip"
	"time"

	"github.com/coeval-dev/coeval/conn"
	"github.com/coeval-dev/coeval/topology/wire"
	"github.com/coeval-dev/coeval/world"
)

// This file is the way of someone who wants to play to a player of the world: the engine is asked,
// and its answer makes a seat.

// A claim is someone who waits for the engine to give them a player.
type claim struct {
	name  string
	data  []byte // user data of the token
	since time.Duration
	from  netip.Addr // what it counts for
}

// claim asks the engine for a player for someone who has greeted.
func (s *Server) claim(p *peer, name string) {
	client := p.conn.Client()
	if old := s.claimant(client); old != nil {
		s.close(old, conn.ReasonReplaced, "") // by another link
	}
	if s.crowded(p.source()) {
		s.refuse(p, conn.ReasonCrowded, "")
		return
	}
	if s.full(client) && !s.makeRoom(p.source()) {
		s.refuse(p, wire.ReasonNoSeat, "")
		return
	}
	p.state, p.since = claiming, s.now
	s.ask(p, name)
}

// full says whether all seats of players are taken, or wanted by others than this client.
func (s *Server) full(client uint64) bool {
	taken := len(s.claims)
	if _, waits := s.claims[client]; waits {
		taken--
	}
	for _, seat := range s.players[1:] {
		if seat != nil {
			taken++
		}
	}
	return taken >= s.opt.Players
}

// ask puts a claim to the engine, which may answer at once.
func (s *Server) ask(p *peer, name string) {
	v := p.visitor(name)
	s.claims[v.Client] = claim{
		name: name, data: v.UserData, since: s.now, from: p.source()}
	s.engine.Claim(v)
	s.decide()
}

// unclaim tells the engine that no one waits for its answer any more.
func (s *Server) unclaim(client uint64) {
	if _, waits := s.claims[client]; waits {
		delete(s.claims, client)
		s.engine.Release(client, world.Nobody)
	}
}

// claimant finds who waits for an answer of the engine, or gives nil.
func (s *Server) claimant(client uint64) *peer {
	for _, p := range s.order {
		if p.state == claiming && p.conn.Client() == client {
			return p
		}
	}
	return nil
}

// grant gives a client a player, as the engine has decided.
func (s *Server) grant(client uint64, player world.Player, name string) {
	if player == world.Nobody {
		return
	}
	waits := s.claims[client]
	delete(s.claims, client)
	for len(s.players) <= int(player) {
		s.players = append(s.players, nil)
	}
	seat := s.seats[client]
	if other := s.players[player]; other != nil && other != seat {
		s.revoke(other.Client, player, "the player is someone else's now", netip.AddrPort{})
	}
	if seat == nil {
		s.admit(client, player, name, waits)
		return
	}
	switch {
	case seat.Player == player:
		return // said before
	case seat.Spectator():
		s.watching--
	default:
		s.players[seat.Player] = nil
	}
	s.players[player] = seat
	seat.Player, seat.inside, seat.repeated = player, false, 0
	if name != "" {
		seat.Name = wire.Clip(name, wire.MaxName)
	}
	if seat.peer != nil {
		s.welcome(seat.peer)
		s.show(seat.peer) // what is told depends on who is told
	}
	s.tell(News{Kind: Changed, Seat: seat})
}

// admit makes the seat of a player who is new here.
func (s *Server) admit(client uint64, player world.Player, name string, waits claim) {
	p := s.claimant(client)
	seat := &Seat{
		Client: client, Player: player, UserData: waits.data, Name: waits.name,
		peer: p, since: s.now, away: s.now, source: waits.from,
	}
	s.seats[client], s.players[player] = seat, seat
	if name != "" {
		seat.Name = wire.Clip(name, wire.MaxName)
	} else {
		seat.Name = s.nameFor(seat, waits.name)
	}
	if p != nil {
		s.seated(p, seat, Joined)
		return
	}
	s.tell(News{Kind: Joined, Seat: seat})
	if s.opt.KeepSeat < 0 {
		s.leave(seat)
	}
}

// deny tells someone that the engine has no player for them.
func (s *Server) deny(client uint64, reason conn.Reason, note string) {
	delete(s.claims, client)
	if p := s.claimant(client); p != nil {
		s.refuse(p, reason, note)
	} else if seat := s.seats[client]; seat != nil && seat.peer != nil && seat.Spectator() {
		if note == "" {
			note = wire.ReasonText(reason)
		}
		s.notice(seat.peer, note)
	}
}

// sweepClaims gives up claims that were not answered in time.
func (s *Server) sweepClaims() {
	for client, c := range s.claims {
		if s.now-c.since > s.opt.Limits.Greeting {
			s.unclaim(client)
		}
	}
}

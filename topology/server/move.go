package server

import (
	"net/netip"
	"slices"
	"time"

	"github.com/coeval-dev/coeval/conn"
	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/topology/wire"
	"github.com/coeval-dev/coeval/world"
)

// SetOtherServers tells clients of the other servers of the same game, the best first, up to 16:
// where they go when this one is silent or stops.
func (s *Server) SetOtherServers(list []wire.Server) {
	list = slices.DeleteFunc(slices.Clone(list), func(p wire.Server) bool { return !names(p.Addr) })
	list = list[:min(len(list), wire.MaxServers)]
	if slices.Equal(list, s.others) {
		return
	}
	s.others = list
	var to []netip.AddrPort
	for _, p := range list {
		to = append(to, p.Addr)
	}
	s.offer(to...)
	s.broadcast(wire.Message{Kind: wire.Servers, Servers: list})
}

// Move asks a client to go on at another server. It connects there with its ticket, and leaves only
// when it is shown the world; if it is not let in there, it stays. Without an address it goes to
// one of SetOtherServers, the nearest as it measures.
func (s *Server) Move(seat *Seat, to netip.AddrPort) {
	switch {
	case seat.peer == nil:
	case names(to):
		s.offer(to)
		seat.peer.conn.RenewTicket()
		s.say(seat.peer, wire.Message{Kind: wire.Move, Servers: []wire.Server{{Addr: to}}})
	case !to.IsValid():
		seat.peer.conn.RenewTicket()
		s.say(seat.peer, wire.Message{Kind: wire.Move})
	}
}

// Drain asks everyone to go on at other servers, in turn, and sends newcomers there, too: before
// maintenance. Without addresses it is those of SetOtherServers, and each client goes to the
// nearest. Population tells when all are gone.
func (s *Server) Drain(to ...netip.AddrPort) {
	nearest := len(to) == 0
	if nearest {
		for _, p := range s.others {
			to = append(to, p.Addr)
		}
	}
	s.draining = slices.DeleteFunc(append([]netip.AddrPort{}, to...),
		func(a netip.AddrPort) bool { return !names(a) })
	s.offer(s.draining...)
	for _, p := range s.order {
		switch {
		case p.seat == nil || p.seat.gone || len(s.draining) == 0:
		case nearest:
			s.Move(p.seat, netip.AddrPort{})
		default:
			s.Move(p.seat, s.nextServer())
		}
	}
}

// Welcome ends what Drain began: newcomers are let in again. Those who were asked to go have gone,
// or go on here if they were not let in elsewhere.
func (s *Server) Welcome() { s.draining = nil }

// Draining says whether newcomers are sent elsewhere; see Drain.
func (s *Server) Draining() bool { return s.draining != nil }

// nextServer takes the servers to which people are sent in turn.
func (s *Server) nextServer() netip.AddrPort {
	if len(s.draining) == 0 {
		return netip.AddrPort{}
	}
	s.sent++
	return s.draining[s.sent%len(s.draining)]
}

// drained sends someone on who comes while the server is being drained.
func (s *Server) drained(p *peer) bool {
	switch {
	case s.draining == nil:
		return false
	case len(s.draining) == 0:
		s.refuse(p, conn.ReasonClosing, "")
	default:
		s.refuse(p, wire.ReasonMoved, goodbye(s.nextServer(), ""))
	}
	return true
}

// showGone is for how long someone is still shown the world whose player is another server's, until
// they are shown it there.
const showGone = 5 * time.Second

// revoke takes the seat of a client away whose player is another server's now; see Decision.
func (s *Server) revoke(client uint64, player world.Player, why string, to netip.AddrPort) {
	if p := s.claimant(client); p != nil {
		delete(s.claims, client)
		s.refuse(p, wire.ReasonMoved, goodbye(to, why))
	}
	seat := s.seats[client]
	if seat == nil || seat.Spectator() || seat.Player != player {
		return
	}
	delete(s.seats, client)
	if s.players[player] == seat {
		s.players[player] = nil
	}
	seat.inside, seat.gone = false, true
	s.tell(News{Kind: Moved, Seat: seat, Text: goodbye(to, why)})
	p := seat.peer
	if p == nil {
		return
	}
	if p.state != shown {
		s.close(p, wire.ReasonMoved, goodbye(to, why))
		return
	}
	p.farewell = farewell{goodbye(to, why), s.now + showGone}
	m := wire.Message{Kind: wire.Move, On: true, Text: why}
	if names(to) {
		s.offer(to)
		p.conn.RenewTicket()
		m.Servers = []wire.Server{{Addr: to}}
	}
	s.say(p, m)
}

// offer has tickets name servers to which players may be sent, so that those let them in. What was
// offered once stays: a server may be cut off from the others just when its players need them.
func (s *Server) offer(to ...netip.AddrPort) {
	n := len(s.group)
	for _, a := range to {
		if names(a) && !slices.Contains(s.group, a) {
			s.group = append(s.group, a)
		}
	}
	if len(s.group) == n {
		return
	}
	// The oldest give way, but for those that are this server's own.
	own := len(s.opt.Addresses)
	if over := len(s.group) - max(token.MaxServers, own); over > 0 {
		s.group = slices.Delete(s.group, own, own+over)
	}
	for _, p := range s.ports {
		p.conn.SetGroup(s.group)
	}
}

// SetAddresses changes the addresses under which clients know the server; see Options.Addresses.
// Whoever runs a server may learn them only when its sockets are open.
func (s *Server) SetAddresses(addresses []netip.AddrPort) {
	s.group = slices.DeleteFunc(s.group, func(a netip.AddrPort) bool {
		return slices.Contains(s.opt.Addresses, a) || slices.Contains(addresses, a)
	})
	s.opt.Addresses = slices.Clone(addresses)
	s.group = append(slices.Clone(addresses), s.group...)
	for _, p := range s.ports {
		p.conn.SetAddresses(addresses)
		p.conn.SetGroup(s.group)
	}
}

// goodbye is the note of a connection that ends with ReasonMoved: the address, and what else there
// is to say. Either may be missing.
func goodbye(to netip.AddrPort, why string) string {
	if !names(to) {
		return why
	}
	if why == "" {
		return to.String()
	}
	return to.String() + " " + why
}

// names says whether an address names a server.
func names(a netip.AddrPort) bool { return a.IsValid() && a.Port() != 0 }

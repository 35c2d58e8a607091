package server

import (
	"net/netip"

	"github.com/coeval-dev/coeval/link"
)

// This file is what the server knows of where people are: their real addresses, how many come from
// one of them, and who keeps the place of a session.

// sparePerAddress is how many connections an address may have beyond its seats: of people who come
// back, or have to be told why not.
const sparePerAddress = 4

// sourceOf is what a peer of a link counts for where addresses are limited. This machine's own, the
// zero address, is not: bots are there, and the proxies that others come by.
func sourceOf(l link.Link, peer netip.AddrPort) netip.Addr {
	a := link.Remote(l, peer).Addr().Unmap()
	if a.IsLoopback() {
		return netip.Addr{}
	}
	return link.SourceOf(a)
}

// addr is the peer's real address, as far as it is known.
func (p *peer) addr() netip.AddrPort {
	a := p.conn.Addr()
	if _, _, ok := link.Session(a); !ok {
		return a
	}
	if real := link.Remote(p.port.link, a); real != a || !p.from.IsValid() {
		return real
	}
	return p.from // its session has just ended
}

// source is what a peer counts for.
func (p *peer) source() netip.Addr {
	a := p.addr().Addr().Unmap()
	if a.IsLoopback() {
		return netip.Addr{}
	}
	return link.SourceOf(a)
}

// keepPlaces tells links with places who has proved themselves.
func (s *Server) keepPlaces() {
	for _, p := range s.order {
		if p.port.keeper != nil && p.state < mismatched {
			p.port.keeper.Keep(p.conn.Addr())
		}
	}
	for _, o := range s.ports {
		if o.keeper != nil && o.down == nil {
			o.keeper.Guard(s.opt.Limits.Proving)
		}
	}
}

// crowded says whether an address has as many seats as it may. Someone new takes the seat of one
// who is away, if there is one.
func (s *Server) crowded(source netip.Addr) bool {
	most := s.opt.Limits.PerAddress
	if most < 0 || !source.IsValid() {
		return false
	}
	n := 0
	var idle *Seat
	for _, seat := range s.seats {
		if seat.source != source {
			continue
		}
		n++
		if longerAway(seat, idle) {
			idle = seat
		}
	}
	for _, c := range s.claims {
		if c.from == source {
			n++
		}
	}
	if n < most {
		return false
	}
	if idle != nil && n == most {
		s.leave(idle)
		return false
	}
	s.stats.Crowded++
	return true
}

// longerAway says whether a seat is of someone who is away, and for longer than another.
func longerAway(seat, than *Seat) bool {
	if !seat.Away() {
		return false
	}
	return than == nil || seat.away < than.away ||
		seat.away == than.away && seat.Client < than.Client
}

// makeRoom gives up a seat that is kept for someone who is away, so that there is one for a
// newcomer: of the address that has most of the seats, if that has more than one, and more than the
// newcomer's. Whoever has an address to themselves finds their seat as it was.
func (s *Server) makeRoom(source netip.Addr) bool {
	have, idle := map[netip.Addr]int{}, map[netip.Addr]*Seat{}
	for _, seat := range s.players[1:] {
		if seat == nil {
			continue
		}
		have[seat.source]++
		if longerAway(seat, idle[seat.source]) {
			idle[seat.source] = seat
		}
	}
	var best *Seat
	for _, seat := range s.players[1:] { // in their order, so that it repeats
		if seat == nil || idle[seat.source] == nil || have[seat.source] < 2 {
			continue
		}
		if best == nil || have[seat.source] > have[best.source] {
			best = idle[seat.source]
		}
	}
	if best == nil || best.source != source && have[best.source] <= have[source] {
		return false
	}
	s.stats.GaveWay++
	s.leave(best)
	return true
}

// Places are those of all links that have them.
func (s *Server) Places() (sum link.Places) {
	for _, o := range s.ports {
		if o.keeper != nil {
			sum = sum.Add(o.keeper.Places())
		}
	}
	return sum
}

package crimp

import (
	"net/netip"
	"slices"

	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/member"
)

// outgoing is a datagram on its way out, and what its bytes are for.
type outgoing struct {
	data    []byte
	to      member.ID // or toAll, toSite, toOthers
	purpose Purpose
	addr    netip.AddrPort // of a whisper
	// The parts of a data packet.
	message, order, forward, proof int
}

// Where a datagram goes besides to one member: all of the group; the own site by
// multicast; and the others, as a bridge sees them.
const (
	toAll    member.ID = 0
	toSite   member.ID = 1<<16 - 1
	toOthers member.ID = 1<<16 - 2
	// MaxMember is the highest number that a member can have.
	MaxMember member.ID = 1<<16 - 3
)

// multicasts reports whether one datagram of ours reaches our whole site.
func (g *Group) multicasts() bool { return g.self.card.Site != 0 && g.opt.Multicast.IsValid() }

// directed reports whether each datagram of ours reaches one member only, so that
// requests and repairs are better sent to whom they concern. Where members carry for each other,
// they are in any case: what multicast did not bring, it may not bring the next time either.
func (g *Group) directed() bool { return g.opt.Carry || !g.multicasts() }

// address makes datagrams of all that is ready, one for each address.
func (g *Group) address(out []link.Datagram) []link.Datagram {
	for i := range g.ready {
		o := &g.ready[i]
		before := len(out)
		switch o.to {
		case toAll:
			if g.lines.table != nil {
				out = g.toEach(out, o.data)
				break
			}
			if g.multicasts() {
				out = append(out, link.Datagram{Addr: g.opt.Multicast, Data: o.data})
				if !g.bridge {
					break
				}
			}
			out = g.toOthers(out, o.data)
		case toSite:
			out = append(out, link.Datagram{Addr: g.opt.Multicast, Data: o.data})
		case toOthers:
			out = g.toOthers(out, o.data)
		default:
			if o.addr.IsValid() {
				out = append(out, link.Datagram{Addr: o.addr, Data: o.data})
				break
			}
			out = g.toOne(out, o.to, o.data)
		}
		g.bookKeep(o, len(out)-before)
		o.data = nil
	}
	g.ready = g.ready[:0]
	return out
}

// toEach sends to all members where what does not come directly is carried: by multicast to those
// of our site who hear it, and to each other by itself.
func (g *Group) toEach(out []link.Datagram, data []byte) []link.Datagram {
	several := false
	for _, p := range g.peers {
		switch {
		case !p.present:
		case p.cast.covers && !several:
			several = true
			out = append(out, link.Datagram{Addr: g.opt.Multicast, Data: data})
		case p.cast.covers:
		case p.card.Addr.IsValid():
			out = append(out, link.Datagram{Addr: p.card.Addr, Data: data})
		}
	}
	return out
}

// toOthers sends to all whom our multicast does not reach: to each that has none, and to
// the bridge of each other site.
func (g *Group) toOthers(out []link.Datagram, data []byte) []link.Datagram {
	var sites [4]uint64 // those that have had theirs
	if g.multicasts() {
		sites[g.self.card.Site/64] |= 1 << (g.self.card.Site % 64)
	}
	for _, p := range g.peers { // by rising id, so the bridge of a site comes first
		if site := p.card.Site; site != 0 && p.present {
			if sites[site/64]>>(site%64)&1 != 0 {
				continue
			}
			if g.multicasts() || site != g.self.card.Site {
				sites[site/64] |= 1 << (site % 64)
			}
		}
		if p.present && p.card.Addr.IsValid() {
			out = append(out, link.Datagram{Addr: p.card.Addr, Data: data})
		}
	}
	return out
}

// toOne sends to one member, through the bridge of its site if there is one.
func (g *Group) toOne(out []link.Datagram, id member.ID, data []byte) []link.Datagram {
	p := g.byID[id]
	if p == nil {
		return out
	}
	addr := p.card.Addr
	if site := p.card.Site; site != 0 && g.lines.table == nil {
		if g.multicasts() && site == g.self.card.Site {
			addr = g.opt.Multicast
		} else if site != g.self.card.Site {
			for _, q := range g.peers {
				if q.present && q.card.Site == site {
					addr = q.card.Addr
					break
				}
			}
		}
	}
	if !addr.IsValid() {
		return out
	}
	return append(out, link.Datagram{Addr: addr, Data: data})
}

// relay passes on what a bridge has heard: of its own site to the others, and of the
// others to its own site.
func (g *Group) relay(p *peer, datagram []byte, how How) {
	if !g.bridge || !g.multicasts() || how == Forwarded {
		return
	}
	to := toSite
	if p.card.Site == g.self.card.Site {
		if !g.foreign() {
			return
		}
		to = toOthers
	}
	b := g.buffers.Get(repairPrefix + len(datagram))[:0]
	if how == Repaired {
		b = append(b, kindRepair, byte(g.self.id>>8), byte(g.self.id))
	}
	b = append(b, datagram...)
	g.post(b, to, SentRelay)
}

// foreign reports whether anybody is outside of our site.
func (g *Group) foreign() bool {
	return slices.ContainsFunc(g.peers,
		func(p *peer) bool { return p.present && p.card.Site != g.self.card.Site })
}

// bookKeep enters a datagram into the ledger.
func (g *Group) bookKeep(o *outgoing, copies int) {
	n := uint64(copies)
	size := uint64(len(o.data))
	g.book.Datagrams += n
	if o.purpose != SentMessage {
		g.book.Sent[o.purpose] += n * size
		return
	}
	parts := uint64(o.message + o.order + o.forward + o.proof)
	g.book.Sent[SentMessage] += n * uint64(o.message)
	g.book.Sent[SentOrder] += n * uint64(o.order)
	g.book.Sent[SentForward] += n * uint64(o.forward)
	g.book.Sent[SentProof] += n * uint64(o.proof)
	g.book.Sent[SentHeader] += n * (size - parts)
}

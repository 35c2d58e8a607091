package paths

import (
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/member"
)

// wrap makes a datagram that asks a member to carry another. Its memory lasts until the call after
// the next.
func (p *Paths) wrap(hop *peer, from, to member.ID, more byte, data []byte) []byte {
	p.number++
	h := head{kind: kindCarry, second: more, from: p.opt.Self, to: hop.id, number: p.number}
	m := &p.out.memory[p.out.turn]
	first := len(*m)
	b := h.append(*m)
	b = be.AppendUint16(b, uint16(from))
	b = be.AppendUint16(b, uint16(to))
	b = hop.prove(b, first, data)
	*m = append(b, data...)
	return (*m)[first:len(*m):len(*m)]
}

// takeCarry takes a datagram that a member carried here, or carries it on.
func (p *Paths) takeCarry(by *peer, h head, b []byte) (link.Datagram, bool) {
	from, to := member.ID(be.Uint16(b[14:])), member.ID(be.Uint16(b[16:]))
	data := b[CarryHead:]
	p.hear(by)
	if to != p.opt.Self {
		p.carryOn(by, from, to, h.second, data)
		return link.Datagram{}, false
	}
	q := p.byID[from]
	switch {
	case q == nil:
		p.stats.Strangers++
	case !Ours(data):
		for _, x := range q.paths {
			if x.kind == Over && x.via == by.id {
				x.heard = p.now
			}
		}
		p.hearData(q)
		return link.Datagram{Addr: q.addr, Data: data}, true
	case data[0] != kindProbe:
		p.stats.Malformed++ // what is carried is not carried again inside
	default:
		p.take(data, source{kind: Over, via: by.id}, 0)
	}
	return link.Datagram{}, false
}

// carryOn hands a datagram to who is next on the way to whom it is for. That is a member like
// ourselves and never an address that the datagram names, one datagram goes out for one that came,
// and each member that hands us some may do so within bounds.
func (p *Paths) carryOn(by *peer, from, to member.ID, more byte, data []byte) {
	q := p.byID[to]
	if q == nil || more == 0 || from == to || from == p.opt.Self || to == by.id {
		p.stats.Uncarried++
		return
	}
	hop := q
	if !q.near() {
		hop = nil
		if x := q.current; x != nil && x.kind == Over && x.via != by.id && x.via != from {
			hop = p.byID[x.via]
		}
	}
	if hop == nil || !hop.near() || p.out.full() {
		p.stats.Uncarried++
		return
	}
	if !by.carry.take(p.now, p.opt.CarryRate, len(data)+CarryHead+headers) {
		p.stats.Overdrawn++
		return
	}
	p.stats.Carried++
	p.stats.CarriedBytes += uint64(len(data))
	if d, ok := p.over(hop.current, p.wrap(hop, from, to, more-1, data)); ok {
		p.out.add(d)
	}
}

package crimp

import (
	"net/netip"

	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/member"
)

// A datagram for a member that is not reached directly goes to the next on the way there, inside of
// a whisper of its own kind:
//
//	2  member that sends it
//	2  member it is for
//	1  how many more may carry it
//	   the datagram as its maker made it
//
// Whoever carries it can neither read nor change it, and only learns whom it is for. It is taken at
// its end as if it had come directly, with the address of its sender.
const carryHead = 2 + 2 + 1

// CarryRoom is by how many bytes a datagram grows when it is carried.
const CarryRoom = whisperHead + carryHead + sealSize

// maxHops is how many members may carry a datagram, one after the other. Where they disagree for a
// moment who is next, it goes round no longer than that.
const maxHops = 15

// carried is a datagram of another protocol that was carried here.
type carried struct {
	from netip.AddrPort
	data []byte
}

// detour sends what cannot go directly to who is next on the way. The datagrams from the first on
// are ours; what is told of lines, and what is carried already, goes as it is.
func (g *Group) detour(out []link.Datagram, first int) []link.Datagram {
	l := &g.lines
	if l.table == nil || l.table.Detours() == 0 {
		return out
	}
	for i := first; i < len(out); i++ {
		d := &out[i]
		if len(d.Data) == 0 || d.Data[0] == kindLine || d.Data[0] == kindCarry {
			continue
		}
		to := l.at[d.Addr]
		hop, ok := l.table.Next(to)
		if to == 0 || !ok || hop == to {
			continue
		}
		c := g.whispers.known[hop]
		if c == nil || !c.card.Addr.IsValid() {
			continue
		}
		body := g.carryBody(g.whispers.self, to, maxHops, d.Data)
		b, err := g.sealWhisper(kindCarry, hop, c, body)
		if err != nil {
			continue
		}
		g.scrap = append(g.scrap, b)
		g.book.Sent[SentCarry] += CarryRoom
		d.Addr, d.Data = c.card.Addr, b
	}
	return out
}

// carryBody puts a datagram into what is whispered.
func (g *Group) carryBody(from, to member.ID, hops uint8, data []byte) []byte {
	b := be.AppendUint16(g.body[:0], uint16(from))
	b = be.AppendUint16(b, uint16(to))
	b = append(append(b, hops), data...)
	g.body = b[:0]
	return b
}

// takeCarry takes what another has carried here, or carries it on.
func (g *Group) takeCarry(by member.ID, body []byte) {
	l := &g.lines
	if l.table == nil || l.inner {
		return
	}
	if len(body) <= carryHead {
		g.stats.Malformed++
		return
	}
	from, to := member.ID(be.Uint16(body)), member.ID(be.Uint16(body[2:]))
	hops, data := body[4], body[carryHead:]
	if to != g.whispers.self {
		g.carryOn(by, from, to, hops, data)
		return
	}
	c := g.whispers.known[from]
	switch {
	case data[0] == kindLine || data[0] == kindCarry || data[0] == kindBeacon:
		g.stats.Malformed++
	case c == nil:
		g.stats.Strangers++
	case Ours(data):
		l.inner = true
		g.receive(data)
		l.inner = false
	default:
		l.others = append(l.others, carried{c.card.Addr, data})
	}
}

// carryOn hands a datagram to who is next on the way to whom it is for. For each who hands us
// something we do so within bounds.
func (g *Group) carryOn(by, from, to member.ID, hops uint8, data []byte) {
	l := &g.lines
	hop, ok := l.table.Next(to)
	c := g.whispers.known[hop]
	if !ok || hop == by || c == nil || hops <= 1 || hops > maxHops || from == to {
		g.stats.Uncarried++
		return
	}
	paid := l.paid[by]
	if paid == nil {
		paid = &bucket{}
		paid.fill(g.now, g.pace.carrying())
		l.paid[by] = paid
	}
	if !paid.take(g.now, g.pace.carrying(), float64(len(data)+CarryRoom)) {
		g.stats.Overpaid++
		return
	}
	g.stats.Carried++
	g.stats.CarriedBytes += uint64(len(data))
	_ = g.whisperTo(kindCarry, hop, c, c.card.Addr, g.carryBody(from, to, hops-1, data), SentCarry)
}

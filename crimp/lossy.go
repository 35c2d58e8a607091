package crimp

import "time"

// SendLossy multicasts a message that need not arrive: it goes out once, is kept by
// nobody and asked for by nobody. What is worth sending only while it is new goes so. Those who
// get it are told with Delivered, How being Lossy, whatever the group's order. The number it
// returns counts these messages by themselves.
func (g *Group) SendLossy(now time.Duration, message []byte) (Sequence, error) {
	g.advance(now)
	switch {
	case g.self == nil:
		return 0, ErrNotMember
	case g.holding:
		return 0, ErrHolding
	case len(message) > g.MaxMessage():
		return 0, ErrTooLarge
	case g.lossyNo >= maxSequence:
		return 0, ErrWornOut
	}
	e := g.sending
	g.lossyNo++
	b := g.pool.get(e.bodyAt + lossyFixed + len(message) + sealSize + sealSlack)[:e.bodyAt]
	b = be.AppendUint32(b, g.clock())
	b = append(b, message...)
	b = g.seal(e, &header{kind: kindLossy, number: g.lossyNo}, b)
	g.scrap = append(g.scrap, b)
	g.ready = append(g.ready, outgoing{data: b, to: toAll, purpose: SentLossy})
	return Sequence(g.lossyNo), nil
}

// lossyFixed is what of a lossy packet's body is not the message.
const lossyFixed = 4

// takeLossy hands a lossy packet to the application, if its sender counts at present.
func (g *Group) takeLossy(p *peer, s Sequence, body []byte) {
	if len(body) < lossyFixed {
		g.stats.Malformed++
		return
	}
	p.delay.stamp(g.now, be.Uint32(body))
	if _, capped := p.limit(); capped || g.holding || !p.present {
		g.stats.Wedged++
		return
	}
	g.handOver(Event{Kind: Delivered, Member: p.id, Seq: s, How: Lossy, Data: body[lossyFixed:]})
}

package crimp

import "time"

// SendLossy multicasts a message that need not arrive: it goes out once, is kept by
// nobody and asked for by nobody. What is worth sending only while it is new goes so. Those who
// get it are told with Delivered, How being Lossy, whatever the group's order. The number it
// returns counts these messages by themselves.
func (g *Group) SendLossy(now time.Duration, message []byte) (Sequence, error) {
	g.advance(now)
	if err := g.maySend(message, Sequence(g.counters[kindLossy-kindData])); err != nil {
		return 0, err
	}
	e := g.sending
	number := g.count(kindLossy)
	b := g.buffers.Get(e.bodyAt + lossyFixed + len(message) + sealSize + sealSlack)[:e.bodyAt]
	b = be.AppendUint32(b, g.clock())
	b = append(b, message...)
	b = g.seal(e, &header{kind: kindLossy, number: number}, b)
	g.post(b, toAll, SentLossy)
	return Sequence(number), nil
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
		g.stats.Uncounted++
		return
	}
	g.handOver(Event{Kind: Delivered, Member: p.id, Seq: s, How: Lossy, Data: body[lossyFixed:]})
}

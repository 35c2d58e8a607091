package crimp

import (
	"slices"
	"time"

	"github.com/coeval-dev/coeval/member"
)

// ordering puts packets in the order that the group promises.
//
// By source it is enough to wait for what is missing. For causal order a packet says which
// packets of others its sender had been delivered since its last one. For total order
// each has a logical clock (Lamport, 1978), and a packet is delivered when it is certain
// that nobody can still send one with a lower clock. There is no sequencer to wait
// for or to lose.
type ordering struct {
	lamport uint64
}

// pending is a packet that waits for its turn, or the gap that one has left.
type pending struct {
	seq     Sequence
	more    uint32 // a gap: so many packets after seq
	gone    bool
	how     How
	logical uint64
	deps    int // bytes of dependencies in front of the message
	content []byte
}

// promise is what a control packet says about the logical clocks to come.
type promise struct {
	last    Sequence
	logical uint64
}

// room is how many bytes order may take of a packet.
func (o *ordering) room(g *Group) int {
	switch g.opt.Order {
	case Causal:
		return 1 + dependency*min(len(g.peers), maxDependents)
	case Total:
		return lamportSize
	}
	return 0
}

// content puts in front of a message what its order needs. It uses old's memory.
func (o *ordering) content(g *Group, old, message []byte) []byte {
	b := old[:0]
	switch g.opt.Order {
	case Causal:
		b = append(b, 0)
		for _, p := range g.peers {
			if d := p.deliver - 1; d > p.depSent && b[0] < maxDependents {
				p.depSent = d
				b[0]++
				b = be.AppendUint16(b, uint16(p.id))
				b = be.AppendUint32(b, uint32(d))
			}
		}
	case Total:
		o.lamport++
		b = be.AppendUint64(b, o.lamport)
	}
	return append(b, message...)
}

// heard takes the logical clock of a control packet.
func (o *ordering) heard(p *peer, c *controlBody) {
	if !c.logical || c.lamport > maxLamport {
		return
	}
	o.lamport = max(o.lamport, c.lamport)
	if c.lamport >= p.promise.logical {
		p.promise = promise{c.last, c.lamport}
	}
}

// maxLamport keeps a hostile member from driving the clock to its end.
const maxLamport = 1 << 62

// enqueueContent queues a packet for its turn.
func (g *Group) enqueueContent(p *peer, s Sequence, content []byte, how How) {
	q := pending{seq: s, how: how}
	switch {
	case g.opt.Order == Causal && len(content) > 0:
		q.deps = 1 + dependency*int(content[0])
	case g.opt.Order == Causal || g.opt.Order == Total && len(content) < lamportSize:
		q.gone = true
	case g.opt.Order == Total:
		q.deps, q.logical = lamportSize, be.Uint64(content)
	}
	if q.gone = q.gone || q.deps > len(content) || q.logical > maxLamport; q.gone {
		g.stats.Malformed++
		g.enqueue(p, pending{seq: s, how: how, gone: true})
		return
	}
	if p != g.self && q.logical > g.order.lamport {
		g.order.lamport = q.logical
		// Others wait for our clock to pass this one. If we have nothing to
		// say of our own, a sign of life must.
		g.beat.at = min(g.beat.at, max(g.now, g.beat.last)+2*time.Millisecond)
	}
	q.content = append(g.buffers.Get(len(content))[:0], content...)
	g.enqueue(p, q)
}

func (g *Group) enqueue(p *peer, q pending) {
	at, double := slices.BinarySearchFunc(p.queue, q.seq,
		func(a pending, s Sequence) int { return int(a.seq) - int(s) })
	if double || q.seq+Sequence(q.more) < p.deliver {
		g.buffers.Put(q.content)
		return
	}
	p.queue = slices.Insert(p.queue, at, q)
}

// dropQueued drops some of what waits for its turn.
func (g *Group) dropQueued(p *peer, drop func(*pending) bool) {
	p.queue = slices.DeleteFunc(p.queue, func(q pending) bool {
		gone := drop(&q)
		if gone {
			g.buffers.Put(q.content)
		}
		return gone
	})
}

// pump delivers all whose turn it is.
func (g *Group) pump() {
	if g.self == nil || g.holding {
		return
	}
	switch g.opt.Order {
	case Immediate:
		return
	case Total:
		for g.pumpTotal() {
		}
		return
	}
	for again := true; again; {
		again = false
		for _, p := range g.peers {
			for len(p.queue) > 0 && p.queue[0].seq == p.deliver && g.releasable(&p.queue[0]) {
				g.deliverHead(p)
				again = g.opt.Order == Causal
			}
		}
	}
}

// releasable reports whether all that a packet depends on has been delivered.
func (g *Group) releasable(q *pending) bool {
	if g.opt.Order != Causal || q.gone {
		return true
	}
	for b := q.content[1:q.deps]; len(b) > 0; b = b[dependency:] {
		id, s := member.ID(be.Uint16(b)), Sequence(be.Uint32(b[2:]))
		// Of a member that is gone, and of whom we never heard, nothing will come.
		if p := g.byID[id]; p != nil && p.deliver <= s && (p.present || p.next > s) {
			return false
		}
	}
	return true
}

// deliverHead delivers the first of a member's queue.
func (g *Group) deliverHead(p *peer) {
	q := p.queue[0]
	p.queue = slices.Delete(p.queue, 0, 1)
	p.deliver = q.seq + Sequence(q.more) + 1
	if q.gone {
		g.emit(Event{Kind: GaveUp, Member: p.id, Seq: q.seq, More: q.more, How: q.how})
		return
	}
	p.logical = q.logical
	g.lent = append(g.lent, q.content)
	g.handOver(Event{Kind: Delivered, Member: p.id, Seq: q.seq, How: q.how,
		Data: q.content[q.deps:]})
}

// pumpTotal delivers the packet with the lowest logical clock, if no lower can come.
func (g *Group) pumpTotal() bool {
	var best *peer
	consider := func(p *peer) {
		if len(p.queue) == 0 || p.queue[0].seq != p.deliver {
			return
		}
		if best == nil || p.queue[0].gone || !best.queue[0].gone &&
			p.queue[0].logical < best.queue[0].logical ||
			!best.queue[0].gone && p.queue[0].logical == best.queue[0].logical && p.id < best.id {
			best = p
		}
	}
	consider(g.self)
	for _, p := range g.peers {
		consider(p)
	}
	if best == nil {
		return false
	}
	if !best.queue[0].gone {
		for _, p := range g.peers {
			if p == best {
				continue
			}
			// Of one that is gone, only what is missing can still come.
			if (p.present || len(p.losses) > 0) && p.least() < best.queue[0].logical {
				return false
			}
		}
	}
	g.deliverHead(best)
	return true
}

// least is the logical clock below or at which nothing more can come of a member, apart
// from what waits in its queue in unbroken order.
func (p *peer) least() uint64 {
	at, logical := p.deliver, p.logical
	for i := range p.queue {
		if p.queue[i].seq != at {
			break
		}
		at += Sequence(p.queue[i].more) + 1
		if !p.queue[i].gone {
			logical = p.queue[i].logical
		}
	}
	if p.promise.last < at {
		logical = max(logical, p.promise.logical)
	}
	return logical
}

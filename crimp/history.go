package crimp

import (
	"slices"
	"time"
)

// slot is what is known of one packet.
type slot struct {
	state    slotState
	via      uint8 // the packet so many after it carries it; zero: datagram is its own
	how      How
	seen     bool   // a repair was seen or sent, at the time repaired
	loss     int32  // 1 + index among the peer's losses
	planned  int32  // 1 + index among the group's repairs
	interval uint32 // in which it was first heard of
	datagram []byte // as it came, to repair with
	repaired time.Duration
}

type slotState uint8

const (
	slotMissing slotState = iota + 1 // or not known to exist, if there is no loss of it
	slotHave
	slotGone // given up
)

const (
	ringFirst = 64
	// ringMost bounds the packets of one member that are kept. It is eight seconds at a
	// thousand a second.
	ringMost = 8192
)

// at gives the slot of a packet that lies between base and next.
func (h *history) at(s Sequence) *slot { return &h.ring[int(s)&(len(h.ring)-1)] }

// sum gives the place of a packet's sum.
func (h *history) sum(s Sequence) *contentSum {
	return (*contentSum)(h.sums[h.sumAt(s):])
}

func (h *history) sumAt(s Sequence) int { return int(s) & (len(h.ring) - 1) * sumSize }

// blank makes the slot of a packet of which nothing has come.
func (h *history) blank(s Sequence, interval uint32) {
	*h.at(s), *h.sum(s) = slot{state: slotMissing, interval: interval}, contentSum{}
}

// alloc makes a ring for n packets, a power of two.
func (h *history) alloc(n int) {
	h.ring, h.sums = make([]slot, n), make([]byte, n*sumSize)
}

// holds reports whether there is a slot for a packet.
func (h *history) holds(s Sequence) bool { return s >= h.base && s < h.next }

// reserve makes the ring large enough for all below next.
func (p *peer) reserve(next Sequence) {
	if int(next-p.base) > len(p.ring) {
		p.resize(p.base, next)
	}
}

// resize makes the ring so large that it holds all from base up to next.
func (h *history) resize(base, next Sequence) {
	n := len(h.ring)
	for int(next-base) > n {
		n *= 2
	}
	was := *h
	h.base = base
	h.alloc(n)
	for s := was.base; s < was.base+Sequence(len(was.ring)) && s < next; s++ {
		*h.at(s), *h.sum(s) = *was.at(s), *was.sum(s)
	}
}

// expire drops what is older than the history. What is still missing is given up.
func (g *Group) expire() {
	limit := g.interval - uint32(g.opt.Intervals)
	if g.interval < uint32(g.opt.Intervals) {
		limit = 0
	}
	for _, p := range g.peers {
		if g.lingers(p) {
			p.younger()
			continue
		}
		g.expireDoubts(p)
		for p.base < p.next && p.at(p.base).interval < limit {
			g.dropOldest(p)
		}
	}
	if g.awaited() {
		g.self.younger()
	}
	for p := g.self; p.base < p.next &&
		(p.at(p.base).interval < limit || p.next-p.base > ringMost); {
		g.dropOldest(p)
	}
	g.dropPeers()
}

// dropOldest takes the oldest packet of a member out of the history.
func (g *Group) dropOldest(p *peer) {
	s := p.base
	slot := p.at(s)
	if slot.state == slotMissing && p != g.self && !p.floating {
		g.giveUp(p, s)
	}
	g.vacate(p, slot)
	p.base++
}

// vacate frees what a packet in the history takes, and forgets it.
func (g *Group) vacate(p *peer, s *slot) {
	p.removeLoss(s)
	g.dropDatagram(s)
	*s = slotZero
}

// dropDatagram frees a packet's datagram, which then can repair nothing any more.
func (g *Group) dropDatagram(s *slot) {
	if s.planned != 0 {
		g.cancelRepair(int(s.planned) - 1)
	}
	g.buffers.Put(s.datagram)
	s.datagram = nil
}

var slotZero slot

// giveUp tells the application that a packet will not come.
func (g *Group) giveUp(p *peer, s Sequence) {
	p.at(s).state = slotGone
	if p.ended && s > p.end {
		return // it does not count
	}
	g.tellGaveUp(p, pending{seq: s})
}

// tellGaveUp tells the application that packets are given up, when it is their turn.
func (g *Group) tellGaveUp(p *peer, q pending) {
	q.gone = true
	g.stats.GaveUp += uint64(q.more) + 1
	if g.opt.Order == Immediate && !g.holding {
		g.emit(Event{Kind: GaveUp, Member: p.id, Seq: q.seq, More: q.more, How: q.how})
		return
	}
	g.enqueue(p, q)
}

// dropPeers forgets members that have been gone for longer than the history.
func (g *Group) dropPeers() {
	for i := 0; i < len(g.peers); i++ {
		p := g.peers[i]
		if p.present || p.untold || p.base < p.next || len(p.queue) > 0 ||
			g.now-p.heard < g.opt.History {
			continue
		}
		g.forget(p)
		delete(g.byID, p.id)
		g.peers = slices.Delete(g.peers, i, i+1)
		i--
	}
}

// forget frees what a member's packets take.
func (g *Group) forget(p *peer) {
	for i := range p.ring {
		g.dropDatagram(&p.ring[i])
	}
	for i := range p.sets {
		p.sets[i].clear(&g.buffers)
	}
	g.dropQueued(p, func(*pending) bool { return true })
	for i := range p.doubts {
		g.buffers.Put(p.doubts[i].datagram)
	}
	p.doubts = nil
	p.losses, p.queue = nil, nil
	p.alloc(ringFirst)
	p.base = p.next
}

// extend makes slots up to, but not including, next. They count as missing.
func (g *Group) extend(p *peer, next Sequence) {
	if next <= p.next {
		return
	}
	if over := int64(next) - int64(p.base) - ringMost; over > 0 {
		g.skip(p, next-ringMost)
	}
	p.reserve(next)
	for ; p.next < next; p.next++ {
		p.blank(p.next, g.interval)
	}
}

// skip gives up all below a sequence at once: a member that was away for long need not
// hear of each.
func (g *Group) skip(p *peer, to Sequence) {
	for p.base < to && p.base < p.next {
		g.dropOldest(p)
	}
	if p.next < to {
		if !p.floating {
			n := uint32(to - p.next)
			g.stats.Lost += uint64(n)
			g.tellGaveUp(p, pending{seq: p.next, more: n - 1})
		}
		p.base, p.next = to, to
	}
}

// replayWindow tells whether a number was seen before. Each of the last ones up to top has a bit.
type replayWindow struct {
	top  uint32
	bits [replayBits / 64]uint64
}

const replayBits = 256

// fresh reports whether a number may be new, without noting it.
func (w *replayWindow) fresh(n uint32) bool {
	if n > w.top {
		return true
	}
	return w.top-n < replayBits && w.bits[n/64%4]>>(n%64)&1 == 0
}

// note remembers that a number was seen.
func (w *replayWindow) note(n uint32) {
	for w.top = max(w.top, n-min(n, replayBits)); w.top < n; {
		w.top++
		w.bits[w.top/64%4] &^= 1 << (w.top % 64)
	}
	if w.top-n < replayBits {
		w.bits[n/64%4] |= 1 << (n % 64)
	}
}

package crimp

import (
	"slices"
	"time"

	"github.com/coeval-dev/coeval/member"
)

// peer is what is known of one member: its packets within the history, what of them is
// missing, and how far away it is. Our own packets are kept in one, too.
type peer struct {
	id      member.ID
	card    Card
	secret  []byte // shared with it
	present bool   // in the newest roster
	left    bool   // has said that it leaves
	ended   bool   // it is gone, and its packets up to end count
	end     Sequence
	wedged  bool // nothing beyond wedge is taken for now
	wedge   Sequence
	parting bool // gone, but Left has not been told yet
	why     Reason

	// A ring of slots for the sequences from base up to, but not including, next.
	ring       []slot
	base, next Sequence
	// floating: we came while it was sending, so what is below its first packet that
	// came is not missing, as far as we know yet.
	floating bool
	started  bool

	losses   []loss
	patience int // how many later packets make one lost
	inOrder  int // packets since patience was last raised
	lossRate float64
	repeat   int // how many predecessors its packets carry
	packets  int // its window of parity
	parity   int

	period   time.Duration // its regular clock, zero for none
	anchor   Sequence      // newest packet that came as it was first sent
	anchorAt time.Duration

	delay  delay
	window replayWindow // of its control packets
	lossy  replayWindow // of its lossy packets
	sets   [paritySets]paritySet
	setAt  int

	heard    time.Duration // when anything genuine last came
	lossSeen uint8         // what it reports of our packets
	lossAt   time.Duration
	bucket   bucket // for repairs that it asks for
	queue    []pending
	deliver  Sequence // the next in order
	logical  uint64   // logical clock of the last delivered
	promise  promise
	depSent  Sequence // the last of it that a packet of ours says it depends on
	fresh    Sequence // from here on all is sealed in the newest epoch; zero: not known yet
	freshIn  uint32   // the epoch that this is about
}

// slot is what is known of one packet.
type slot struct {
	state    slotState
	via      uint8  // the packet so many after it carries it; zero: datagram is its own
	loss     int32  // 1 + index among the peer's losses
	planned  int32  // 1 + index among the group's repairs
	interval uint32 // in which it was first heard of
	datagram []byte // as it came, to repair with
	repaired time.Duration
	seen     bool // a repair was seen or sent, at the time repaired
	how      How
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

func newPeer(id member.ID, card *Card) *peer {
	return &peer{id: id, card: *card, present: true, ring: make([]slot, ringFirst), base: 1, next: 1, deliver: 1, started: true}
}

// addPeer finds or makes a member of a new roster.
func (g *Group) addPeer(m *Member, floating bool) *peer {
	if p := g.byID[m.ID]; p != nil {
		p.card.Addr, p.card.Site = m.Addr, m.Site
		return p
	}
	p := newPeer(m.ID, &m.Card)
	p.floating, p.started = floating, !floating
	p.patience = g.opt.Recovery.OutOfOrder
	p.heard = g.now
	p.bucket.fill(g.now, g.pace.each())
	g.byID[m.ID] = p
	at, _ := slices.BinarySearchFunc(g.peers, m.ID, func(p *peer, id member.ID) int { return int(p.id) - int(id) })
	g.peers = slices.Insert(g.peers, at, p)
	g.emit(Event{Kind: Joined, Member: m.ID})
	return p
}

// at gives the slot of a packet that lies between base and next.
func (p *peer) at(s Sequence) *slot { return &p.ring[int(s)&(len(p.ring)-1)] }

// holds reports whether there is a slot for a packet.
func (p *peer) holds(s Sequence) bool { return s >= p.base && s < p.next }

// reserve makes the ring large enough for all below next.
func (p *peer) reserve(next Sequence) {
	n := len(p.ring)
	for int(next-p.base) > n {
		n *= 2
	}
	if n == len(p.ring) {
		return
	}
	ring := make([]slot, n)
	for s := p.base; s < p.base+Sequence(len(p.ring)) && s < next; s++ {
		ring[int(s)&(n-1)] = *p.at(s)
	}
	p.ring = ring
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
		for p.base < p.next && p.at(p.base).interval < limit {
			g.dropOldest(p)
		}
	}
	for p := g.self; p.base < p.next && p.at(p.base).interval < limit; {
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
	if slot.loss != 0 {
		p.removeLoss(int(slot.loss) - 1)
	}
	if slot.planned != 0 {
		g.cancelRepair(int(slot.planned) - 1)
	}
	if slot.datagram != nil {
		g.pool.put(slot.datagram)
	}
	*slot = slotZero
	p.base++
}

var slotZero slot

// giveUp tells the application that a packet will not come.
func (g *Group) giveUp(p *peer, s Sequence) {
	p.at(s).state = slotGone
	if p.ended && s > p.end {
		return // it does not count
	}
	g.stats.GaveUp++
	if g.opt.Order == Immediate && !g.holding {
		g.emit(Event{Kind: GaveUp, Member: p.id, Seq: s})
		return
	}
	g.enqueue(p, pending{seq: s, gone: true})
}

// dropPeers forgets members that have been gone for longer than the history.
func (g *Group) dropPeers() {
	for i := 0; i < len(g.peers); i++ {
		p := g.peers[i]
		if p.present || p.parting || p.base < p.next || len(p.queue) > 0 || g.now-p.heard < g.opt.History {
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
		if p.ring[i].planned != 0 {
			g.cancelRepair(int(p.ring[i].planned) - 1)
		}
		if p.ring[i].datagram != nil {
			g.pool.put(p.ring[i].datagram)
		}
	}
	for i := range p.sets {
		p.sets[i].clear(&g.pool)
	}
	for i := range p.queue {
		if p.queue[i].content != nil {
			g.pool.put(p.queue[i].content)
		}
	}
	p.ring, p.losses, p.queue = nil, nil, nil
	p.ring = make([]slot, ringFirst)
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
		*p.at(p.next) = slot{state: slotMissing, interval: g.interval}
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
			n := uint64(to - p.next)
			g.stats.Lost += n
			g.stats.GaveUp += n
			if g.opt.Order == Immediate && !g.holding {
				g.emit(Event{Kind: GaveUp, Member: p.id, Seq: p.next, More: uint32(n - 1)})
			} else {
				g.enqueue(p, pending{seq: p.next, gone: true, more: uint32(n - 1)})
			}
		}
		p.base, p.next = to, to
	}
}

// replayWindow tells whether a number was seen before.
type replayWindow struct {
	top  uint32
	bits [4]uint64
}

const replayBits = 256

// fresh reports whether a number may be new, without noting it.
func (w *replayWindow) fresh(n uint32) bool {
	if n > w.top {
		return true
	}
	back := w.top - n
	return back < replayBits && w.bits[back/64]>>(back%64)&1 == 0
}

// note marks a number as seen.
func (w *replayWindow) note(n uint32) {
	if n > w.top {
		shift := n - w.top
		for ; shift >= 64; shift -= 64 {
			w.bits = [4]uint64{0, w.bits[0], w.bits[1], w.bits[2]}
			if n-w.top > replayBits {
				w.bits = [4]uint64{}
				shift = 0
				break
			}
		}
		if shift > 0 {
			for i := 3; i > 0; i-- {
				w.bits[i] = w.bits[i]<<shift | w.bits[i-1]>>(64-shift)
			}
			w.bits[0] <<= shift
		}
		w.top = n
	}
	back := w.top - n
	if back < replayBits {
		w.bits[back/64] |= 1 << (back % 64)
	}
}

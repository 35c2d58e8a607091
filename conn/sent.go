package conn

import "time"

// sent remembers our packets until it is known what became of each, and some
// time longer, since a packet taken for lost may yet be acknowledged. Whatever the peer
// acknowledges or does not, it remembers at most sentMost of them: the oldest give way. No packet
// is looked at again and again in search of those without a verdict: pending and asking only rise.
type sent struct {
	ring    ring[uint32, sentPacket]
	base    uint32 // the oldest still remembered
	next    uint32 // the number of the next packet
	pending uint32 // none before it is without a verdict
	asking  uint32 // and none before it that asks for an acknowledgement

	refs     ring[uint32, ref] // what the packets carried, in order
	refsBase uint32            // position of the oldest packet's first
	refsNext uint32

	largestAcked uint32
	inFlight     int  // packets without a verdict that want one
	gap          bool // some packet before largestAcked has no verdict
	flightBytes  int
	backoff      int    // how often in a row patience has run out
	reordering   int    // how often packets taken for lost turned up, forgotten slowly
	looked       uint64 // at how many packets, in search of those that are lost
}

type sentPacket struct {
	at       time.Duration
	epoch    uint32
	reported uint32 // largest of the peer's packets that it acknowledged
	refs     uint32 // position of its first
	refCount uint16
	size     uint16
	state    PacketState
	elicits  bool // asks for an acknowledgement
	composed bool // by the layer above, who wants to be told the verdict
}

// PacketState is what is known of a packet of ours.
type PacketState uint8

const (
	// PacketPending: on its way, or its acknowledgement is.
	PacketPending PacketState = iota
	// PacketArrived: the peer has it.
	PacketArrived
	// PacketLost: taken for lost.
	PacketLost
	// PacketForgotten: so long ago that it is not remembered, or never sent.
	PacketForgotten
)

// ref names something that was sent and wants to know its fate: a reliable
// message or a fragment of one, a chunk of a transfer, a control frame.
type ref uint32

const (
	refReliable = 0 // channel 4, message 16, fragment 8
	refBulk     = 1 // transfer 8, chunk 18
	refControl  = 2 // which
	refKind     = 30
)

func reliableRef(channel uint8, message uint16, fragment uint8) ref {
	return refReliable<<refKind | ref(channel)<<24 | ref(message)<<8 | ref(fragment)
}

func bulkRef(id BulkID, chunk uint32) ref {
	return refBulk<<refKind | ref(id)<<18 | ref(chunk)
}

func controlRef(which int) ref { return refControl<<refKind | ref(which) }

const (
	sentFirst = 16
	// sentMost is how many packets are remembered: twice what a transfer may have under way.
	sentMost = 2 * bulkWindow
	// refsMost is how many things of which they want to know the fate, and leastFrame how many
	// bytes of a packet each of those takes at least.
	refsMost   = 8 * sentMost
	leastFrame = 1 + reliablePrefix
)

func newSent() sent {
	return sent{ring: make(ring[uint32, sentPacket], sentFirst), base: 1, next: 1, pending: 1,
		asking: 1}
}

func (s *sent) at(n uint32) *sentPacket { return s.ring.at(n) }

// beginSent makes room for the next packet and returns it.
func (c *Conn) beginSent() *sentPacket {
	s := &c.sent
	for s.next-s.base >= sentMost ||
		s.refsNext-s.refsBase > refsMost-uint32(c.datagram/leastFrame) {
		if p := s.at(s.base); p.state == PacketPending {
			c.packetLost(s.base, p)
		}
		s.drop()
	}
	if size := len(s.ring); int(s.next-s.base) == size {
		s.ring = s.ring.resized(s.base, s.next, 2*size)
	}
	p := s.at(s.next)
	*p = sentPacket{refs: s.refsNext}
	return p
}

// note adds a reference to the packet being built.
func (s *sent) note(r ref) {
	if size := len(s.refs); int(s.refsNext-s.refsBase) == size {
		s.refs = s.refs.resized(s.refsBase, s.refsNext, max(2*size, sentFirst))
	}
	*s.refs.at(s.refsNext) = r
	s.refsNext++
}

func (s *sent) ref(p *sentPacket, i uint16) ref { return *s.refs.at(p.refs + uint32(i)) }

// Lost packets are remembered for this long, so that a late acknowledgement
// can still call off a repair; but never more of them than an acknowledgement can reach.
const keepLost = 3 * time.Second

// forget drops the packets that nothing can refer to any more. One that asked for no
// acknowledgement gets no verdict if none comes along with something else.
func (s *sent) forget(now time.Duration) {
	for s.base != s.next {
		p := s.at(s.base)
		switch {
		case p.state == PacketPending && (p.elicits || now-p.at < keepLost):
			return
		case p.state == PacketPending:
			s.flightBytes -= int(p.size)
		case p.state == PacketLost && s.next-s.base < seenBits && now-p.at < keepLost:
			return
		}
		s.drop()
	}
}

// drop forgets the oldest packet.
func (s *sent) drop() {
	p := s.at(s.base)
	s.refsBase = p.refs + uint32(p.refCount)
	s.base++
	s.pending, s.asking = max(s.pending, s.base), max(s.asking, s.base)
}

// forgetAll drops all of them.
func (s *sent) forgetAll() {
	s.base, s.pending, s.asking, s.refsBase = s.next, s.next, s.next, s.refsNext
	s.inFlight, s.flightBytes, s.gap = 0, 0, false
}

// shrink gives memory back after a burst.
func (s *sent) shrink() {
	s.ring = s.ring.shrunk(s.base, s.next)
	s.refs = s.refs.shrunk(s.refsBase, s.refsNext)
}

// takeAck applies an acknowledgement and reports false if it acknowledges what
// was never sent.
func (c *Conn) takeAck(a *ack, low uint16) bool {
	if a.form == ackNone {
		return true
	}
	s := &c.sent
	var ok bool
	a.number, ok = expand(s.next-1, low)
	if !ok || a.number >= s.next || a.number == 0 {
		// Where nothing was acknowledged for so long that half of a number does not tell which
		// packet is meant, it may be one of long ago, of which nothing is remembered.
		return s.next-s.largestAcked > 1<<15
	}
	// Nothing is said about packets further back than an acknowledgement reaches.
	n := s.base
	if a.number >= seenBits && n < a.number-seenBits {
		n = a.number - seenBits
	}
	news := false
	for ; n <= a.number; n++ {
		p := s.at(n)
		if p.state == PacketArrived || !a.covers(a.number-n) {
			continue
		}
		news = true
		if n == a.number {
			// Numbers are never used twice, so one that was taken for lost is as good a
			// measurement, and the one that shows that patience was too short.
			c.sampleRoundTrip(p, a.delay)
		}
		c.packetArrived(n, p)
	}
	if news {
		s.largestAcked = max(s.largestAcked, a.number)
		c.lastAck = c.m.now
		c.sent.backoff = 0
		c.rateRound()
	}
	if s.largestAcked >= s.base && s.base != s.next {
		if s.base < s.largestAcked || s.at(s.base).state != PacketPending {
			c.findLost()
		}
	}
	return true
}

func (c *Conn) packetArrived(n uint32, p *sentPacket) {
	if p.state == PacketLost {
		c.book.Spurious++
		c.sent.reordering = min(c.sent.reordering+1, 8)
	} else {
		c.landed(p)
		c.rate.acked += int32(p.size) + udpOverhead
		c.measure.outAcked++
		if p.composed {
			c.m.emit(Arrived, c).Packet = PacketNumber(n)
		}
	}
	p.state = PacketArrived
	c.received.known(n, p.reported)
	for i := range p.refCount {
		c.refArrived(c.sent.ref(p, i))
	}
}

func (c *Conn) packetLost(n uint32, p *sentPacket) {
	c.landed(p)
	p.state = PacketLost
	c.rate.lost += int32(p.size) + udpOverhead
	c.measure.outLost++
	if p.composed {
		c.m.emit(Lost, c).Packet = PacketNumber(n)
	}
	for i := range p.refCount {
		c.refLost(c.sent.ref(p, i), n)
	}
}

// landed takes a packet that gets its verdict out of what is in flight.
func (c *Conn) landed(p *sentPacket) {
	c.rate.verdicts++
	if p.elicits {
		c.sent.inFlight--
	}
	c.sent.flightBytes -= int(p.size)
}

// findLost gives up packets that were overtaken: one sent later has arrived, and
// the time by which reordering would explain that has passed. This is RFC 8985's
// idea; the window widens each time that it proves too short, up to half a round trip.
func (c *Conn) findLost() {
	s := &c.sent
	now := c.m.now
	wait := c.overtaken()
	s.gap = false
	for ; s.pending < s.largestAcked; s.pending++ {
		s.looked++
		p := s.at(s.pending)
		if p.state != PacketPending {
			continue
		}
		if now-p.at < wait && s.largestAcked-s.pending < seenBits {
			s.gap = true // and those after it are younger
			break
		}
		c.packetLost(s.pending, p)
	}
	s.forget(now)
}

// overtaken is how old a packet may be when one sent after it has arrived.
func (c *Conn) overtaken() time.Duration {
	q := &c.measure
	window := max(q.smooth/4, 2*q.deviation, 5*time.Millisecond)
	window += window * time.Duration(c.sent.reordering) / 2
	return max(q.smooth, q.latest) + min(window, max(q.smooth/2, 30*time.Millisecond))
}

// patience is how long to wait for an acknowledgement that should come. It
// doubles each time nothing came.
func (c *Conn) patience() time.Duration {
	q := &c.measure
	d := q.smooth + max(4*q.deviation, 20*time.Millisecond) + max(q.peerDelay, ackSoon)
	return d << min(c.sent.backoff, 5)
}

// giveUp takes for lost what has waited for longer than patience lasts, where no
// acknowledgement of later packets can tell. What asked for no acknowledgement will be acknowledged
// along with something else.
func (c *Conn) giveUp() {
	wait := c.patience()
	for {
		at, ok := c.sent.oldestPending()
		if !ok || c.m.now-at < wait {
			break
		}
		c.packetLost(c.sent.asking, c.sent.at(c.sent.asking))
	}
	c.sent.backoff++
	c.probe = true
}

// oldestPending is when the oldest packet was sent whose acknowledgement is awaited: the one
// numbered asking, if there is any.
func (s *sent) oldestPending() (time.Duration, bool) {
	if s.inFlight == 0 {
		return 0, false
	}
	for ; s.asking != s.next; s.asking++ {
		s.looked++
		if p := s.at(s.asking); p.state == PacketPending && p.elicits {
			return p.at, true
		}
	}
	return 0, false
}

func (c *Conn) refArrived(r ref) {
	switch r >> refKind {
	case refReliable:
		c.messageArrived(uint8(r>>24)&15, uint16(r>>8), uint8(r))
	case refBulk:
		c.chunkArrived(BulkID(r>>18), uint32(r)&(1<<18-1))
	case refControl:
		c.controlArrived(int(r & 0xff))
	}
}

func (c *Conn) refLost(r ref, packet uint32) {
	switch r >> refKind {
	case refReliable:
		c.messageLost(uint8(r>>24)&15, uint16(r>>8), uint8(r), packet)
	case refBulk:
		c.chunkLost(BulkID(r>>18), uint32(r)&(1<<18-1))
	case refControl:
		c.controlLost(int(r & 0xff))
	}
}

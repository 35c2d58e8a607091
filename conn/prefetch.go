package conn

import "github.com/coeval-dev/coeval/link"

// With hundreds of connections each tick finds their memory out of the processor's
// caches, and fetching it line by line as the work comes to it takes longer than the
// work. So it is asked for ahead, for a few connections at once: the loads
// do not depend on each other and overlap.
const ahead = 8

// prefetchSenders asks for the memory of those that a batch came from.
func (s *Server) prefetchSenders(batch []link.Datagram) {
	sum := uint64(0)
	for i := range batch {
		b := batch[i].Data
		if len(b) < dataMin || b[0]&kindData == 0 {
			continue
		}
		if slot := int(headerIdentifier(b) & (maxSlots - 1)); slot < len(s.slots) &&
			s.slots[slot] != nil {
			sum += s.slots[slot].prefetch()
		}
	}
	s.prefetched += sum
}

// prefetchConns asks for the memory of connections that are to be flushed.
func (s *Server) prefetchConns(conns []*Conn) {
	sum := uint64(0)
	for _, c := range conns {
		sum += c.prefetch()
	}
	s.prefetched += sum
}

// Prefetch asks for the memory of a connection on which something is composed soon. It is worth it
// where there are hundreds, for a few at once.
func (s *Server) Prefetch(c *Conn) { s.prefetched += c.prefetch() }

// prefetch reads something of each line that a packet needs, and of what it leads to.
func (c *Conn) prefetch() uint64 {
	sum := uint64(c.own) + uint64(c.seal.low) + c.received.seen[1] + uint64(c.received.waitingAt) +
		uint64(c.route.sendTo.Port()) + uint64(c.sent.refsBase) + uint64(c.lastData) +
		uint64(c.sendGap) + uint64(c.rate.acked) + c.book.Sent[SentTag] +
		c.book.Sent[SentReliable] + c.book.Messages + uint64(c.measure.smooth) +
		uint64(c.measure.least) + uint64(c.measure.outLost)
	sum += uint64(c.seal.aead.Overhead())
	sum += uint64(c.channels[0].newest) // there is one at least
	if cap(c.queued) > 0 {
		sum += uint64(c.queued[:1][0])
	}
	return sum + uint64(c.sent.at(c.sent.base).at)
}

package conn

import (
	"crypto/subtle"
	"net/netip"
	"time"
)

// route is where the packets of a connection go. They go to addr, where the peer has proved to be;
// only while a packet for an address on trial is built, sendTo is that one.
type route struct{ addr, sendTo netip.AddrPort }

// path is an address from which the client was heard, and which has not proved
// yet that it is the client's: anyone on the way can copy a packet and send it on
// from an address of their choice, faster than the original. So the server goes on
// sending to the proved address, and to the new one no more than came from there: a
// challenge, which only the holder of the keys can read and answer.
type path struct {
	addr   netip.AddrPort
	credit int // bytes received from it, less bytes sent to it
	secret [8]byte
	asked  time.Duration // when the last challenge went out
	tries  int
}

const (
	challengePacket = dataHeader + 1 + 8 + tagSize
	pathAgain       = 100 * time.Millisecond
)

// tryPath notes that a genuine, fresh packet came from a new address.
func (c *Conn) tryPath(from netip.AddrPort, size int) {
	p := &c.trial
	now := c.m.now
	if p.addr != from {
		*p = path{addr: from}
		c.m.random.Read(p.secret[:])
	}
	p.credit += size
	if p.tries > 0 && now-p.asked < pathAgain || p.credit < challengePacket {
		return
	}
	p.tries++
	p.asked = now
	p.credit -= challengePacket
	c.m.stats.Probes++
	c.route.sendTo = from
	f := &c.m.frames
	f.begin(c, 0)
	f.control(controlChallenge, p.secret[:])
	f.close()
	c.route.sendTo = c.route.addr
}

// takeAnswer moves the connection if the answer is right and came from the
// address that was challenged.
func (c *Conn) takeAnswer(body []byte, from netip.AddrPort) {
	p := &c.trial
	if p.tries == 0 || p.addr != from || subtle.ConstantTimeCompare(body, p.secret[:]) != 1 {
		return
	}
	elsewhere := p.addr.Addr() != c.route.addr.Addr()
	c.route.addr, c.route.sendTo = from, from
	*p = path{}
	if elsewhere {
		// Another network: what was learnt of the old one's capacity does not hold.
		c.rate.bytes = min(c.rate.bytes, float64(c.m.opt.Rate))
		c.rate.limited = false
		c.measure.least, c.measure.leastBefore = unmeasuredTrip, unmeasuredTrip
	}
	c.m.stats.Moves++
	c.m.emit(Roamed, c)
}

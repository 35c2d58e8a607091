package conn

import (
	"crypto/subtle"
	"net/netip"
	"time"

	"github.com/coeval-dev/coeval/link"
)

// route is where the packets of a connection go. They go to addr, where the peer has proved to be;
// only while a packet for an address on trial is built, sendTo is that one.
type route struct{ addr, sendTo netip.AddrPort }

// trial is an address from which the client was heard, and which has not proved
// yet that it is the client's: anyone on the way can copy a packet and send it on
// from an address of their choice, faster than the original. So the server goes on
// sending to the proved address, and to the new one no more than came from there: a
// challenge, which only the holder of the keys can read and answer.
//
// An answer is not enough, since a copier can pass the challenge on to the client and copy the
// answer (RFC 9000, 9.3.3). So the old address is challenged as well, and the connection moves only
// if nothing shows that the client is still there. Three things show it: the answer to the old
// address's challenge, a packet from the old address that was made after the first from the new
// one, and a packet that comes from the new address and then again from the old one. A client that
// has moved causes none of them, since it makes no packet twice. After the move the last of them
// still counts for a while, and takes the connection back.
type trial struct {
	addr   netip.AddrPort // on trial, or after the move the one before
	credit int            // bytes received from it, less bytes sent to it
	secret [8]byte        // that it was asked to return
	home   [8]byte        // that the proved address was asked to return
	first  uint32         // the first packet that came from the new address
	last   uint32         // the newest
	came   uint64         // bit i: packet last-i came from there
	began  time.Duration
	asked  time.Duration // when the last challenges went out
	tries  int           // how often
	wrong  int           // moves that had to be taken back, in the life of the connection
}

type trialStage uint8

const (
	trialNone     trialStage = iota
	trialAsking              // the new address has not answered
	trialAnswered            // it has, and the old one has time to do so as well
	trialMoved               // the connection has moved
)

const (
	challengePacket = dataHeader + 1 + 8 + tagSize
	// pathAgain is the time between two challenges of a trial, and the least between two trials.
	pathAgain = 80 * time.Millisecond
	// pathTries is how often the old address is asked before its silence counts.
	pathTries = 3
	// pathMost is how long a trial lasts at most, pathBack how long after a move the connection
	// may still be taken back.
	pathMost = 3 * time.Second
	pathBack = 10 * time.Second
)

// heardAt notes from where packet n came, which is genuine. It is the newest if none with a higher
// number has come before it.
func (c *Conn) heardAt(from netip.AddrPort, n uint32, newest bool, size int) {
	p := &c.trial
	if from == c.route.addr {
		switch {
		case c.stage == trialMoved:
			p.note(n)
		case c.stage != trialNone && n > p.first:
			c.stay() // made after the first packet from the other address
		}
		return
	}
	if carrier, _, madeUp := link.Session(c.route.addr); madeUp && carrier == link.Member {
		return // a member is not where an address is: package paths follows it
	}
	on := c.stage == trialAsking || c.stage == trialAnswered
	if !on || p.addr != from {
		// Only what is new begins a trial, and an address that has answered keeps its chance.
		if !newest || c.stage == trialAnswered || p.tries > 0 && c.m.now-p.asked < pathAgain {
			return
		}
		c.stage = trialAsking
		*p = trial{addr: from, first: n, last: n, began: c.m.now, wrong: p.wrong}
		c.m.random.Read(p.secret[:])
		c.m.random.Read(p.home[:])
	}
	p.note(n)
	if p.credit += size; p.tries == 0 {
		c.probePaths()
	}
}

// note remembers that packet n came from the new address.
func (p *trial) note(n uint32) {
	switch {
	case n > p.last:
		p.came = p.came<<(n-p.last) | 1 // all gone if it is 64 or more
		p.last = n
	case p.last-n < 64:
		p.came |= 1 << (p.last - n)
	}
}

// copied handles a packet that was received before and now comes from the old address. If it is
// genuine and came from the new address before, someone copies.
func (c *Conn) copied(n uint32, data []byte, from netip.AddrPort) {
	p := &c.trial
	old := c.route.addr
	if c.stage == trialMoved {
		old = p.addr
	}
	if from != old || n < p.first || p.last-n >= 64 || p.came>>(p.last-n)&1 == 0 {
		return
	}
	d := &c.open
	if data[0]&keyPhase != c.opens {
		if d = c.otherKeys(n); d == nil {
			return
		}
	}
	sealed := data[dataHeader:]
	if _, err := d.aead.Open(sealed[:0], d.number(n), sealed, data[:dataHeader]); err != nil {
		c.m.stats.Forged++
		return
	}
	if c.stage == trialMoved {
		c.m.stats.Returns++
		p.wrong = min(p.wrong+1, 3)
		c.setAddr(old)
	}
	c.stay()
}

// stay ends a trial: the client is where it was.
func (c *Conn) stay() {
	c.m.stats.Stayed++
	c.endTrial()
}

// endTrial ends a trial. The next one begins no sooner than another challenge would have gone out.
func (c *Conn) endTrial() {
	p := &c.trial
	c.stage = trialNone
	*p = trial{asked: p.asked, tries: p.tries, wrong: p.wrong}
}

// probePaths challenges both addresses, the new one as far as its credit goes.
func (c *Conn) probePaths() {
	p := &c.trial
	if c.stage == trialAsking {
		if p.credit < challengePacket {
			return
		}
		p.credit -= challengePacket
		c.m.stats.Probes++
		c.route.sendTo = p.addr
		c.sendChallenge(p.secret[:])
		c.route.sendTo = c.route.addr
	}
	p.tries++
	p.asked = c.m.now
	c.sendChallenge(p.home[:])
}

func (c *Conn) sendChallenge(secret []byte) {
	f := &c.m.frames
	f.begin(c, 0)
	f.control(controlChallenge, secret)
	f.close()
}

// takeAnswer believes an answer for the new address only if it comes from there. One for the old
// address was read by the client where it was, whoever brought it here.
func (c *Conn) takeAnswer(body []byte, from netip.AddrPort) {
	p := &c.trial
	if c.stage != trialAsking && c.stage != trialAnswered {
		return
	}
	if subtle.ConstantTimeCompare(body, p.home[:]) == 1 {
		c.stay()
	} else if p.addr == from && subtle.ConstantTimeCompare(body, p.secret[:]) == 1 {
		c.stage = trialAnswered
	}
}

// pathWait is how long the old address has to show that the client is there: two round trips and
// some more, so that a single loss does not decide, and longer where that was too short before.
func (c *Conn) pathWait() time.Duration {
	q := &c.measure
	trip := q.smooth + max(4*q.deviation, 20*time.Millisecond) + ackSoon
	wait := max(2*trip, (pathTries-1)*pathAgain+trip)
	return min(wait*time.Duration(1+c.trial.wrong), pathMost)
}

// pathDue is when a trial next has something to do.
func (c *Conn) pathDue() time.Duration {
	p := &c.trial
	switch {
	case c.stage == trialMoved:
		return p.began + pathBack
	case c.stage == trialAnswered && p.tries >= pathTries:
		return p.began + c.pathWait()
	case c.stage == trialAsking && p.credit < challengePacket:
		return p.began + pathMost
	}
	return p.asked + pathAgain
}

// flushTrial asks again, and moves the connection when the new address has answered and the old
// one has been silent for long enough.
func (c *Conn) flushTrial() {
	p := &c.trial
	now := c.m.now
	switch {
	case c.stage == trialMoved:
		if now-p.began >= pathBack {
			c.endTrial()
		}
	case c.stage == trialAnswered && p.tries >= pathTries:
		if now-p.began >= c.pathWait() {
			to := p.addr
			c.stage, p.began, p.addr = trialMoved, now, c.route.addr
			c.setAddr(to)
		}
	case now-p.began >= pathMost:
		c.endTrial() // it never answered
	case now-p.asked >= pathAgain:
		c.probePaths()
	}
}

// setAddr makes another address the connection's.
func (c *Conn) setAddr(to netip.AddrPort) {
	elsewhere := to.Addr() != c.route.addr.Addr()
	c.route.addr, c.route.sendTo = to, to
	if elsewhere {
		// Another network: what was learnt of the old one's capacity does not hold.
		c.rate.bytes = min(c.rate.bytes, float64(c.m.opt.Rate))
		c.rate.weigh()
		c.line.shorter()
		c.measure.longer(unmeasuredTrip, unmeasuredTrip)
	}
	c.m.stats.Moves++
	c.m.emit(Roamed, c)
}

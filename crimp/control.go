package crimp

import (
	"time"

	"github.com/coeval-dev/coeval/member"
)

// beat says when to show a sign of life: a control packet with the sequence of our
// last packet, so that the last of a burst is missed where it was lost. The first
// comes soon after the last packet, the next after twice the time, and so on.
type beat struct {
	at       time.Duration
	step     time.Duration
	last     time.Duration // when a packet was last sent
	period   time.Duration // between them, if they are regular
	regular  int           // how many in a row were
	declared bool          // others have been told of the period
}

const (
	beatFirst   = 20 * time.Millisecond
	beatMost    = 200 * time.Millisecond
	regularFrom = 4
	leastPeriod = 2 * time.Millisecond // below, later packets tell as soon
	mostPeriod  = 6 * time.Second      // what two bytes of tenths of a millisecond hold
)

// sent notes that a data packet goes out, and how regular that is.
func (b *beat) sent(now time.Duration) {
	gap := now - b.last
	b.last = now
	off := gap - b.period
	if off < 0 {
		off = -off
	}
	switch {
	case gap == 0: // several at once are no clock
		b.regular = 0
	case b.period > 0 && off <= b.period/8:
		b.regular++
		b.period += (gap - b.period) / 8
	default:
		b.regular, b.period = 0, gap
	}
	b.step = beatFirst
	if b.steady() > 0 {
		// Just before others would miss what we do not send.
		b.step = b.period + b.period/16
	}
	b.at = now + b.step
}

// steady is our period, or zero if there is none to be relied on.
func (b *beat) steady() time.Duration {
	if b.regular < regularFrom || b.period < leastPeriod || b.period > mostPeriod {
		return 0
	}
	return b.period
}

// soon has the next sign of life come with the next Flush.
func (b *beat) soon(now time.Duration) { b.at = min(b.at, now) }

// check notices that the clock has stopped: others must be told before they miss what
// was never sent.
func (b *beat) check(now time.Duration) {
	if p := b.steady(); p > 0 && now-b.last >= p+p/16 {
		b.regular = 0
	}
}

// shown notes that one was sent.
func (b *beat) shown(now time.Duration) {
	if p := b.steady(); p > 0 && now < b.last+p+p/16 {
		b.at = b.last + p + p/16
		return
	}
	b.step = min(max(2*b.step, beatFirst), beatMost)
	b.at = now + b.step
}

// reporting says when to tell others when they were heard, and whom next.
type reporting struct {
	at    time.Duration
	quick int // reports that come quickly, because nobody knows anything yet
	turn  int
}

func (r *reporting) soon(now time.Duration) { r.at, r.quick = now, 6 }

// sendControl sends requests, reports and signs of life that are due.
func (g *Group) sendControl() {
	if g.members < 2 {
		return
	}
	g.beat.check(g.now)
	if g.beat.steady() > 0 != g.beat.declared {
		g.beat.declared = !g.beat.declared
		g.report.at = g.now
	}
	for _, p := range g.peers {
		if len(p.losses) > 1 {
			p.sortLosses()
		}
	}
	if g.directed() {
		g.askDirectly()
	}
	for range 8 {
		c := &g.controlOut
		c.requests, c.reports = c.requests[:0], c.reports[:0]
		g.asksDue(c)
		beat, report := g.now >= g.beat.at, g.now >= g.report.at
		if !beat && !report && len(c.requests) == 0 {
			return
		}
		if report {
			g.addReports(c)
		}
		g.sealControl(c, toAll)
		if beat || report {
			g.beat.shown(g.now)
		}
		if len(c.requests) < maxRequests {
			return
		}
	}
}

// askDirectly asks each source alone, where each datagram reaches one member only.
// From the third attempt on all are asked.
func (g *Group) askDirectly() {
	for _, p := range g.peers {
		if !p.present || g.now-p.heard > g.opt.History/2 {
			continue
		}
		c := &g.controlOut
		c.requests, c.reports = c.requests[:0], c.reports[:0]
		for i := range p.losses {
			l := &p.losses[i]
			if l.due <= g.now && l.asked < 2 {
				g.askFor(p, l, c)
			}
		}
		if len(c.requests) > 0 {
			g.sealControl(c, p.id)
		}
	}
}

// addReports adds the clocks of some others, in turn.
func (g *Group) addReports(c *controlBody) {
	n := len(g.peers)
	for i := 0; i < n && len(c.reports) < maxReports; i++ {
		p := g.peers[(g.report.turn+i)%n]
		if p.present && p.delay.heard {
			c.reports = append(c.reports,
				report{p.id, p.delay.last, p.delay.held(g.now), uint8(p.lossRate*255 + 0.5)})
		}
	}
	if n > 0 {
		g.report.turn = (g.report.turn + min(n, maxReports)) % n
	}
	pause := 250*time.Millisecond + time.Duration(g.members)*15*time.Millisecond
	if g.report.quick > 0 {
		g.report.quick--
		pause = 25 * time.Millisecond
	}
	g.report.at = g.now + pause/2 + scale(pause, g.random.Unit())
}

// sealControl sends a control packet.
func (g *Group) sealControl(c *controlBody, to member.ID) {
	c.clock, c.last, c.leaving = g.clock(), g.self.next-1, g.leaving
	c.period = uint16(g.beat.steady() / periodUnit)
	c.logical = g.opt.Order == Total
	c.lamport = g.order.lamport
	size := headerSize + controlFixed + lamportSize + 2 + len(c.requests)*requestSize +
		len(c.reports)*reportSize + sealSize + g.sending.proofSize
	b := g.buffers.Get(size + sealSlack)[:g.sending.bodyAt]
	b = c.append(b)
	b = g.seal(g.sending, &header{kind: kindControl, number: g.count(kindControl)}, b)
	g.post(b, to, SentControl)
}

// takeControl takes a control packet that its maker made.
func (g *Group) takeControl(e *epoch, p *peer, body []byte) {
	c := &g.control
	if !readControl(body, c) {
		g.stats.Malformed++
		return
	}
	p.delay.stamp(g.now, c.clock)
	p.left = p.left || c.leaving
	g.turned(e, p, c.last+1)
	g.heardLast(p, c)
	for i := range c.requests {
		g.asked(p, &c.requests[i])
	}
	for i := range c.reports {
		if c.reports[i].member == g.self.id {
			p.delay.answered(g.now, &c.reports[i])
			p.lossSeen, p.lossAt = c.reports[i].loss, g.now
			held := time.Duration(c.reports[i].held) * time.Microsecond
			p.echoed = max(p.echoed, g.now-held)
		}
	}
	g.order.heard(p, c)
	g.pump()
}

// heardLast learns how far a source is, and how regular.
func (g *Group) heardLast(p *peer, c *controlBody) {
	p.period = time.Duration(c.period) * periodUnit
	if _, capped := p.limit(); capped || c.last > maxSequence {
		return
	}
	if c.last == 0 {
		g.neverSent(p, 0)
		return
	}
	if !p.started {
		return
	}
	if c.last+1 < p.next {
		g.neverSent(p, c.last)
		return
	}
	// The packet with that number left before this one did.
	g.noticeUpTo(p, c.last, p.patience <= 1)
	for i := range p.losses {
		if l := &p.losses[i]; l.seq <= c.last && !l.sure && g.now-l.noticed >= p.delay.oneWay()/2 {
			g.confirm(p, l)
		}
	}
}

// turned notes from which packet on a member seals in the newest epoch.
func (g *Group) turned(e *epoch, p *peer, from Sequence) {
	if e.number != g.Epoch() {
		return
	}
	if p.freshIn != e.number || from < p.fresh {
		p.freshIn, p.fresh = e.number, from
	}
}

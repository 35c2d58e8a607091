package crimp

import (
	"time"

	"github.com/coeval-dev/coeval/member"
)

// How a lost packet is asked for. SRM (Floyd and others, 1997) has all who miss it
// wait for a random time in proportion to their distance, so that the first to ask
// spares the others. The paper adds that each asks at once with probability 1/n.
//
// Here, unless the factors are fixed, the chance to ask at once is such that about one does of
// the members that usually miss a packet together, which is learnt from their requests.
// Those who do not ask at once lose nothing when somebody else did, for the repair is
// sent to all; only when nobody did, they ask as soon as they would have heard of it.

// schedule decides when to ask for a lost packet for the first time.
func (g *Group) schedule(p *peer, l *loss) {
	if l.asked > 0 || l.others > 0 {
		return // under way already
	}
	d := p.delay.oneWay()
	r := &g.opt.Recovery
	if r.Fixed {
		l.due = g.now
		if g.random.Unit()*float64(g.members) >= 1 {
			l.due += scale(d, r.C1+g.random.Unit()*r.C2)
		}
		return
	}
	l.due = g.now
	if g.random.Unit()*(1+g.cohort.size) < g.cohort.eager(d) {
		return
	}
	near := d
	if g.cohort.known {
		near = g.cohort.delay
	}
	spread := scale(near/2+time.Millisecond, g.random.Unit()*(1+g.cohort.size)/2)
	l.due += near + near/10 + time.Millisecond + spread
}

// asksDue gathers the packets to ask for now into a control packet.
func (g *Group) asksDue(c *controlBody) {
	for _, p := range g.peers {
		for i := range p.losses {
			if p.losses[i].due <= g.now && !g.askFor(p, &p.losses[i], c) {
				return
			}
		}
	}
}

// askFor asks for a packet whose time has come. It returns false when the control packet
// is full; the rest goes with the next.
func (g *Group) askFor(p *peer, l *loss, c *controlBody) bool {
	if !l.sure { // nothing came after it, and it did not come either
		g.confirm(p, l)
		if l.due > g.now {
			return true
		}
	}
	if l.await != 0 { // what could have carried it has not come in time
		l.await = 0
		if g.schedule(p, l); l.due > g.now {
			return true
		}
	}
	if len(c.requests) == maxRequests {
		return false
	}
	if !g.pace.mayAsk(g.now) {
		l.due = g.now + 10*time.Millisecond
		g.stats.Paced++
		return true
	}
	c.ask(p.id, l.seq, uint8(min(l.asked+1, 255)))
	g.stats.Requests++
	l.asked++
	l.due = g.now + g.retryAfter(p, l)
	return true
}

// ask adds a packet to those that a control packet asks for.
func (c *controlBody) ask(m member.ID, s Sequence, attempt uint8) {
	if n := len(c.requests); n > 0 {
		if r := &c.requests[n-1]; r.member == m && r.attempt == attempt && r.first+Sequence(r.more)+
			1 == s && r.more < mostRun {
			r.more++
			return
		}
	}
	c.requests = append(c.requests, request{m, s, 0, attempt})
}

// mostRun is how many packets beyond the first one entry of a request asks for.
const mostRun = 63

// retryAfter is how long the answer to our own request may take.
func (g *Group) retryAfter(p *peer, l *loss) time.Duration {
	d := p.delay.oneWay()
	if g.opt.Recovery.Fixed {
		return scale(d, g.opt.Recovery.F)
	}
	wait := 2*d + g.slack(p)
	// What has failed some times is likely to go on failing: the network is in trouble.
	for i := 8; i < l.asked && wait < 8*d+100*time.Millisecond; i++ {
		wait += wait / 2
	}
	// However late answers may be, there must be time to ask some more.
	return min(wait, max(g.opt.History/8, 2*d+2*time.Millisecond))
}

// slack is what an answer may be late by.
func (g *Group) slack(p *peer) time.Duration {
	return 2*time.Millisecond + p.delay.oneWay()/16 + min(4*p.delay.jitter, p.delay.oneWay())
}

// heardRequest is told that another asks for a packet that we miss too.
func (g *Group) heardRequest(p *peer, s Sequence, by *peer) {
	slot := p.at(s)
	if slot.loss == 0 {
		return
	}
	l := &p.losses[slot.loss-1]
	l.others++
	g.cohort.near(&by.delay)
	if l.asked > 0 {
		return // our own clock runs already
	}
	l.sure = true
	if l.await == 0 && l.due > g.now && l.others == 1 {
		g.stats.Suppressed++
	}
	if l.others > 3 {
		return // a member that asks on and on shall not keep us from asking
	}
	d := p.delay.oneWay()
	if g.opt.Recovery.Fixed {
		l.due = g.now + scale(d, g.opt.Recovery.F)
		return
	}
	// The source has the request about as soon as we do, if it is as far from there.
	wait := max(2*d-by.delay.oneWay(), d/2) + g.slack(p)
	wait += scale(wait/4, g.random.Unit()*min(g.cohort.size, 4)/2)
	l.due = max(g.now+wait, l.awaitUntil(p))
}

// awaitUntil is when forward error correction should have brought a packet, if it is
// waited for.
func (l *loss) awaitUntil(p *peer) time.Duration {
	if l.await == 0 {
		return 0
	}
	return p.expected(l.await) + p.margin()
}

// cohort is who else misses a packet when we do. Behind a link that loses, it is all who
// are behind it; where each loses by itself, it is few and by chance.
type cohort struct {
	size    float64
	samples float64
	delay   time.Duration // how far away they are
	known   bool
	asking  float64 // what eager said last
}

// eager is how many of them should ask at once, on average. With one, nobody does in e^-1 of
// all cases, and all wait; that costs little where they are near to each other. Elsewhere some more
// requests are worth it.
func (c *cohort) eager(d time.Duration) float64 {
	c.asking = 1.4
	if c.known && c.delay < d/4 {
		c.asking = 1
	}
	return c.asking
}

// near learns how far away one is that missed the same packet.
func (c *cohort) near(d *delay) {
	if !d.known {
		return
	}
	if !c.known {
		c.known, c.delay = true, d.oneWay()
	}
	c.delay += (d.oneWay() - c.delay) / 8
}

// learn takes how many others asked for a packet that we had missed. Others ask at once
// with about the same chance as we do, so each that asked stands for more.
func (c *cohort) learn(others, members int) {
	c.samples = min(c.samples+1, 32)
	c.size += (float64(others)*max(1, (1+c.size)/max(c.asking, 1)) - c.size) / (c.samples + 1)
	c.size = min(c.size, float64(members-2))
}

// scale is a duration times a factor.
func scale(d time.Duration, by float64) time.Duration { return time.Duration(float64(d) * by) }

package crimp

import (
	"slices"
	"time"

	"github.com/coeval-dev/coeval/member"
)

// How members agree on what counts of one that is gone.
//
// When a member falls silent, the others may hold different packets of it. An authority
// that lets members decide by majority asks each for what it holds (Freeze); from then on
// a member takes nothing more of it. The most that any of them holds is Departure.Last,
// what none of them holds is Departure.Lost. With the roster that says so, all fetch what they
// lack from those who have it, and give up alike what nobody has. A member that was not
// asked may have been delivered more; it is told what to take back (Revoked).

// Freeze tells what of a member's packets is here, and takes nothing beyond the newest of
// those until Thaw, or a roster that lacks the member. It is false for a member that
// is not known, or of whom nothing can be said since the state has not come yet. What is
// held is not dropped with the history before it is decided.
func (g *Group) Freeze(m member.ID) (Cut, bool) {
	if g.self == nil {
		return Cut{}, false
	}
	if m == g.self.id {
		return Cut{Member: m, Seq: g.self.next - 1}, true
	}
	p := g.byID[m]
	if p == nil || p.floating || !p.present {
		return Cut{}, false
	}
	c := p.held()
	p.frozen, p.frozeAt = true, c.Newest()
	for s := p.frozeAt + 1; s < p.next; s++ {
		p.removeLoss(p.at(s))
	}
	c.Disputed = !p.vouches(c.Newest())
	return c, true
}

// Agree makes the departure of a member from what those who were asked hold of it, by
// Freeze: the most that any of them has counts, and what none of them has is given up. Those who
// were told something else than the member has signed are not asked, unless all were.
func Agree(m member.ID, why Reason, reports []Cut) Departure {
	if slices.ContainsFunc(reports, func(c Cut) bool { return !c.Disputed }) {
		reports = slices.DeleteFunc(slices.Clone(reports), func(c Cut) bool { return c.Disputed })
	}
	d := Departure{ID: m, Reason: why, Agreed: true}
	sure := Sequence(0) // all up to here is held by one of them
	held := map[Sequence]bool{}
	for i := range reports {
		c := &reports[i]
		sure = max(sure, c.Seq)
		d.Last = max(d.Last, c.Newest())
		for _, s := range c.Also {
			held[s] = true
		}
	}
	for s := sure + 1; s <= d.Last; s++ {
		if held[s] {
			continue
		}
		if n := len(d.Lost); n > 0 && d.Lost[n-1].First+Sequence(d.Lost[n-1].More)+1 == s {
			d.Lost[n-1].More++
		} else {
			d.Lost = append(d.Lost, Span{First: s})
		}
	}
	return d
}

// Thaw takes packets of a member again, and asks for those that were passed over.
func (g *Group) Thaw(now time.Duration, m member.ID) {
	g.advance(now)
	p := g.byID[m]
	if p == nil || !p.frozen {
		return
	}
	p.frozen = false
	g.seek(p)
	g.pump()
}

// Linger has the packets of a member that has fallen silent kept beyond the history, for
// up to so long: an authority needs time to find out that it is gone, and to decide what of
// it counts, and until then they are of use. Our own are kept for it as long: it may lack what
// we sent while it could not hear us, and be back.
func (g *Group) Linger(d time.Duration) { g.linger = d }

// lingers reports whether a member's packets are kept although they are old.
func (g *Group) lingers(p *peer) bool {
	if !p.present {
		return false
	}
	silent := g.now - p.heard
	if g.lines.table != nil && g.now-g.Echoed(p.id) > g.opt.History/2 {
		// It may be heard and not hear us: what we ask for is not answered, either.
		silent = max(silent, g.now-g.Echoed(p.id))
	}
	return p.frozen || silent > g.opt.History/4 && silent < g.linger
}

// awaited reports whether a member is silent that our own packets are kept for.
func (g *Group) awaited() bool { return slices.ContainsFunc(g.peers, g.lingers) }

// younger has the history of a member stand still for one interval.
func (p *peer) younger() {
	for s := p.base; s < p.next; s++ {
		p.at(s).interval++
	}
}

// Newest is the highest packet that a cut includes.
func (c *Cut) Newest() Sequence {
	if n := len(c.Also); n > 0 {
		return c.Also[n-1]
	}
	return c.Seq
}

// held is which packets are here, in whatever order they are delivered.
func (p *peer) held() Cut {
	c := Cut{Member: p.id, Seq: p.base - 1}
	for s := p.base; s < p.next; s++ {
		if p.at(s).state == slotMissing {
			continue
		}
		if s == c.Seq+1 {
			c.Seq = s
		} else {
			c.Also = append(c.Also, s)
		}
	}
	return c
}

// limit is the last packet of a member that may be taken, if there is one.
func (p *peer) limit() (Sequence, bool) {
	switch {
	case p.frozen:
		return p.frozeAt, true
	case p.guilty && !p.ended:
		return p.stopped, true
	}
	return p.end, p.ended
}

// seek begins to look for all packets that are missing and not looked for, as if they had
// just been noticed.
func (g *Group) seek(p *peer) {
	if p.floating {
		return
	}
	for s := p.base; s < p.next; s++ {
		if slot := p.at(s); slot.state == slotMissing && slot.loss == 0 {
			slot.interval = g.interval
			g.confirm(p, g.miss(p, s, false))
		}
	}
}

// endPeer sets where the packets of a member that is gone end. All up to there are
// wanted, none beyond. Those who lack some have a whole history from now to ask, and those
// who have them keep them so long.
func (g *Group) endPeer(p *peer, last Sequence) {
	p.ended, p.end = true, last
	g.noticeUpTo(p, last, true)
	g.takeBack(p, last)
	for s := p.base; s < p.next; s++ {
		p.at(s).interval = g.interval
	}
	for i := range p.losses {
		g.confirm(p, &p.losses[i])
	}
	g.seek(p)
}

// takeBack drops what is here of a member beyond a sequence.
func (g *Group) takeBack(p *peer, last Sequence) {
	g.dropQueued(p, func(q *pending) bool { return q.seq > last })
	if p.base > last+1 && !p.floating && !g.holding {
		g.revoke(p, Span{last + 1, uint32(p.base - last - 2)}) // has left the history since
	}
	var revoked Span
	for p.next > last+1 && p.next > p.base {
		s := p.next - 1
		if g.wasDelivered(p, s) {
			if revoked.First != s+1 {
				g.revoke(p, revoked)
				revoked = Span{First: s}
			} else {
				revoked = Span{s, revoked.More + 1}
			}
		}
		g.vacate(p, p.at(s))
		p.next--
	}
	g.revoke(p, revoked)
}

// wasDelivered reports whether a packet in the history has reached the application.
func (g *Group) wasDelivered(p *peer, s Sequence) bool {
	if g.holding || p.floating {
		return false
	}
	if g.opt.Order == Immediate {
		return p.at(s).state == slotHave
	}
	return s < p.deliver && p.at(s).state == slotHave
}

func (g *Group) revoke(p *peer, s Span) {
	if s.First != 0 {
		g.emit(Event{Kind: Revoked, Member: p.id, Seq: s.First, More: s.More})
	}
}

// giveUpAgreed gives up what the members have agreed that nobody has.
func (g *Group) giveUpAgreed(p *peer, d *Departure) {
	if len(d.Lost) == 0 || p.floating {
		return
	}
	g.noticeUpTo(p, d.Last, true)
	for _, l := range d.Lost {
		last := min(l.First+Sequence(l.More), p.next-1)
		for s := max(l.First, p.base); s <= last; s++ {
			g.giveUpOne(p, s)
		}
	}
}

func (g *Group) giveUpOne(p *peer, s Sequence) {
	slot := p.at(s)
	if slot.state == slotGone {
		return
	}
	if g.wasDelivered(p, s) {
		g.revoke(p, Span{First: s})
	} else {
		p.removeLoss(slot)
		g.dropQueued(p, func(q *pending) bool { return q.seq == s })
		g.tellGaveUp(p, pending{seq: s, how: Agreed})
	}
	g.dropDatagram(slot)
	slot.state, slot.via = slotGone, 0
}

// tellLeft tells of members that are gone, once all that counts of them was delivered or
// given up.
func (g *Group) tellLeft() {
	for _, p := range g.peers {
		if !p.untold || p.ended &&
			(g.holding || len(p.losses) > 0 || g.opt.Order != Immediate && p.deliver <= p.end) {
			continue
		}
		p.untold = false
		g.emit(Event{Kind: Left, Member: p.id, Seq: p.end, Reason: p.why})
	}
}

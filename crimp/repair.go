package crimp

import (
	"slices"
	"time"

	"github.com/coeval-dev/coeval/member"
)

// repair is a packet that is about to be sent again, by us, who are not its source.
type repair struct {
	peer *peer
	seq  Sequence
	to   *peer   // who asked
	also []*peer // who asked meanwhile, where a repair reaches one member only
	due  time.Duration
}

// repairing is the repairs that are planned, each of which its slot points to, and whom we have
// sent repairs of late.
type repairing struct {
	repairs []repair
	recent  recentRepairs
}

// asked is told that a member wants a packet. One that is out is owed none.
func (g *Group) asked(by *peer, r *request) {
	if !by.present {
		return
	}
	p := g.byID[r.member]
	if r.member == g.self.id {
		p = g.self
	}
	if p == nil {
		return
	}
	for s := r.first; s <= r.first+Sequence(r.more); s++ {
		if p == g.self && s >= p.next {
			g.beat.soon(g.now) // it was never sent; say so
			return
		}
		if !p.holds(s) {
			continue
		}
		switch p.at(s).state {
		case slotMissing:
			if p != g.self {
				g.heardRequest(p, s, by)
			}
		case slotHave:
			g.offer(p, s, by, r.attempt)
		}
	}
}

// offer answers a request: at once if we are the source, or its bridge; after a while,
// if nobody else has, if we are not. What came here of a member and is not what it has signed we
// pass on to nobody, if others have been sent something else.
func (g *Group) offer(p *peer, s Sequence, by *peer, attempt uint8) {
	if !p.vouches(s) && !g.Denounced(p.id) {
		return
	}
	slot := p.at(s)
	if g.source(p, by) {
		if g.answered(p, slot, s, by) {
			g.stats.Held++
			return
		}
		g.resend(p, s, by)
		return
	}
	r := &g.opt.Recovery
	d := by.delay.oneWay()
	if slot.planned != 0 {
		if r := &g.repairs[slot.planned-1]; g.directed() && r.to != by &&
			!slices.Contains(r.also, by) {
			r.also = append(r.also, by)
		}
		return
	}
	var wait time.Duration
	if r.Fixed {
		if slot.seen && g.now < slot.repaired+scale(p.delay.oneWay(), r.E) {
			g.stats.Held++
			return
		}
		wait = scale(d, r.D1+g.random.Unit()*r.D2)
	} else {
		if g.repairedFor(p, slot, s, by, 2*max(d, p.delay.oneWay())) {
			g.stats.Held++
			return
		}
		if p.present && g.now-p.heard < g.opt.History/4 {
			// The source is there and is asked more than once before we come in, unless we
			// are much nearer to who asked than the source is: with many members, some miss
			// the source's repair and would repair what needs none.
			wait = max(scale(d, g.pace.d1+g.random.Unit()*g.pace.d2), 2*time.Millisecond)
			if 3*d > p.delay.oneWay() {
				if attempt < 3 {
					return
				}
				wait += 2*p.delay.oneWay() +
					scale(p.delay.oneWay(), g.random.Unit()*float64(g.members)/4)
			}
		} else {
			wait = scale(d+time.Millisecond, g.random.Unit()*float64(min(g.members, 16))/2)
		}
	}
	g.repairs = append(g.repairs, repair{peer: p, seq: s, to: by, due: g.now + wait})
	slot.planned = int32(len(g.repairs))
}

// source reports whether we are the one to answer for a member's packets: because they are
// ours, or because who asks is reached from there only through us.
func (g *Group) source(p, by *peer) bool {
	if p == g.self {
		return true
	}
	mine := g.self.card.Site
	return g.bridge && p.card.Site != by.card.Site && (p.card.Site == mine || by.card.Site == mine)
}

// answered reports whether what a request asks for is on its way to who asked: a repair
// was sent, and the request set out before it can have arrived.
func (g *Group) answered(p *peer, slot *slot, s Sequence, by *peer) bool {
	if g.opt.Recovery.Fixed {
		return slot.seen && g.now < slot.repaired+scale(by.delay.oneWay(), g.opt.Recovery.E)
	}
	round := 2 * by.delay.oneWay()
	round -= round / 16
	return g.repairedFor(p, slot, s, by, round)
}

// repairedFor reports whether a repair was sent to a member within a time. Where each reaches one
// member only, what another was sent is of no use to it: one that asks and hears nothing would keep
// all others from being answered.
func (g *Group) repairedFor(p *peer, slot *slot, s Sequence, by *peer, within time.Duration) bool {
	if g.directed() {
		at, ok := g.recent.find(p.id, s, by.id)
		return ok && g.now < at+within
	}
	return slot.seen && g.now < slot.repaired+within
}

// resend sends a packet again.
func (g *Group) resend(p *peer, s Sequence, to *peer) {
	slot := p.at(s)
	datagram := slot.datagram
	if slot.via != 0 && datagram == nil {
		// We have it only inside of another, which serves as well.
		if over := s + Sequence(slot.via); p.holds(over) {
			datagram = p.at(over).datagram
		}
	}
	if datagram == nil {
		return
	}
	if !to.bucket.take(g.now, g.pace.each(), 1) || !g.pace.mayRepair(g.now, len(datagram)) {
		g.stats.Paced++
		return
	}
	b := g.buffers.Get(repairPrefix + len(datagram))[:0]
	b = append(b, kindRepair, byte(g.self.id>>8), byte(g.self.id))
	b = append(b, datagram...)
	g.stats.Repairs++
	slot.seen, slot.repaired = true, g.now
	dest := toAll
	if g.directed() {
		dest = to.id
		g.recent.note(p.id, s, to.id, g.now)
	}
	g.post(b, dest, SentRepair)
}

// sawRepair is told that somebody, perhaps we, has sent a packet again. Where repairs reach one
// member only, the one that we planned is for another.
func (g *Group) sawRepair(slot *slot) {
	if slot.planned != 0 && !g.directed() {
		g.cancelRepair(int(slot.planned) - 1)
	} else if slot.seen && g.now-slot.repaired < 50*time.Millisecond {
		g.pace.doubled()
	}
	slot.seen, slot.repaired = true, g.now
}

func (g *Group) cancelRepair(i int) {
	r := g.repairs[i]
	r.peer.at(r.seq).planned = 0
	end := len(g.repairs) - 1
	if i != end {
		g.repairs[i] = g.repairs[end]
		g.repairs[i].peer.at(g.repairs[i].seq).planned = int32(i + 1)
	}
	g.repairs[end] = repair{}
	g.repairs = g.repairs[:end]
}

// sendRepairs sends those whose time has come.
func (g *Group) sendRepairs() {
	for i := 0; i < len(g.repairs); {
		r := g.repairs[i]
		if r.due > g.now {
			i++
			continue
		}
		g.cancelRepair(i)
		g.resend(r.peer, r.seq, r.to)
		for _, to := range r.also {
			g.resend(r.peer, r.seq, to)
		}
		g.pace.single()
	}
}

// recentRepairs remembers to whom packets were sent again, where repairs go to one
// member alone. It forgets by being overwritten; the price is a repair too many.
type recentRepairs struct {
	entries [1024]recentRepair
}

type recentRepair struct {
	member, to member.ID
	seq        Sequence
	at         time.Duration
}

func (r *recentRepairs) slot(m member.ID, s Sequence, to member.ID) *recentRepair {
	h := uint32(m)*0x9e3779b1 ^ uint32(s)*0x85ebca6b ^ uint32(to)*0xc2b2ae35
	return &r.entries[h>>22]
}

func (r *recentRepairs) find(m member.ID, s Sequence, to member.ID) (time.Duration, bool) {
	e := r.slot(m, s, to)
	return e.at, e.member == m && e.seq == s && e.to == to
}

func (r *recentRepairs) note(m member.ID, s Sequence, to member.ID, at time.Duration) {
	*r.slot(m, s, to) = recentRepair{m, to, s, at}
}

// sortLosses keeps runs of sequences together, so that one request covers them.
func (p *peer) sortLosses() {
	if slices.IsSortedFunc(p.losses, func(a, b loss) int { return int(a.seq) - int(b.seq) }) {
		return
	}
	slices.SortFunc(p.losses, func(a, b loss) int { return int(a.seq) - int(b.seq) })
	for i := range p.losses {
		p.at(p.losses[i].seq).loss = int32(i + 1)
	}
}

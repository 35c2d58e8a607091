package crimp

import "time"

// loss is a packet that is missing and wanted.
type loss struct {
	seq      Sequence
	after    int           // later packets that have come
	sure     bool          // it counts as lost; before, it may only be late
	presumed bool          // only the source's clock says that it exists
	await    Sequence      // up to this one, packets may come that carry it; zero: none
	asked    int           // how often we have asked
	others   int           // how often others have
	due      time.Duration // when to do something about it
	noticed  time.Duration
}

// A packet counts as lost when so many later ones have come, when the source's clock says
// that it is overdue, or when the source says that it has sent it. Each finds its
// own place below.

// noticeUpTo notices all packets up to a sequence that are not known of. The source has
// sent them, as far as sure goes.
func (g *Group) noticeUpTo(p *peer, last Sequence, sure bool) {
	if !p.started || last < p.next {
		// Presumed ones up to here exist after all.
		for i := range p.losses {
			if p.losses[i].seq <= last {
				p.losses[i].presumed = false
			}
		}
		return
	}
	from := p.next
	g.extend(p, last+1)
	from = max(from, p.base)
	if p.floating {
		return
	}
	for s := from; s <= last; s++ {
		if l := g.miss(p, s, false); sure {
			g.confirm(p, l)
		}
	}
}

// miss begins to look after a packet that has not come.
func (g *Group) miss(p *peer, s Sequence, presumed bool) *loss {
	late := min(p.delay.oneWay()+time.Duration(p.patience)*max(p.period, 10*time.Millisecond),
		g.opt.History/8)
	p.losses = append(p.losses, loss{seq: s, presumed: presumed, noticed: g.now, due: g.now + late})
	p.at(s).loss = int32(len(p.losses))
	g.stats.Lost++
	return &p.losses[len(p.losses)-1]
}

// passed counts a packet that came as it was sent, for those before it that did not.
func (g *Group) passed(p *peer, s Sequence, fresh bool) {
	if !fresh {
		return
	}
	p.lossRate -= p.lossRate / lossMemory
	if p.inOrder++; p.inOrder >= calmAfter && p.patience > g.opt.Recovery.OutOfOrder {
		p.patience--
		p.inOrder = 0
	}
	for i := range p.losses {
		l := &p.losses[i]
		if l.seq > s {
			continue
		}
		l.after++
		l.presumed = false
		switch {
		case !l.sure && l.after >= p.patience:
			g.confirm(p, l)
		case l.sure && l.await != 0 && s >= l.await:
			// What could have carried it has passed.
			l.await = 0
			g.schedule(p, l)
		}
	}
}

const (
	lossMemory = 64   // packets over which loss is measured
	calmAfter  = 1000 // packets in order before patience is lowered again
	mostPatent = 16
)

// confirm takes a packet for lost. From here on it is recovered.
func (g *Group) confirm(p *peer, l *loss) {
	if l.sure {
		return
	}
	l.sure = true
	p.lossRate += (1 - p.lossRate) / lossMemory
	if !g.awaitForward(p, l) {
		g.schedule(p, l)
	}
}

// tooHasty learns that a packet taken for lost was only late. It does not count as lost, or
// redundancy would be sent against lateness.
func (g *Group) tooHasty(p *peer) {
	g.stats.Spurious++
	p.lossRate = max(0, p.lossRate-1.0/lossMemory)
	if !g.opt.Recovery.Fixed && p.patience < mostPatent {
		p.patience++
	}
	p.inOrder = 0
}

// margin is how long after its time a packet of a regular source is overdue.
func (p *peer) margin() time.Duration {
	return max(time.Millisecond, p.period/8, 4*p.delay.jitter)
}

// expected is when a packet of a regular source should come.
func (p *peer) expected(s Sequence) time.Duration {
	return p.anchorAt + time.Duration(int64(s)-int64(p.anchor))*p.period
}

// overdueAt is when the next packet of a regular source is overdue.
func (p *peer) overdueAt(g *Group) time.Duration {
	if g.opt.Recovery.NoClock || p.period == 0 || p.floating || !p.present || p.frozen ||
		p.guilty || p.anchor == 0 || p.next > p.anchor+mostPresumed {
		return never
	}
	return p.expected(p.next) + p.margin()
}

// mostPresumed is how many packets in a row are missed by the clock alone. If so many do
// not come, it is not loss.
const mostPresumed = 6

// watchClocks misses the packets that are overdue by their source's clock.
func (g *Group) watchClocks() {
	for _, p := range g.peers {
		for g.now >= p.overdueAt(g) {
			s := p.next
			g.extend(p, s+1)
			g.confirm(p, g.miss(p, s, true))
		}
	}
}

// neverSent takes back packets that were presumed, since the source says that it has not
// sent them.
func (g *Group) neverSent(p *peer, last Sequence) {
	for p.next > last+1 && p.next > p.base {
		slot := p.at(p.next - 1)
		if slot.loss == 0 || !p.losses[slot.loss-1].presumed {
			return
		}
		p.removeLoss(slot)
		g.stats.Lost--
		g.stats.Phantom++
		*slot = slotZero
		p.next--
	}
}

// resolve ends the care for a packet that has come.
func (g *Group) resolve(p *peer, s Sequence, how How) {
	slot := p.at(s)
	if slot.loss == 0 {
		return
	}
	l := &p.losses[slot.loss-1]
	if how == First && l.sure {
		g.tooHasty(p)
	}
	if how == Repaired && (l.asked > 0 || l.others > 0) {
		g.cohort.learn(l.others, g.members)
	}
	p.removeLoss(slot)
}

// removeLoss takes a packet's loss, if there is one, off the list; the last one takes its place.
func (p *peer) removeLoss(s *slot) {
	if s.loss == 0 {
		return
	}
	i, end := int(s.loss)-1, len(p.losses)-1
	s.loss = 0
	if i != end {
		p.losses[i] = p.losses[end]
		p.at(p.losses[i].seq).loss = int32(i + 1)
	}
	p.losses = p.losses[:end]
}

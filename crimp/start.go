package crimp

import (
	"math"
	"slices"
	"time"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/member"
)

// Cut says which packets of one member a state includes: all up to Seq, and those in
// Also.
type Cut struct {
	Member member.ID
	Seq    Sequence
	Also   []Sequence
	// Disputed says, of what Freeze tells, that some of it is not what the member has signed.
	Disputed bool
}

// Start is where a newcomer takes up: behind what the state includes.
type Start struct {
	Cuts    []Cut
	Logical uint64 // the logical clock of total order
}

// maxCuts leaves room for members that are gone.
const maxCuts = 4 * MaxMembers

// Fields reads or writes a start, for authorities, which carry it:
//
//	8 logical clock  2 cuts, then each: member 2, sequence 4, 2 also, and those 4 each
func (s *Start) Fields(c *bits.Cursor) {
	c.U64(&s.Logical)
	for cut := range bits.List16(c, &s.Cuts, maxCuts) {
		c.U16((*uint16)(&cut.Member))
		c.U32((*uint32)(&cut.Seq))
		c.Check(cut.Seq <= maxSequence)
		for also := range bits.List16(c, &cut.Also, math.MaxUint16) {
			c.U32((*uint32)(also))
		}
	}
}

// Start tells what has been delivered here so far, of every member and of this one
// itself: what a state taken now includes.
func (g *Group) Start() (s Start) {
	if g.self == nil {
		return s
	}
	s.Logical = g.order.lamport
	s.Cuts = append(s.Cuts, g.cutOf(g.self))
	for _, p := range g.peers {
		// of those that are gone, too: their packets may still come
		s.Cuts = append(s.Cuts, g.cutOf(p))
	}
	return s
}

func (g *Group) cutOf(p *peer) Cut {
	c := Cut{Member: p.id}
	if p == g.self && g.opt.Order != Total {
		c.Seq = p.next - 1
		return c
	}
	if g.opt.Order != Immediate {
		c.Seq = p.deliver - 1
		return c
	}
	return p.held()
}

// CaughtUp reports whether all that members sent before the newest roster has been
// delivered here, so that who came with that roster can be given a state: it could not
// decrypt what is older. but names the newcomer itself.
func (g *Group) CaughtUp(but member.ID) bool {
	if g.self == nil || g.next != nil {
		return false
	}
	if g.cutOf(g.self).Seq+1 < g.self.fresh {
		return false
	}
	for _, p := range g.peers {
		if p.id == but {
			continue
		}
		if !p.present {
			// What it sent last is delivered here or nowhere before the state is taken:
			// the newcomer does not know it.
			if len(p.losses) > 0 || len(p.queue) > 0 {
				return false
			}
			continue
		}
		if p.freshIn != g.Epoch() || g.cutOf(p).Seq+1 < p.fresh {
			return false
		}
	}
	return true
}

// Begin ends the holding of a member that came while the group was under way: the
// state has been received, and includes what the start says. All the rest is delivered,
// and asked for where it is missing. From here on the member may send.
func (g *Group) Begin(now time.Duration, start Start) {
	g.Expect(now, start)
	if g.self == nil || !g.holding {
		return
	}
	g.holding = false
	if start.Logical <= maxLamport {
		g.order.lamport = max(g.order.lamport, start.Logical)
	}
	if g.opt.Order == Immediate {
		for _, p := range g.peers {
			for len(p.queue) > 0 {
				g.deliverHead(p)
			}
		}
	}
	g.pump()
	g.report.soon(g.now)
}

// Expect tells a newcomer where it will take up, before it has the state. What comes is held
// as before, but what is missing behind the start is asked for: a state may take longer to
// arrive than the history lasts. A later start, with another state, takes the place of one
// before.
func (g *Group) Expect(now time.Duration, start Start) {
	g.advance(now)
	if g.self == nil || !g.holding {
		return
	}
	for _, p := range g.peers {
		p.floating = true
		c := Cut{Member: p.id}
		if i := slices.IndexFunc(start.Cuts, func(c Cut) bool { return c.Member == p.id }); i >= 0 {
			c = start.Cuts[i]
		} else if !p.present {
			c.Seq = max(p.next, 1) - 1 // gone for so long that the state has all of it
		}
		g.beginPeer(p, &c)
		if p.ended {
			g.endPeer(p, p.end)
		}
	}
}

// beginPeer has the packets of one member begin behind a cut.
func (g *Group) beginPeer(p *peer, c *Cut) {
	first := c.Seq + 1
	if c.Seq >= maxSequence {
		return
	}
	switch {
	case !p.started || first >= p.next:
		for p.base < p.next {
			g.dropOldest(p)
		}
		p.base, p.next = first, first
	case first > p.base:
		for p.base < first {
			g.dropOldest(p)
		}
	case first < p.base:
		g.lower(p, max(first, 1))
	}
	p.started, p.floating = true, false
	p.deliver = first
	g.dropQueued(p,
		func(q *pending) bool { return q.seq < first || slices.Contains(c.Also, q.seq) })
	for i := range p.queue { // what has left the history since it came
		if q := &p.queue[i]; !q.gone && p.holds(q.seq) {
			p.at(q.seq).state = slotHave
		}
	}
	for _, s := range c.Also {
		if s >= first && s < p.base+ringMost {
			g.extend(p, s+1)
			if slot := p.at(s); slot.state == slotMissing {
				slot.state = slotHave
			}
		}
	}
	g.seek(p)
}

// lower makes room for packets below the base.
func (g *Group) lower(p *peer, base Sequence) {
	if p.next-base > ringMost {
		base = p.next - ringMost
	}
	from := p.base
	p.resize(base, p.next)
	for s := base; s < from; s++ {
		p.blank(s, g.interval)
	}
}

// Silent is for how long nothing was heard of a member.
func (g *Group) Silent(m member.ID) time.Duration {
	if p := g.byID[m]; p != nil {
		return g.now - p.heard
	}
	return 0
}

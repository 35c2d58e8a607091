package seamless

import (
	"math"
	"slices"

	"github.com/coeval-dev/coeval/zone"
)

// This file is about a zone of which the borders move. It hears of a plan by a command, so that
// its journal says when, and goes by it from the plan's tick on, or at once if that is over. Zones
// that hear of it at different times lose nothing: what is given to one that does not expect it
// waits there, and goes on by the next plan.

// noSpace is the area of a spare zone: all is beyond it.
var noSpace = area{
	lo: point{math.Inf(1), math.Inf(1), math.Inf(1)},
	hi: point{math.Inf(-1), math.Inf(-1), math.Inf(-1)},
}

// area is the part of space that is this zone's.
func (b *body) area() *area {
	if i, ok := b.plan.find(b.self); ok {
		return &b.plan.areas[i]
	}
	return &noSpace
}

// plans takes a new plan.
func (b *body) plans(r *reader) {
	p, err := parsePlan(r.rest())
	if err != nil {
		b.faults.strange++
		return
	}
	if p.Version > b.planned() {
		b.next = p
	}
}

// replan goes by a new plan, when its tick has come, and forgets what zones showed that are not
// near any more, when whatever they said has come.
func (b *body) replan() {
	now := b.w.Tick() + 1
	if b.next != nil && now >= b.next.At {
		b.moveBorders(b.next)
		b.next, b.since = nil, now
	}
	if b.since > 0 && now == b.since+patience {
		b.forgetFar()
	}
}

// moveBorders goes by another plan. Those that stay near know what they were shown.
func (b *body) moveBorders(p *Plan) {
	near, audiences := b.near, slices.Clone(b.shows.near)
	b.plan, b.near = p, p.Near(b.self)
	b.shows.near = b.shows.near[:0]
	for _, id := range b.near {
		a := newAudience(b.w.Tick())
		if i := slices.Index(near, id); i >= 0 {
			a = audiences[i]
		}
		b.shows.near = append(b.shows.near, a)
	}
	b.shows.reach(b)
}

// forgetFar drops what is still shown here by zones that are not near any more, and tell nothing.
func (b *body) forgetFar() {
	for id, g := range b.ghosts.all { // in no order: see forgetZone
		everywhere := g.from == b.plan.Home && len(b.where[id.Class()].slots) == 0
		if g.until == 0 && !b.isNear(g.from) && !everywhere {
			b.w.Host().DropGhost(id)
			delete(b.ghosts.all, id)
		}
	}
}

// planCommand is the command by which a zone hears of a plan.
func planCommand(p *Plan) []byte { return append([]byte{commandPlan}, p.data...) }

// spareBody makes a zone that has nothing yet, and no part of space, to go with this one.
func (b *body) spareBody(id zone.ID, allocator int, make func(zone.ID) *body) (*body, error) {
	w, err := b.w.Host().Zone(allocator)
	if err != nil {
		return nil, err
	}
	x := make(id)
	x.most = b.most
	x.begin(b.plan, w)
	return x, nil
}

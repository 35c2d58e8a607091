package timeline

import (
	"slices"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/world"
)

// mostCorrections is how often in a row a copy is corrected before it is taken back after all: what
// drifts on has more than a wrong place.
const mostCorrections = 8

// correct moves what is in the wrong place in the copy ahead by as much as it was wrong at the tick
// where this copy is. It is what section 3.7 of the paper proposes to try: nothing is computed
// again, and what else was wrong stays so. It says whether it could.
func (t *Trailing) correct(i int) bool {
	s, lead := t.trails[i], t.trails[i-1]
	n, goal := s.w.Tick(), lead.w.Tick()
	if lead.corrections >= mostCorrections || n < lead.since {
		return false
	}
	mine, its := s.history.At(n), lead.history.At(n)
	moved := false
	for k, x := range mine.bodies {
		y := its.bodies[k]
		p, q := mine.values(x), its.values(y)
		for _, gr := range t.watch.classes[x.id.Class()] {
			if gr.distance(p[gr.at:], q[gr.at:]) <= gr.margin {
				continue
			}
			moved = t.shift(lead, x.id, gr, p[gr.at:], q[gr.at:]) || moved
			t.rewrite(lead, x.id, gr, p[gr.at:], q[gr.at:], n, goal)
		}
	}
	if !moved {
		return false
	}
	lead.corrections++
	t.Counts.Corrections++
	if i > 1 { // those ahead were compared with what was wrong
		t.check(i - 1)
	}
	return true
}

// shift moves one field of an entity of a copy, as it is now, by the difference between two values
// of an earlier tick.
func (t *Trailing) shift(lead *trail, id world.ID, g *group, right, wrong []int32) bool {
	now := lead.w.Host().Image(id)
	if now == nil {
		return false
	}
	t.image = append(t.image[:0], now...)
	for k, at := range g.index {
		t.image[at] = moved(&g.slots[k], now[at], right[k], wrong[k])
	}
	if slices.Equal(t.image, now) {
		return false
	}
	values := t.image[g.index[0]:]
	far := g.distance(values, now[g.index[0]:])
	if lead.w.Host().Put(id, lead.w.Host().Entry(id), t.image) != nil {
		return false // not a place where it can be
	}
	if lead == t.trails[0] {
		t.Counts.jump(far, g.margin)
	}
	return true
}

// rewrite makes the outcomes of a copy those of one that had always been in the right place, so
// that the same error is not found again at each tick.
func (t *Trailing) rewrite(lead *trail, id world.ID, g *group, right, wrong []int32, from,
	to world.Tick) {
	t.deltas = t.deltas[:0]
	for k := range g.slots {
		t.deltas = append(t.deltas, right[k], wrong[k])
	}
	for n := from; n <= to; n++ {
		r := lead.history.At(n)
		if r == nil {
			continue
		}
		r.hashed = false
		for _, b := range r.bodies {
			if b.id != id {
				continue
			}
			v := r.values(b)[g.at:]
			for k := range g.slots {
				v[k] = moved(&g.slots[k], v[k], t.deltas[2*k], t.deltas[2*k+1])
			}
		}
	}
}

// moved is a number moved by the difference of two others, within its range.
func moved(s *bits.Slot, now, right, wrong int32) int32 {
	v := int64(now) + int64(right) - int64(wrong)
	lo, hi := int64(s.Min), int64(s.Max)
	if s.Wraps {
		round := hi - lo + 1
		return int32(lo + ((v-lo)%round+round)%round)
	}
	return int32(min(max(v, lo), hi))
}

package interest

import (
	"cmp"

	"github.com/coeval-dev/coeval/world"
)

// Any shows what any of its sources shows, as Rules do: to put several under one Limit or
// Relevance.
type Any []Source

// Find is for Rules to call.
func (s Any) Find(q *Query) {
	for _, each := range s {
		q.run(each)
	}
}

// Quiet is for Rules to call.
func (s Any) Quiet(q *Query) bool { return allQuiet(q, s) }

func allQuiet(q *Query, sources []Source) bool {
	for _, s := range sources {
		if !s.Quiet(q) {
			return false
		}
	}
	return true
}

// Where shows what Of shows, with its priority, if In shows it too: what is within a radius and in
// a room that can be seen.
type Where struct{ Of, In Source }

// Find is for Rules to call.
func (s *Where) Find(q *Query) { q.pick(s.Of, s.In, true) }

// Quiet is for Rules to call.
func (s *Where) Quiet(q *Query) bool { return s.Of.Quiet(q) && s.In.Quiet(q) }

// Except shows what Of shows and Not does not. A source in Not does not hold on to what it once
// took, as what it takes is not shown.
type Except struct{ Of, Not Source }

// Find is for Rules to call.
func (s *Except) Find(q *Query) { q.pick(s.Of, s.Not, false) }

// Quiet is for Rules to call.
func (s *Except) Quiet(q *Query) bool { return s.Of.Quiet(q) && s.Not.Quiet(q) }

// pick keeps of one source what the other found, or what it did not.
func (q *Query) pick(of, other Source, both bool) {
	start := len(q.found)
	q.run(of)
	middle := len(q.found)
	q.run(other)
	q.twice.begin(len(q.ix.ids))
	for i := middle; i < len(q.found); i++ {
		by := q.found[i].by
		if at, ok := q.twice.get(q.found[i].slot); ok {
			by |= uint32(at)
		}
		q.twice.set(q.found[i].slot, int(by))
	}
	n := start
	for _, f := range q.found[start:middle] {
		if by, ok := q.twice.get(f.slot); ok == both {
			if both {
				f.by |= uint32(by) // In is to know what it holds
			}
			q.found[n] = f
			n++
		}
	}
	q.found = q.found[:n]
}

// Relevance lets the game judge, for each client and entity that Of shows: the callback of the
// Gamenet library. It is the place for what only the game knows, such as who hunts whom, or that
// smoke is in between.
type Relevance struct {
	Of Source
	// Judge gives a factor of priority. If it is not positive the entity is not shown. It is called
	// by several goroutines at once, for different clients, and must not keep the pointers.
	// Default: 1 for all.
	Judge func(o *Observer, id world.ID, t *Traits) float64
	// Steady promises that Judge depends on its arguments alone, so that it need not be asked again
	// while nothing changes.
	Steady bool
}

// Find is for Rules to call.
func (s *Relevance) Find(q *Query) {
	start := len(q.found)
	q.run(s.Of)
	q.once(start)
	if s.Judge == nil {
		return
	}
	n := start
	for _, f := range q.found[start:] {
		f.priority = min(
			float32(s.Judge(&q.observer, f.id, &q.ix.entities[f.slot].traits))*f.priority, far)
		if f.priority > 0 {
			q.found[n] = f
			n++
		}
	}
	q.found = q.found[:n]
}

// Quiet is for Rules to call.
func (s *Relevance) Quiet(q *Query) bool { return (s.Steady || s.Judge == nil) && s.Of.Quiet(q) }

// Limit shows the best of what Of shows, by priority, and among equals those whose identifiers are
// lowest. What is outside of the Limit does not count: put Owned and Always beside it, not into it.
type Limit struct {
	Of Source
	// Max is how many it shows at most.
	Max int
	// Keep is by which part an entity that it showed before counts as better, so that two that are
	// nearly equal do not take turns. Default: 0.2; negative for none.
	Keep float64
}

// Find is for Rules to call.
func (s *Limit) Find(q *Query) {
	start := len(q.found)
	q.run(s.Of)
	q.once(start)
	room := max(s.Max, 0)
	if len(q.found)-start <= room {
		return
	}
	keep := float32(1 + min(max(cmp.Or(s.Keep, 0.2), 0), far))
	for i := start; i < len(q.found); i++ {
		f := &q.found[i]
		f.rank = f.priority
		if q.heldSlot(f.slot) {
			f.rank *= keep
		}
	}
	// The best so far are a heap with the worst of them on top, so in a crowd most are turned away
	// after one comparison.
	best := q.found[start : start+room]
	for i := len(best)/2 - 1; i >= 0; i-- {
		sink(best, i)
	}
	for _, f := range q.found[start+room:] {
		if room > 0 && f.better(&best[0]) {
			best[0] = f
			sink(best, 0)
		}
	}
	q.found = q.found[:start+room]
}

// Quiet is for Rules to call.
func (s *Limit) Quiet(q *Query) bool { return s.Of.Quiet(q) }

func (f *sighting) better(than *sighting) bool {
	return f.rank > than.rank || f.rank == than.rank && f.id < than.id
}

func sink(heap []sighting, i int) {
	for {
		child := 2*i + 1
		if child >= len(heap) {
			return
		}
		if child+1 < len(heap) && heap[child].better(&heap[child+1]) {
			child++
		}
		if !heap[i].better(&heap[child]) {
			return
		}
		heap[i], heap[child] = heap[child], heap[i]
		i = child
	}
}

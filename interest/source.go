package interest

import "github.com/coeval-dev/coeval/world"

// A Source is one reason to show entities to a client. Those of this package are Radius, Sound,
// Always, Owned, Channel and Everything, and Any, Where, Except, Limit and Relevance, which combine
// others. A game may bring its own, such as rooms that can be seen from one another.
//
// One source serves all clients, and several goroutines at once: its methods change nothing but the
// query.
type Source interface {
	// Find adds to the query what the source would show.
	Find(q *Query)
	// Quiet says whether Find is sure to find what it found when the view was last updated. It is
	// asked only if the observer is the same as then. A source that cannot tell says false, which
	// costs time but is never wrong.
	Quiet(q *Query) bool
}

// Rules say how views are made: which sources there are, and how much classes weigh. They serve all
// clients that are shown things for the same reasons; spectators may have others. Do not change
// them once they are in use.
type Rules struct {
	// Sources are what a view is the union of. If several show an entity, its priority is the
	// highest that one gives.
	Sources []Source
	// Weights are factors of priority by class number. A class without one, or with 0, has 1. A
	// negative one hides the class.
	Weights []float32
}

// A Query is one search for one client: what a Source is given.
type Query struct {
	ix       *Index
	observer Observer
	lag      float64 // the round trip in seconds
	weights  []float32
	since    uint64

	found   []sighting
	bit     uint32   // of the source that is running
	next    int      // number of the next source
	held    *slotMap // what the view shows, by slot
	entries []Entry
	fresh   bool    // the rules are new, so no source has shown anything yet
	twice   slotMap // to find what was found twice
	cells   []uint32
}

// A sighting is an entity that a source found.
type sighting struct {
	id       world.ID
	slot     uint32
	priority float32
	by       uint32
	rank     float32 // what Limit compares
}

// Index is where to look. It must not be changed.
func (q *Query) Index() *Index { return q.ix }

// Observer is for whom to look, with what was absurd brought into bounds.
func (q *Query) Observer() *Observer { return &q.observer }

// Since is the revision of the index at which the view was last updated: what is stamped with a
// later one is news to it.
func (q *Query) Since() uint64 { return q.since }

// Add shows an entity to the client. Relevance is how much this source thinks of it, about 1 for
// what matters; it is multiplied by the entity's importance and its class's weight. Nothing happens
// if there is no such entity, if it is hidden from the client, or if relevance is not positive.
func (q *Query) Add(id world.ID, relevance float64) {
	if slot, ok := q.ix.slots.get(uint64(id)); ok {
		q.addSlot(slot, relevance)
	}
}

// Held says whether this source showed the entity to the client at the last update, for a source
// that lets go later than it takes hold.
func (q *Query) Held(id world.ID) bool {
	slot, ok := q.ix.slots.get(uint64(id))
	return ok && q.heldSlot(slot)
}

func (q *Query) heldSlot(slot uint32) bool {
	at, ok := q.held.get(slot)
	// beyond are those that were found just now
	return ok && at < len(q.entries) && !q.fresh && q.entries[at].by&q.bit != 0
}

func (q *Query) addSlot(slot uint32, relevance float64) {
	t := &q.ix.entities[slot].traits
	if !t.Never {
		q.add(q.ix.ids[slot], slot, t.Only, t.Importance, relevance)
	}
}

func (q *Query) add(id world.ID, slot uint32, only uint64, importance float32, relevance float64) {
	if only != 0 && only&q.observer.Channels == 0 {
		return
	}
	weight := float32(1)
	if c := id.Class(); c < len(q.weights) && q.weights[c] != 0 {
		weight = q.weights[c]
	}
	p := float32(relevance) * importance * weight
	// two of them negative do not make it worth showing
	if !(p > 0 && importance > 0 && weight > 0) {
		return
	}
	q.found = append(q.found, sighting{id: id, slot: slot, priority: min(p, far), by: q.bit})
}

// run lets a source add what it finds. Sources are numbered in the order in which they run, each
// before those inside it; as every source that has others runs all of them each time, the numbers
// stay the same.
func (q *Query) run(s Source) {
	bit, start := q.bit, len(q.found)
	q.bit = 1 << min(q.next, 31)
	q.next++
	s.Find(q)
	for i := start; i < len(q.found); i++ {
		q.found[i].by |= q.bit
	}
	q.bit = bit
}

// once merges what was found twice since a point, in place.
func (q *Query) once(start int) {
	q.twice.begin(len(q.ix.ids))
	n := start
	for _, s := range q.found[start:] {
		if at, ok := q.twice.get(s.slot); ok {
			was := &q.found[at]
			was.priority = max(was.priority, s.priority)
			was.by |= s.by
			continue
		}
		q.twice.set(s.slot, n)
		q.found[n] = s
		n++
	}
	q.found = q.found[:n]
}

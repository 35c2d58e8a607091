package interest

import (
	"cmp"
	"slices"

	"github.com/coeval-dev/coeval/world"
)

// A Finder updates views. It is the memory that this takes, so each goroutine that updates views
// needs one of its own, and one is enough for any number of clients.
type Finder struct {
	q     Query
	held  slotMap
	now   []Entry // what each entry of the old view is now
	fresh []Entry
	next  []Entry
}

// NewFinder makes a finder for one goroutine.
func NewFinder() *Finder { return &Finder{} }

// Update brings a view up to date with an index, and says whether anything about it changed: who is
// in it, a priority, or by which source. The index may not be changed meanwhile. Different finders
// may update different views at once.
//
// This is the unit of work for each client; if neither the client nor anything near it changed it
// costs next to nothing.
func (f *Finder) Update(v *View, ix *Index, r *Rules, o Observer) bool {
	o.tidy(ix.options.Horizon)
	v.begin()
	q := &f.q
	q.ix, q.observer, q.lag, q.weights, q.since = ix, o, o.RoundTrip.Seconds(), r.Weights, v.since
	// A search depends on what the view held before, so if the last one changed that, the next may
	// find something else although nothing moved: a Limit has room for another when what it chose
	// is not shown by what is around it. Only from the same to the same is there nothing to do.
	if v.steady && v.index == ix && v.rules == r && v.observer == o && allQuiet(q, r.Sources) {
		v.since = ix.revision
		return false
	}
	f.hold(v, ix)
	q.held, q.entries, q.fresh = &f.held, v.entries, v.rules != r
	q.found, q.next, q.bit = q.found[:0], 0, 0
	f.fresh = f.fresh[:0]
	for _, s := range r.Sources {
		q.found = q.found[:0]
		q.run(s)
		f.take(q.found)
	}
	changed := f.merge(v)
	v.steady = v.steady && !q.fresh
	v.index, v.rules, v.observer, v.since = ix, r, o, ix.revision
	q.entries = nil
	return changed
}

// hold notes what the view shows, so that whatever is found is known as old or new without a
// search.
func (f *Finder) hold(v *View, ix *Index) {
	f.held.begin(len(ix.ids))
	f.now = f.now[:0]
	for i := range v.entries {
		e := &v.entries[i]
		f.now = append(f.now, Entry{})
		if int(e.slot) >= len(ix.ids) || ix.ids[e.slot] != e.ID {
			// It was removed, or came back in another place.
			slot, ok := ix.slots.get(uint64(e.ID))
			if !ok {
				continue
			}
			e.slot = slot
		}
		f.now[i].ID, f.now[i].slot = e.ID, e.slot
		f.held.set(e.slot, i)
	}
}

// take merges what one source found into what is shown.
func (f *Finder) take(found []sighting) {
	old := len(f.now)
	for i := range found {
		s := &found[i]
		at, ok := f.held.get(s.slot)
		var e *Entry
		switch {
		case !ok:
			f.held.set(s.slot, old+len(f.fresh))
			f.fresh = append(f.fresh, Entry{ID: s.id, slot: s.slot})
			e = &f.fresh[len(f.fresh)-1]
		case at >= old:
			e = &f.fresh[at-old]
		default:
			e = &f.now[at]
		}
		e.Priority = max(e.Priority, s.priority)
		e.by |= s.by
	}
}

// merge makes the new view of the old one and the new entities. Few are new, so only those have to
// be sorted.
func (f *Finder) merge(v *View) (changed bool) {
	slices.SortFunc(f.fresh, func(a, b Entry) int { return cmp.Compare(a.ID, b.ID) })
	v.steady = len(f.fresh) == 0
	f.next = f.next[:0]
	fresh := f.fresh
	for i := range v.entries {
		was, is := &v.entries[i], &f.now[i]
		for len(fresh) > 0 && fresh[0].ID < was.ID {
			f.next = append(f.next, fresh[0])
			fresh = fresh[1:]
		}
		switch {
		case is.Priority > 0:
			changed = changed || is.Priority != was.Priority
			v.steady = v.steady && is.by == was.by
			f.next = append(f.next, *is)
		case is.ID == world.None:
			v.steady = false
			v.removed = append(v.removed, was.ID)
		default:
			v.steady = false
			v.left = append(v.left, was.ID)
		}
	}
	f.next = append(f.next, fresh...)
	for i := range f.fresh {
		v.entered = append(v.entered, f.fresh[i].ID)
	}
	v.entries = append(v.reserve(len(f.next)), f.next...)
	return changed || !v.steady
}

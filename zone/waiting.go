package zone

import "slices"

// waiting holds actions on entities that were never here. What another zone was shown may have been
// taken back since by a take-over, and then the entity is still on its way: it comes again, from
// the outbox that it was in. So it is waited for.
type waiting struct {
	list  []waiter
	bytes int
}

// waiter is an action that waits for its entity.
type waiter struct {
	from   ID
	number uint64
	since  Tick
	item   item
}

const (
	maxWaiting    = 1024
	maxWaitingLen = 4 << 20
	maxWaitTicks  = 3600 // then what an action is on is taken to be gone for good
)

// add has an action wait.
func (w *waiting) add(t *taken, now Tick) {
	i := *t.item
	i.data, i.more = slices.Clone(i.data), false
	w.list = append(w.list, waiter{t.from, t.number, now, i})
	w.bytes += i.size()
}

// waited goes over the actions that wait: what has come is acted on, and what has not come for too
// long, or does not fit among the others, is gone.
func (s *state) waited(now Tick) {
	w := &s.waiting
	kept := w.list[:0]
	for i := range w.list {
		a := &w.list[i]
		_, here := s.here[a.item.entity]
		to, left := s.moved.where(a.item.entity)
		switch {
		case here || s.body.Has(a.item.entity):
			s.act(a.from, &a.item)
			s.met = append(s.met, actionName{a.from, a.number, a.item.entity})
		case left && to == 0 || now-a.since > maxWaitTicks ||
			len(w.list)-i > maxWaiting || w.bytes > maxWaitingLen:
			s.lost = append(s.lost, actionName{a.from, a.number, a.item.entity})
		default:
			kept = append(kept, *a)
			continue
		}
		w.bytes -= a.item.size()
	}
	clear(w.list[len(kept):])
	w.list = kept
}

// act has the body execute an action in this tick.
func (s *state) act(from ID, i *item) {
	s.in.Actions = append(s.in.Actions, Action{From: from, Tick: i.tick, Entity: i.entity,
		Hops: int(i.hops), Data: i.data})
}

func (w *waiter) save(b []byte, self ID) []byte {
	b = appendUint(b, uint64(w.from))
	b = appendUint(b, w.number)
	b = appendUint(b, uint64(w.since))
	return w.item.append(b, w.from, self, w.number)
}

func (r *reader) waiter(self ID) waiter {
	w := waiter{from: r.id(), number: r.uint(), since: Tick(r.uint())}
	w.item = r.item(w.from, self, w.number)
	w.item.data = slices.Clone(w.item.data)
	if w.item.kind != action {
		r.fail()
	}
	return w
}

// appendNames writes which actions something is said of.
func appendNames(b []byte, names []actionName) []byte {
	b = appendUint(b, uint64(len(names)))
	for _, n := range names {
		b = appendUint(b, uint64(n.from))
		b = appendUint(b, n.number)
	}
	return b
}

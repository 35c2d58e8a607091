package replica

import (
	"cmp"
	"slices"
)

// todo is something that the client should be told.
type todo struct {
	handle int32
	score  float32
	bits   float32
}

// collect lists what the client should be told, and estimates how many bits it
// takes.
func (s *Sender) collect(w *Worker) (need float32) {
	s.renew()
	if s.view.relay {
		s.relayCommands()
	}
	w.reset(len(s.handles.list))
	if s.view.stale {
		s.view.stale = false
		for i := range s.view.list {
			s.view.list[i].number = s.at(s.view.list[i].handle).heard()
		}
	}
	gone := 0
	for i := range s.view.list {
		v := &s.view.list[i]
		sl := &s.pub.slots[v.slot]
		if sl.unique != v.unique {
			s.leaveView(v.handle)
			gone++
			continue
		}
		if v.number == sl.number {
			continue
		}
		r := s.at(v.handle)
		r.priority = v.priority
		if r.told == Held && s.waits(r, sl) {
			continue
		}
		c := s.pace.cost[sl.class]
		if !s.bases.Bound(v.handle) {
			c += 40
		}
		need += c
		w.todo = append(w.todo, todo{v.handle, r.priority + r.waiting, c})
		w.inView[v.handle] = int32(i)
	}
	if gone > 0 {
		s.clearView(w)
	}
	going := s.view.leaving[:0]
	for _, h := range s.view.leaving {
		r := s.at(h)
		if r.unique == 0 || r.want == Held || r.told == r.want && r.under == 0 {
			continue
		}
		going = append(going, h)
		if r.told != r.want {
			if s.pub.slots[r.slot].unique != r.unique {
				r.want = Removed
			}
			need += 12
			w.todo = append(w.todo, todo{h, 2 + r.waiting, 12})
		}
	}
	s.view.leaving = going
	return need
}

// repeat has told again what the client is not known to have heard, or not to hold as its base.
func (s *Sender) repeat() {
	s.view.stale = true
	for i := range s.view.list {
		h := s.view.list[i].handle
		r := s.at(h)
		if r.told != Held || r.unsaid {
			continue
		}
		sl := &s.pub.slots[r.slot]
		_, base, _ := s.bases.Held(h, 0)
		if !s.bases.Heard(h) || base != r.number && sl.unique == r.unique && !s.waits(r, sl) {
			r.told = untold
		}
	}
	for _, h := range s.view.leaving {
		if r := s.at(h); r.want != Held && r.told == r.want && !s.bases.Heard(h) {
			r.told = untold
		}
	}
}

// interval is how many ticks an entity of some priority waits between updates.
func (p *Policy) interval(priority float32) uint32 {
	near, far := float32(p.Interval), float32(max(p.Far, p.Interval))
	part := min(max((1-priority)/0.9, 0), 1)
	return uint32(near + (far-near)*part)
}

// waits says whether a change of an entity that the client was told of is not
// to be told yet.
func (s *Sender) waits(r *tracked, sl *slot) bool {
	c := &s.pub.protocol.classes[sl.class]
	return c.sparse && s.withheld(c, r, sl)
}

// withheld says what waits does, of a class whose changes may stay untold. What is under way counts
// as told: if it is lost, the entity is told again as it is by then, whatever its policy.
func (s *Sender) withheld(c *class, r *tracked, sl *slot) bool {
	p := &c.policy
	switch {
	case p.Interval > 0 && Age(uint32(s.pub.tick), r.tick) < p.interval(r.priority):
		return true
	case p.Takeover && s.owned(r, sl):
		return true
	case r.unsaid:
		return false
	case sl.taken != 0 && int32(r.number-sl.taken) >= 0:
		return true
	case c.beyond != nil:
		m, image := sl.now()
		// An image that is no longer kept cannot be compared with. Then the entity is told once
		// more.
		before, told := sl.find(r.number)
		return before != nil && before.owner == m.owner && c.beyond.within(image, told)
	}
	return false
}

// owned says whether the owner is still the one that the client was told: a
// change of owner is told even of what the client simulates by itself.
func (s *Sender) owned(r *tracked, sl *slot) bool {
	m, _ := sl.now()
	return m.owner == r.owner
}

// wait lets what is not sent gain on the rest.
func (s *Sender) wait(list []int32) {
	for _, h := range list {
		r := s.at(h)
		r.waiting += max(r.priority, 0.05)
	}
}

// prefer chooses what matters most, as much as fits. The rest waits.
func (s *Sender) prefer(w *Worker, free float32) {
	slices.SortFunc(w.todo, func(a, b todo) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.handle, b.handle))
	})
	for i, t := range w.todo {
		if free -= t.bits; free < 0 && i > 0 {
			for _, t := range w.todo[i:] {
				w.behind = append(w.behind, t.handle)
			}
			return
		}
		w.choose(t.handle)
	}
}

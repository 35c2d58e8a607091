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
	if s.relay {
		s.relayCommands()
	}
	w.reset(len(s.records))
	if s.stale || s.classic != nil {
		s.stale = false
		for i := range s.view {
			s.view[i].number = s.records[s.view[i].handle].heard()
		}
	}
	gone := 0
	for i := range s.view {
		g := &s.view[i]
		sl := &s.pub.slots[g.slot]
		if sl.unique != g.unique {
			s.lose(g.handle)
			gone++
			continue
		}
		if g.number == sl.number {
			continue
		}
		r := &s.records[g.handle]
		r.priority = g.priority
		if r.told == held && s.waits(r, sl) {
			continue
		}
		c := s.cost[sl.class]
		if !r.bound {
			c += 40
		}
		need += c
		w.todo = append(w.todo, todo{g.handle, r.priority + r.waiting, c})
		w.place[g.handle] = int32(i)
	}
	if gone > 0 {
		s.clear(w)
	}
	going := s.leaving[:0]
	for _, h := range s.leaving {
		r := &s.records[h]
		if r.unique == 0 || r.want == held || r.told == r.want && r.under == 0 {
			continue
		}
		going = append(going, h)
		if r.told != r.want {
			if s.pub.slots[r.slot].unique != r.unique {
				r.want = removed
			}
			need += 12
			w.todo = append(w.todo, todo{h, 2 + r.waiting, 12})
		}
	}
	s.leaving = going
	return need
}

// clear takes out of view what is no more, and keeps the worker's places right.
func (s *Sender) clear(w *Worker) {
	kept := s.view[:0]
	states, things := s.states, s.things
	for i := range s.view {
		g := s.view[i]
		if s.pub.slots[g.slot].unique != g.unique {
			if i < things {
				s.things--
			}
			if i < states {
				s.states--
			}
			continue
		}
		w.place[g.handle] = int32(len(kept))
		kept = append(kept, g)
	}
	s.view = kept
}

// interval is how many ticks an entity of some priority waits between updates.
func (p *Policy) interval(priority float32) uint32 {
	near, far := float32(p.Interval), float32(max(p.Far, p.Interval))
	part := min(max((1-priority)/0.9, 0), 1)
	return uint32(near + (far-near)*part)
}

// waits says whether a change of an entity that the client was told of is not
// to be told yet.
func (s *Sender) waits(r *record, sl *slot) bool {
	c := &s.pub.protocol.classes[sl.class]
	return c.sparse && s.withheld(c, r, sl)
}

// withheld says what waits does, of a class whose changes may stay untold. What is under way counts
// as told: if it is lost, the entity is told again as it is by then, whatever its policy.
func (s *Sender) withheld(c *class, r *record, sl *slot) bool {
	p := &c.policy
	switch {
	case p.Interval > 0 && age(uint32(s.pub.tick), r.tick) < p.interval(r.priority):
		return true
	case p.Takeover && s.owned(r, sl):
		return true
	case r.unsaid:
		return false
	case sl.taken != 0 && int32(r.number-sl.taken) >= 0:
		return true
	case c.beyond != nil:
		m, image := sl.now()
		// An image that is no longer kept cannot be compared with. Then the entity is told once more.
		before, told := sl.find(r.number)
		return before != nil && before.owner == m.owner && c.beyond.within(image, told)
	}
	return false
}

// owned says whether the owner is still the one that the client was told: a
// change of owner is told even of what the client simulates by itself.
func (s *Sender) owned(r *record, sl *slot) bool {
	m, _ := sl.now()
	return m.owner == r.owner
}

// wait lets what is not sent gain on the rest.
func (s *Sender) wait(list []todo) {
	for _, t := range list {
		r := &s.records[t.handle]
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

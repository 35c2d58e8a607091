package kept

import (
	"slices"
	"unsafe"

	"github.com/coeval-dev/coeval/world"
)

// This file is about how a desk finds what has changed. It does not look at all entities in each
// tick: at those that are loaded only when they may be written, each once in Every ticks. Who
// comes, goes and wants to be loaded the world's census tells, and what went its memory of the
// departed.

// run is how many entities that stand side by side are looked at in the same tick, so that a few
// that change all the time are one transaction in a second, and not one each.
const run = 64

// look finds what there is to do in a world.
func (d *Desk) look(w *world.World) {
	another := w != d.last
	d.last = w
	for i := range d.tables {
		t := &d.tables[i]
		class := t.class.info.Number()
		if another {
			t.census, t.always = 0, !w.Host().Remember(class)
		}
		for id, was := range w.Host().Departed(class) {
			if s := t.find(id); s != nil && s.of(was) {
				d.compare(s, was)
			}
		}
		wrong := d.turn(w, t, i)
		if n := w.Host().Census(class); another || wrong || n != t.census {
			t.census = n
			d.scan(w, t)
			continue
		}
		for _, id := range t.wanted {
			if at := w.Host().Memory(id); at != nil && t.class.markOf(at).state == wanted {
				d.want(t, id, t.class.markOf(at))
			}
		}
	}
}

// turn looks at those whose turn it is in this tick. Wrong is that one of them is not what it was.
func (d *Desk) turn(w *world.World, t *shadows, number int) (wrong bool) {
	every := max(d.opt.Every, 1)
	if t.always {
		every = 1
	}
	first := (int(d.tick%world.Tick(every)) + number*every/2) % every
	for k := range t.banks {
		list := t.banks[k].list
		for from := first * run; from < len(list); from += every * run {
			side := list[from:min(from+run, len(list))]
			t.fetch(w, side)
			for i, s := range side {
				if s == nil {
					continue
				}
				at := t.fetched[i]
				if at == nil || !s.of(at) {
					wrong = true
					continue
				}
				d.compare(s, at)
			}
		}
	}
	return wrong
}

// fetch finds the memory of entities that stand side by side, and reads a little of each and of its
// shadow. None of these reads waits for another, so the processor has several of them under way at
// once; in compare each waits for the one before, and a game of many entities has had the caches
// since the last tick.
func (t *shadows) fetch(w *world.World, side []*shadow) {
	sum := byte(0)
	for i, s := range side {
		if s == nil {
			continue
		}
		at := w.Host().Memory(s.id)
		if t.fetched[i] = at; at == nil {
			continue
		}
		for _, p := range s.class.spans {
			sum += *(*byte)(unsafe.Add(at, p.offset))
		}
		if n := len(s.memory); n > 0 {
			sum += s.memory[0] + s.memory[n-1]
		}
		sum += byte(s.wrote) + byte(s.row)
	}
	t.read = sum
}

// of says whether an entity is still the one that the shadow is of.
func (s *shadow) of(at unsafe.Pointer) bool {
	m := s.class.markOf(at)
	return m.state == loaded && m.of == s.key.Of
}

// compare takes over what an entity is, if that is not what was seen.
func (d *Desk) compare(s *shadow, at unsafe.Pointer) {
	s.looked = d.tick
	if s.fence.Subject != "" {
		s.fence.Epoch = s.class.markOf(at).epoch
	}
	if s.doubt || !s.same(at) {
		s.take(at)
		s.doubt = false
		d.change(s)
	}
}

// refresh takes over what an entity is now, if it is there and the world is as it was at the last
// tick.
func (d *Desk) refresh(s *shadow) {
	if d.last == nil || d.last.Tick() != d.tick || s.gone {
		return
	}
	if at := d.last.Host().Memory(s.id); at != nil && s.of(at) {
		d.compare(s, at)
	}
}

// refreshAll does so with all.
func (d *Desk) refreshAll() {
	for i := range d.tables {
		for _, s := range d.tables[i].live {
			d.refresh(s)
		}
	}
}

// scan goes through all entities of a class: for those who came, went or want to be loaded.
func (d *Desk) scan(w *world.World, t *shadows) {
	seen := 0
	t.wanted = t.wanted[:0]
	for id := range w.Host().Of(t.class.info.Number()) {
		at := w.Host().Memory(id)
		m := t.class.markOf(at)
		switch m.state {
		case wanted:
			t.wanted = append(t.wanted, id)
			d.want(t, id, m)
			continue
		case loaded:
		default:
			continue
		}
		s := t.find(id)
		if s != nil && s.key.Of != m.of { // it is another's now
			d.lose(t, s)
			t.live = slices.DeleteFunc(t.live, func(x *shadow) bool { return x == s })
			s = nil
		}
		if s == nil {
			s = t.add(id, m)
			s.take(at)
			s.doubt = true
			d.keys[s.key] = s
			delete(d.loading, id)
		}
		if s.fence.Subject != "" {
			s.fence.Epoch = m.epoch
		}
		s.seen = d.tick
		seen++
	}
	if seen == len(t.live) {
		return
	}
	t.live = slices.DeleteFunc(t.live, func(s *shadow) bool {
		if s.seen == d.tick {
			return false
		}
		d.lose(t, s)
		return true
	})
}

// change notes that what was seen of an entity is not written. It will be when it was not written
// for long enough.
func (d *Desk) change(s *shadow) {
	if !s.dirty {
		s.dirty, s.since = true, d.tick
		s.due = d.tick
		if s.wrote != 0 {
			s.due = max(s.due, s.wrote+world.Tick(max(d.opt.Every, 0)))
		}
		d.changed.push(s)
	}
}

package replica

import (
	"math/bits"

	"github.com/coeval-dev/coeval/world"
)

// tracked is what a server tells one client of one entity. What the client is known to hold of it
// is with the strategy.
type tracked struct {
	slot int32
	// of the slot when the handle was given: another one there means that the entity is no more; 0
	// if the handle is free
	unique uint32
	looked uint32 // the last Look that found it in view, for commands

	want   What // what the client should be told: Held, Left or Removed
	told   What // what the newest packet says that is not known to be lost
	unsaid bool // the image that counts as told last fits no packet, and was never sent

	under  uint16 // packets under way that speak of it
	number uint32 // the image that was told last
	packet uint32 // by which packet
	tick   uint32 // at which tick
	sends  uint32 // how many times it was sent

	priority float32 // as interest has it
	waiting  float32 // what it gained by not being sent
	owner    world.Player

	id     world.ID // of the entity that the handle stands for
	before world.ID // of the one that the client may think it stands for, from before
}

// heard is the image that the client was told last, 0 if it must be told anew.
func (r *tracked) heard() uint32 {
	if r.told == Held {
		return r.number
	}
	return 0
}

// handles are the small numbers by which a client knows entities. A handle is taken as long as the
// client is told of its entity, and until it is known to have heard that the entity is gone.
type handles struct {
	list   []tracked // by handle
	bySlot []int32   // the handle, or -1
	words  []uint64  // bits of those that are taken
	from   int       // words before this one are full
}

func (s *Sender) at(h int32) *tracked { return &s.handles.list[h] }

// take gives out the lowest free handle.
func (t *handles) take() int32 {
	for i := t.from; i < len(t.words); i++ {
		if t.words[i] != ^uint64(0) {
			b := bits.TrailingZeros64(^t.words[i])
			t.words[i] |= 1 << b
			t.from = i
			return int32(i*64 + b)
		}
	}
	t.words = append(t.words, 1)
	t.from = len(t.words) - 1
	return int32(t.from * 64)
}

func (t *handles) put(h int32) {
	t.words[h>>6] &^= 1 << (h & 63)
	t.from = min(t.from, int(h>>6))
}

// unused gives a free handle that did not stand for the same entity last: the client would take it
// for what it was, and count on images that are forgotten here.
func (t *handles) unused(id world.ID) int32 {
	h := t.take()
	if id == world.None || int(h) == len(t.list) || t.list[h].before != id {
		return h
	}
	other := t.unused(id)
	t.put(h)
	return other
}

// handle finds the handle of what is in a slot, or gives it one.
func (s *Sender) handle(at int32) int32 {
	t := &s.handles
	for int(at) >= len(t.bySlot) {
		t.bySlot = append(t.bySlot, -1)
	}
	sl := &s.pub.slots[at]
	if h := t.bySlot[at]; h >= 0 {
		if r := s.at(h); r.slot == at && r.unique == sl.unique {
			return h
		}
	}
	h := t.unused(sl.id)
	if int(h) == len(t.list) {
		t.list = append(t.list, tracked{})
	}
	t.list[h] = tracked{slot: at, unique: sl.unique, id: sl.id, before: t.list[h].before}
	t.bySlot[at] = h
	return h
}

// forget frees the handle of what the client will not be told of any more.
func (s *Sender) forget(h int32) {
	r := s.at(h)
	s.bases.Forget(h)
	if s.handles.bySlot[r.slot] == h {
		s.handles.bySlot[r.slot] = -1
	}
	before := r.before
	if r.sends > 0 {
		before = r.id
	}
	*r = tracked{before: before}
	s.handles.put(h)
}

// sweep frees the handles of what left the view and is no more, and of those
// that left longest ago if there are too many.
func (s *Sender) sweep() {
	out := 0
	oldest, at := uint32(0), int32(-1)
	now := uint32(s.pub.tick)
	for i := range s.handles.list {
		h := int32(i)
		r := s.at(h)
		if r.unique == 0 || r.want == Held || r.under > 0 || r.told != r.want || !s.bases.Heard(h) {
			continue
		}
		if s.pub.slots[r.slot].unique != r.unique {
			s.forget(h)
			continue
		}
		out++
		if age := Age(now, r.tick); at < 0 || age > oldest {
			oldest, at = age, h
		}
	}
	if out > s.options.Keep {
		s.forget(at)
	}
}

package kept

import (
	"bytes"
	"slices"
	"unsafe"

	"github.com/coeval-dev/coeval/world"
)

// A shadow is what a desk has last seen of an entity that is loaded: what is kept of it, as memory.
// It outlives the entity until its last values are written.
type shadow struct {
	id     world.ID
	key    Key
	fence  Fence  // of the account or character; none for things
	memory []byte // the class's spans
	texts  []string
	class  *class

	seen   world.Tick // when the entity was there last
	looked world.Tick // when it was last compared with the entity
	since  world.Tick // from when on something is known that is not written
	due    world.Tick // when it is to be written
	wrote  world.Tick // when it was last handed out to be written
	frozen world.Tick // when a request was pending last
	dirty  bool       // it is in a queue of what is to be written
	doubt  bool       // the store may have something else, whether it changes or not
	gone   bool
	spent  bool // it is not written any more: it is another's, or was when a request was pending
	job    *Job // that has, or had, its row
	row    int
}

// same compares an entity with its shadow.
func (s *shadow) same(at unsafe.Pointer) bool {
	n := uintptr(0)
	for _, p := range s.class.spans {
		if !bytes.Equal(unsafe.Slice((*byte)(unsafe.Add(at, p.offset)), p.size),
			s.memory[n:n+p.size]) {
			return false
		}
		n += p.size
	}
	for i, offset := range s.class.texts {
		if *(*string)(unsafe.Add(at, offset)) != s.texts[i] {
			return false
		}
	}
	return true
}

// take takes over what an entity is.
func (s *shadow) take(at unsafe.Pointer) {
	n := uintptr(0)
	for _, p := range s.class.spans {
		copy(s.memory[n:], unsafe.Slice((*byte)(unsafe.Add(at, p.offset)), p.size))
		n += p.size
	}
	for i, offset := range s.class.texts {
		s.texts[i] = *(*string)(unsafe.Add(at, offset))
	}
}

// append writes a row of what was seen. The spare is a struct of the class to put it into.
func (s *shadow) append(dst []byte, spare unsafe.Pointer) []byte {
	return s.class.rowOf(dst, s.memory, s.texts, spare)
}

// shadows are those of one class, found by the entity's identifier.
type shadows struct {
	class *class
	spare unsafe.Pointer // a struct of the class
	banks []bank
	live  []*shadow // whose entities were there at the last tick

	wanted []world.ID // entities that are to be loaded
	census uint64     // of the world when all were seen
	always bool       // what goes is not remembered, so all are looked at in each tick

	fetched [run]unsafe.Pointer // the memory of those that are looked at
	read    byte                // so that what was read of it counts as used
}

// A bank has the shadows of the entities of one allocator, by index.
type bank struct {
	allocator int
	list      []*shadow
}

// find gives the shadow of an entity, or nil.
func (t *shadows) find(id world.ID) *shadow {
	a, i := id.Allocator(), id.Index()
	for k := range t.banks {
		if b := &t.banks[k]; b.allocator == a {
			if i < len(b.list) && b.list[i] != nil && b.list[i].id == id {
				return b.list[i]
			}
			return nil
		}
	}
	return nil
}

// add makes a shadow of an entity that was not seen before.
func (t *shadows) add(id world.ID, m *Mark) *shadow {
	s := &shadow{id: id, class: t.class, memory: make([]byte, t.class.memory),
		texts: make([]string, len(t.class.texts)), key: Key{t.class.Class, t.class.Scope, m.of}}
	if t.class.Scope != Thing {
		s.fence = Fence{s.key.subject(), m.epoch}
	}
	k := slices.IndexFunc(t.banks, func(b bank) bool { return b.allocator == id.Allocator() })
	if k < 0 {
		k = len(t.banks)
		t.banks = append(t.banks, bank{allocator: id.Allocator()})
	}
	b := &t.banks[k]
	for id.Index() >= len(b.list) {
		b.list = append(b.list, nil)
	}
	b.list[id.Index()] = s
	t.live = append(t.live, s)
	return s
}

// leave takes a shadow out of those that are found by their entity.
func (t *shadows) leave(s *shadow) {
	for k := range t.banks {
		if b := &t.banks[k]; b.allocator == s.id.Allocator() && b.list[s.id.Index()] == s {
			b.list[s.id.Index()] = nil
		}
	}
}

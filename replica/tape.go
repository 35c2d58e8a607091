package replica

import (
	"github.com/coeval-dev/coeval/codec"
	"github.com/coeval-dev/coeval/world"
)

// Clients that hold the same images of an entity are told the same about it.
// A worker remembers how it coded an entity last for each such case, and the
// next client gets a replay: neither the images nor the codec's model are looked at again.

// tapes is how many cases a worker remembers: a power of two.
const tapes = 1 << tapeBits

const tapeBits = 12

// tapeKey says which case it is.
type tapeKey struct {
	image uint64 // the entity and its newest image
	past  uint64 // how far back the numbers of the others lie
	ages  uint32
	// with which tables, what came before in the packet, how many images there are, and from where
	// it starts if there are none
	common uint8
}

// tapeCase is one that was coded.
type tapeCase struct {
	key   tapeKey
	owner world.Player // of the base
	used  bool
	tape  codec.Tape
}

// recall finds how an entity was coded. If hit is false the case is to be
// filled; it is nil where that cannot be or is not worth it.
func (w *Worker) recall(of *class, sl *slot, start bool) (c *tapeCase, hit bool) {
	if w.coder == nil || len(of.parts) != 1 || of.fields == 0 {
		return nil, false
	}
	p := &w.base
	k := tapeKey{
		image: uint64(sl.unique)<<32 | uint64(sl.number), common: w.coder.Context()<<4 |
			uint8(p.n)<<1 | w.number<<6}
	if start {
		k.common |= 1
	}
	for i := range p.n {
		back := sl.number - p.numbers[i]
		if back >= 1<<16 {
			return nil, false
		}
		k.past |= uint64(back) << (16 * i)
		k.ages |= p.ages[i] << (8 * i)
	}
	h := (k.image ^ k.past*hashFactor ^ uint64(k.ages)<<7 ^ uint64(k.common)<<40) * hashFactor
	if w.tapes == nil {
		w.tapes = make([]tapeCase, tapes)
	}
	c = &w.tapes[h>>(64-tapeBits)]
	if c.used && c.key == k {
		return c, true
	}
	c.key, c.used = k, false
	return c, false
}

// serve forgets what was coded of another world.
func (w *Worker) serve(b *Publisher) {
	if w.pub == b {
		return
	}
	w.pub = b
	for i := range w.tapes {
		w.tapes[i].used = false
	}
}

// load looks up the images that an entity is a difference from.
func (s *Sender) load(w *Worker, sl *slot) (owner world.Player) {
	p := &w.base
	w.hist.Reset()
	for i := range p.n {
		m, image := sl.find(p.numbers[i])
		if i == 0 {
			owner = m.owner
		}
		w.hist.Add(image, int32(p.ages[i]))
	}
	if p.n == 0 {
		owner = s.startBase(w, sl)
	}
	return owner
}

package world

import (
	"math"
	"reflect"
	"unsafe"

	"github.com/coeval-dev/coeval/bits"
)

// Hash is 64 bits that tell whether two worlds are the same: every entity with its fields,
// server-only ones included, states, players, commands, saved events, and what the allocator
// continues from. It does not depend on the order in which things came to be, nor on the machine.
// What is derived, and the events of the tick, are not part of it.
func (w *World) Hash() uint64 {
	h := newHasher(2)
	h.word(uint64(w.tick))
	h.pair(w.settings.Seed, w.settings.Secret)
	allocator := uint64(w.settings.Allocator)
	if w.settings.Divided {
		allocator |= 1 << 32
	}
	h.word(allocator)
	for i := range w.tables {
		h.word(w.Host().HashClass(i))
	}
	for p, here := range w.present {
		if !here {
			continue
		}
		h.word(uint64(p))
		if w.commands != nil {
			h.numbers(w.packed(w.game.commands.layout, w.commands.syncer(p)))
		}
	}
	for k, t := range w.events {
		for i := range t.count(true) {
			e := t.emitted(i, true)
			h.pair(uint64(k), uint64(e.By))
			h.pair(uint64(e.Tick), uint64(e.Ordinal))
			h.word(uint64(e.About))
			h.numbers(w.packed(w.game.events[k].layout, t.syncer(i, true)))
		}
	}
	w.hashMemory(&h)
	return h.sum()
}

// packed gives the image of a command or event, in memory that is used again.
func (w *World) packed(l *bits.Layout, v bits.Syncer) []int32 {
	n := l.Len()
	if len(w.scratch) < n {
		w.scratch = make([]int32, n)
	}
	if l.Pack(&w.sync, v, w.scratch[:n]) != nil {
		clear(w.scratch[:n]) // it was packed before, when it came
	}
	return w.scratch[:n]
}

// HashClass is the part of Hash that one class has, to find out where two worlds differ.
func (w Host) HashClass(class int) uint64 {
	if class < 0 || class >= len(w.tables) {
		return 0
	}
	t := w.tables[class]
	h := newHasher(3)
	for pg := range t.pages {
		for s := range pg.slots {
			if pg.live>>s&1 != 0 {
				h.word(t.hashEntity(pg, s))
				if pg.away>>s&1 != 0 { // a ghost
					h.word(1)
				}
			} else if g := pg.slots[s].generation; g != 0 {
				h.pair(uint64(t.id(pg, s)), pg.away>>s&1)
			}
		}
	}
	return h.sum()
}

// HashEntity is the part of Hash that one entity has, or 0 if it is not there.
func (w Host) HashEntity(id ID) uint64 {
	if pg, s := w.find(id); pg != nil {
		return w.tables[id.Class()].hashEntity(pg, s)
	}
	return 0
}

func (t *table) hashEntity(pg *page, s int) uint64 {
	sl := &pg.slots[s]
	h := newHasher(uint64(t.id(pg, s)))
	h.pair(uint64(sl.by), uint64(sl.tick)<<32|uint64(sl.ordinal)<<16|uint64(sl.owner))
	h.numbers(t.image(pg, s))
	at := t.at(pg, s)
	for i := range t.class.server {
		l := &t.class.server[i]
		if l.kind == reflect.String {
			h.text(*(*string)(unsafe.Add(at, l.offset)))
			continue
		}
		h.word(l.word(at))
	}
	return h.sum()
}

// word is the value of a plain field as 64 bits that are the same on every machine.
func (l *leaf) word(at unsafe.Pointer) uint64 {
	v := l.bits(at)
	switch l.kind {
	case reflect.Float32:
		return canonical(float64(math.Float32frombits(uint32(v))))
	case reflect.Float64:
		return canonical(math.Float64frombits(v))
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32:
		above := 64 - 8*l.size
		return uint64(int64(v<<above) >> above)
	}
	return v
}

// bits are the field's memory.
func (l *leaf) bits(at unsafe.Pointer) uint64 {
	p := unsafe.Add(at, l.offset)
	switch l.size {
	case 1:
		return uint64(*(*uint8)(p))
	case 2:
		return uint64(*(*uint16)(p))
	case 4:
		return uint64(*(*uint32)(p))
	}
	return *(*uint64)(p)
}

// setWord is the reverse of word. Numbers too large for the field are cut.
func (l *leaf) setWord(at unsafe.Pointer, v uint64) {
	switch l.kind {
	case reflect.Bool:
		v &= 1
	case reflect.Float32:
		v = uint64(math.Float32bits(float32(math.Float64frombits(v))))
	}
	p := unsafe.Add(at, l.offset)
	switch l.size {
	case 1:
		*(*uint8)(p) = uint8(v)
	case 2:
		*(*uint16)(p) = uint16(v)
	case 4:
		*(*uint32)(p) = uint32(v)
	default:
		*(*uint64)(p) = v
	}
}

// canonical gives all that is not a number the same bits, as processors do not.
func canonical(x float64) uint64 {
	if x != x {
		return 0x7FF8000000000001
	}
	return math.Float64bits(x)
}

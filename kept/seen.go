package kept

import (
	"reflect"
	"unsafe"
)

// A seen is what the tick's thread hands over of the entities that a job writes: a copy of their
// memory, one after the other. Rows are made of it where the job is run, as that takes several
// times as long as to copy, and no tick has to wait for it.
type seen struct {
	memory []byte   // the spans of each
	texts  []string // of each
	epochs []uint64 // of their fences
	made   bool     // there are rows of it
	arena  []byte   // what those rows have as data
	spares map[*class]unsafe.Pointer
}

// reset forgets what was seen, and keeps the room for it.
func (x *seen) reset() seen {
	clear(x.texts)
	return seen{memory: x.memory[:0], texts: x.texts[:0], epochs: x.epochs[:0],
		arena: x.arena[:0], spares: x.spares}
}

// add copies what a shadow is.
func (x *seen) add(s *shadow) {
	x.memory = append(x.memory, s.memory...)
	x.texts = append(x.texts, s.texts...)
	x.epochs = append(x.epochs, s.fence.Epoch)
}

// spare is a struct of a class to put memory into.
func (x *seen) spare(c *class) unsafe.Pointer {
	at := x.spares[c]
	if at == nil {
		if x.spares == nil {
			x.spares = map[*class]unsafe.Pointer{}
		}
		at = reflect.New(c.typ).UnsafePointer()
		x.spares[c] = at
	}
	return at
}

// encode makes the rows of a job that writes. Of the shadows it reads only what never changes.
func (j *Job) encode() {
	x := &j.seen
	if x.made {
		return
	}
	x.made = true
	memory, texts := x.memory, x.texts
	for i, s := range j.of {
		c := s.class
		start := len(x.arena)
		x.arena = c.rowOf(x.arena, memory[:c.memory], texts[:len(c.texts)], x.spare(c))
		memory, texts = memory[c.memory:], texts[len(c.texts):]
		// Where the arena moves as it grows, what was cut out of it before stays where it was.
		j.rows = append(j.rows, Row{s.key, c.hash, x.arena[start:len(x.arena):len(x.arena)]})
		j.fences = append(j.fences, Fence{s.fence.Subject, x.epochs[i]})
		j.ids = append(j.ids, s.id)
	}
}

// count is how many rows a job has, or will have when they are made.
func (j *Job) count() int { return max(len(j.rows), len(j.of)) }

// rowOf appends a row of a class of what was seen of an entity. The spare is a struct of the class
// to put it into.
func (c *class) rowOf(dst, memory []byte, texts []string, spare unsafe.Pointer) []byte {
	n := uintptr(0)
	for _, p := range c.spans {
		copy(unsafe.Slice((*byte)(unsafe.Add(spare, p.offset)), p.size), memory[n:n+p.size])
		n += p.size
	}
	for i, offset := range c.texts {
		*(*string)(unsafe.Add(spare, offset)) = texts[i]
	}
	return c.Schema.append(dst, spare)
}

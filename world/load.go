package world

import (
	"encoding/binary"
	"errors"
	"fmt"
	"reflect"
	"unsafe"

	"github.com/coeval-dev/coeval/bits"
)

// A loader takes a saved world apart. The first error stays; after it every value is zero.
type loader struct {
	data []byte
	at   int
	err  error
}

func (r *loader) fail(err error) {
	if r.err == nil {
		r.err = err
	}
}

func (r *loader) fault() error {
	return fmt.Errorf("world: saved world is %w at byte %d of %d: %w", ErrDamaged, r.at, len(r.data), r.err)
}

var errShort = errors.New("it ends too early")

func (r *loader) bytes(n int) []byte {
	if r.err != nil || n < 0 || n > len(r.data)-r.at {
		r.fail(errShort)
		return nil
	}
	b := r.data[r.at : r.at+n]
	r.at += n
	return b
}

func (r *loader) fixed() uint64 {
	if b := r.bytes(8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

func (r *loader) uvarint() uint64 {
	if r.err != nil {
		return 0
	}
	v, n := binary.Uvarint(r.data[r.at:])
	if n <= 0 {
		r.fail(errShort)
		return 0
	}
	r.at += n
	return v
}

func (r *loader) varint() int64 {
	u := r.uvarint()
	return int64(u>>1) ^ -int64(u&1)
}

// below is a number that must be less than n.
func (r *loader) below(n uint64) uint64 {
	v := r.uvarint()
	if v >= n {
		r.fail(fmt.Errorf("%d is not below %d", v, n))
		return 0
	}
	return v
}

// count is how many of something follow that take at least so many bytes each.
func (r *loader) count(limit uint64, size int) int {
	n := r.below(limit + 1)
	if n > uint64(len(r.data)-r.at)/uint64(size) {
		r.fail(errShort)
		return 0
	}
	return int(n)
}

func (r *loader) text() string { return string(r.bytes(r.count(1<<32-1, 1))) }

func (r *loader) image(into []int32, schema *bits.Schema) []int32 {
	for i := range into {
		v := r.varint() + int64(schema.Slots[i].Absent)
		if s := &schema.Slots[i]; v < int64(s.Min) || v > int64(s.Max) {
			r.fail(fmt.Errorf("%s.%s: %d is not in %d..%d", schema.Name, s.Name, v, s.Min, s.Max))
			return into
		}
		into[i] = int32(v)
	}
	return into
}

func (r *loader) players(w *World) {
	n := r.count(1<<16-1, 1)
	last := uint64(0)
	var row []int32
	if w.commands != nil {
		row = make([]int32, w.game.commands.layout.Len())
	}
	for range n {
		p := r.below(1 << 16)
		if p <= last {
			r.fail(errors.New("players are not in order"))
		}
		if r.err != nil {
			return
		}
		last = p
		for int(p) >= len(w.present) {
			w.present = append(w.present, false)
			w.repeated = append(w.repeated, false)
		}
		w.present[p] = true
		if w.commands == nil {
			continue
		}
		w.commands.resize(len(w.present))
		r.image(row, w.game.commands.layout.Schema())
		if r.err == nil {
			if err := w.game.commands.layout.Unpack(&w.sync, w.commands.syncer(int(p)), row); err != nil {
				r.fail(err)
			}
		}
	}
}

func (r *loader) table(w *World, t *table) {
	banks := r.count(Predicted+1, 2)
	last := -1
	for range banks {
		allocator := int(r.below(Predicted + 1))
		if allocator <= last {
			r.fail(errors.New("allocators are not in order"))
		}
		last = allocator
		n := r.count(uint64(t.end), 2)
		if r.err != nil {
			return
		}
		b := t.needBank(uint16(allocator))
		for i := 0; i < n && r.err == nil; i++ {
			r.slot(w, t, b, i)
		}
	}
	if t.class.state && t.count != 1 {
		r.fail(fmt.Errorf("state %s is there %d times", t.class.name, t.count))
	}
}

func (r *loader) slot(w *World, t *table, b *bank, i int) {
	state := r.below(slotAway + 1)
	generation := uint32(r.below(lastGeneration + 1))
	if r.err != nil || state == slotFree && generation == 0 {
		return
	}
	if generation == 0 || t.class.state && (i != 0 || generation != 1 || b.allocator != 0) {
		r.fail(fmt.Errorf("class %s has no entity with index %d and generation %d", t.class.name, i, generation))
		return
	}
	pg, s := t.needPage(b, i>>t.shift), i&t.mask
	bit := uint64(1) << s
	pg.slots[s].generation = generation
	switch state {
	case slotAway:
		pg.away |= bit
		return
	case slotFree:
		if generation == lastGeneration {
			r.fail(errors.New("the last generation is used up, but the slot is free"))
		}
		return
	}
	if t.count >= t.class.limit {
		r.fail(fmt.Errorf("class %s has more entities than its limit of %d", t.class.name, t.class.limit))
		return
	}
	t.count++
	pg.live |= bit
	sl := &pg.slots[s]
	sl.owner = Player(r.below(1 << 16))
	sl.by = ID(r.fixed())
	sl.tick = uint32(w.tick) - uint32(r.below(1<<32))
	sl.ordinal = uint16(r.below(1 << 16))
	image := r.image(t.image(pg, s), t.class.layout.Schema())
	if r.err != nil {
		return
	}
	if err := t.class.read(w, t.at(pg, s), image); err != nil {
		r.fail(err)
		return
	}
	for j := range t.class.server {
		r.server(&t.class.server[j], t.at(pg, s))
	}
}

func (r *loader) server(l *leaf, at unsafe.Pointer) {
	switch l.kind {
	case reflect.String:
		*(*string)(unsafe.Add(at, l.offset)) = r.text()
	case reflect.Float32, reflect.Float64:
		l.setWord(at, r.fixed())
	default:
		l.setWord(at, uint64(r.varint()))
	}
}

func (r *loader) events(w *World) {
	for k, t := range w.events {
		e := w.game.events[k]
		n := r.count(uint64(e.limit), 8+1+1+8)
		if n > 0 && e.delivery != Saved {
			r.fail(fmt.Errorf("event %s is not saved", e.name))
		}
		row := make([]int32, e.layout.Len())
		for range n {
			rec := Emitted{Kind: uint16(k), Name: Name{By: ID(r.fixed()), Tick: Tick(r.uvarint()), Ordinal: uint16(r.below(1 << 16))}}
			rec.About = ID(r.fixed())
			r.image(row, e.layout.Schema())
			if r.err != nil {
				return
			}
			if err := e.layout.Unpack(&w.sync, t.restore(rec), row); err != nil {
				r.fail(err)
				return
			}
		}
	}
}

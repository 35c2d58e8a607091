package world

import (
	"encoding/binary"
	"errors"
	"fmt"
	"reflect"
	"unsafe"

	"github.com/coeval-dev/coeval/bits"
)

// What can be wrong with a saved world. Use errors.Is.
var (
	// ErrGame says that it was saved by another game, or by another version of it.
	ErrGame = errors.New("saved by another game or version")
	// ErrDamaged says that the bytes are not what Save made.
	ErrDamaged = errors.New("damaged")
)

const magic = "coevalw1"

// The states of a slot in a saved world.
const (
	slotFree = iota
	slotLive
	slotAway
)

// Save appends the whole world to dst: what Load makes the same world of, on any machine. Numbers are written so that small ones are short; whoever
// keeps many may compress them further.
func (w Host) Save(dst []byte) []byte {
	dst = append(dst, magic...)
	dst = appendText(dst, w.game.name)
	dst = binary.LittleEndian.AppendUint64(dst, w.game.hash)
	partial := uint64(0)
	if w.settings.Partial {
		partial = 1
	}
	dst = binary.AppendUvarint(dst, partial)
	dst = binary.LittleEndian.AppendUint64(dst, w.settings.Seed)
	dst = binary.LittleEndian.AppendUint64(dst, w.settings.Secret)
	dst = binary.AppendUvarint(dst, uint64(w.settings.Allocator))
	dst = binary.AppendUvarint(dst, uint64(w.tick))
	dst = w.savePlayers(dst)
	for _, t := range w.tables {
		dst = t.save(dst, w.tick)
	}
	for k, t := range w.events {
		l := w.game.events[k].layout
		dst = binary.AppendUvarint(dst, uint64(t.count(true)))
		for i := range t.count(true) {
			e := t.emitted(i, true)
			dst = binary.LittleEndian.AppendUint64(dst, uint64(e.By))
			dst = binary.AppendUvarint(dst, uint64(e.Tick))
			dst = binary.AppendUvarint(dst, uint64(e.Ordinal))
			dst = binary.LittleEndian.AppendUint64(dst, uint64(e.About))
			dst = appendImage(dst, w.packed(l, t.syncer(i, true)), l.Schema())
		}
	}
	return binary.LittleEndian.AppendUint64(dst, w.Hash())
}

func (w *World) savePlayers(dst []byte) []byte {
	n := 0
	for range w.Players {
		n++
	}
	dst = binary.AppendUvarint(dst, uint64(n))
	for p := range w.Players {
		dst = binary.AppendUvarint(dst, uint64(p))
		if w.commands != nil {
			l := w.game.commands.layout
			dst = appendImage(dst, w.packed(l, w.commands.syncer(int(p))), l.Schema())
		}
	}
	return dst
}

func (t *table) save(dst []byte, now Tick) []byte {
	n := 0
	for _, b := range t.banks {
		if b.used(t) > 0 {
			n++
		}
	}
	dst = binary.AppendUvarint(dst, uint64(n))
	for _, b := range t.banks {
		used := b.used(t)
		if used == 0 {
			continue
		}
		dst = binary.AppendUvarint(dst, uint64(b.allocator))
		dst = binary.AppendUvarint(dst, uint64(used))
		for i := range used {
			dst = t.saveSlot(dst, b.pages[i>>t.shift], i&t.mask, now)
		}
	}
	return dst
}

// used is how many slots there are up to the last one that was ever used.
func (b *bank) used(t *table) int {
	for i := len(b.pages) - 1; i >= 0; i-- {
		if b.pages[i] == nil {
			continue
		}
		for s := t.mask; s >= 0; s-- {
			if b.pages[i].slots[s].generation != 0 {
				return i<<t.shift + s + 1
			}
		}
	}
	return 0
}

func (t *table) saveSlot(dst []byte, pg *page, s int, now Tick) []byte {
	if pg == nil {
		return append(dst, slotFree, 0)
	}
	sl := &pg.slots[s]
	state := byte(slotFree)
	switch {
	case pg.live>>s&1 != 0:
		state = slotLive
	case pg.away>>s&1 != 0:
		state = slotAway
	}
	dst = append(dst, state)
	dst = binary.AppendUvarint(dst, uint64(sl.generation))
	if state != slotLive {
		return dst
	}
	dst = binary.AppendUvarint(dst, uint64(sl.owner))
	dst = binary.LittleEndian.AppendUint64(dst, uint64(sl.by))
	dst = binary.AppendUvarint(dst, uint64(uint32(now)-sl.tick))
	dst = binary.AppendUvarint(dst, uint64(sl.ordinal))
	dst = appendImage(dst, t.image(pg, s), t.class.layout.Schema())
	at := t.at(pg, s)
	for i := range t.class.server {
		l := &t.class.server[i]
		switch l.kind {
		case reflect.String:
			dst = appendText(dst, *(*string)(unsafe.Add(at, l.offset)))
		case reflect.Float32, reflect.Float64:
			dst = binary.LittleEndian.AppendUint64(dst, l.word(at))
		default:
			dst = binary.AppendVarint(dst, int64(l.word(at)))
		}
	}
	return dst
}

func appendText(dst []byte, s string) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(s))), s...)
}

// appendImage writes each number as its distance from what stands for nothing.
func appendImage(dst []byte, image []int32, schema *bits.Schema) []byte {
	for i, v := range image {
		dst = binary.AppendVarint(dst, int64(v)-int64(schema.Slots[i].Absent))
	}
	return dst
}

// Load makes the world that was saved. The data may come from a stranger: what is not a saved world is refused, and says where.
func (g *Game) Load(data []byte) (*World, error) {
	w, hash, err := g.load(data)
	if err != nil {
		return nil, err
	}
	if w.Hash() != hash {
		return nil, fmt.Errorf("world: saved world is %w: what was loaded does not have the hash of what was saved", ErrDamaged)
	}
	return w, nil
}

// load makes a world, with the hash that it should have.
func (g *Game) load(data []byte) (*World, uint64, error) {
	if err := g.Err(); err != nil {
		return nil, 0, err
	}
	r := &loader{data: data}
	if string(r.bytes(len(magic))) != magic {
		return nil, 0, fmt.Errorf("world: this is not a saved world, or one of another version of the toolkit: %w", ErrGame)
	}
	name, hash := r.text(), r.fixed()
	if r.err == nil && (name != g.name || hash != g.hash) {
		if name != g.name {
			return nil, 0, fmt.Errorf("world: %w: it is of game %q, not %q; load it with that one", ErrGame, name, g.name)
		}
		return nil, 0, fmt.Errorf("world: %w: %q had other classes, fields or ranges then (declarations %016x, now %016x); load it with the program that saved it",
			ErrGame, name, hash, g.hash)
	}
	s := Settings{Partial: r.below(2) == 1, Seed: r.fixed(), Secret: r.fixed()}
	allocator := int(r.below(Predicted + 1))
	if r.err != nil {
		return nil, 0, r.fault()
	}
	if !s.Partial {
		s.Allocator = allocator
	}
	w, err := g.empty(s)
	if err != nil {
		return nil, 0, err
	}
	w.tick = Tick(r.uvarint())
	r.players(w)
	for _, t := range w.tables {
		r.table(w, t)
	}
	r.events(w)
	want := r.fixed()
	if r.err == nil && r.at != len(data) {
		r.fail(fmt.Errorf("%d bytes are left over", len(data)-r.at))
	}
	if r.err != nil {
		return nil, 0, r.fault()
	}
	return w, want, nil
}

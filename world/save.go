package world

import (
	"encoding/binary"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"unsafe"
)

// What can be wrong with a saved world. Use errors.Is.
var (
	// ErrGame says that it was saved by another game, or by another version of it.
	ErrGame = errors.New("saved by another game or version")
	// ErrDamaged says that the bytes are not what Save made.
	ErrDamaged = errors.New("damaged")
	// ErrMemory says that the world would take more memory than Load allows. See LoadLimits.
	ErrMemory = errors.New("takes more memory than is allowed")
)

const magic = "coevalw1"

// The states of a slot in a saved world.
const (
	slotFree = iota
	slotLive
	slotAway
	slotGhost
)

// Save appends the whole world to dst: what Load makes the same world of, on any machine. Numbers
// are written so that small ones are short; whoever keeps many may compress them further.
func (w Host) Save(dst []byte) []byte {
	dst = append(dst, magic...)
	a := &archive{data: dst[:cap(dst)], at: len(dst)}
	name, hash, s := w.game.name, w.game.hash, w.settings
	a.text(&name)
	fixed(a, &hash)
	a.settings(&s)
	a.world(w.World)
	hash = w.Hash()
	fixed(a, &hash)
	return a.data[:a.at]
}

// LoadLimits bound what a saved world may take of the machine that loads it.
type LoadLimits struct {
	// Memory is the most bytes that its entities and commands may take. Default: in proportion to
	// the data, so that a stranger's file of some kilobytes takes some megabytes. That is 16 MiB,
	// and for every two bytes of data the memory of one entity of the largest class: two bytes are
	// what a slot takes that was used once and is free.
	Memory int64
}

// loadRoom is the memory that any saved world may take.
const loadRoom = 16 << 20

// memory is what a saved world of so many bytes may take.
func (l LoadLimits) memory(g *Game, size int) int64 {
	if l.Memory > 0 {
		return l.Memory
	}
	largest := int64(64)
	for _, c := range g.classes {
		largest = max(largest, newTable(c).slotBytes())
	}
	return loadRoom + largest*int64(size/2)
}

// Load makes the world that was saved. The data may come from a stranger: what is not a saved world
// is refused, and says where, and the world takes memory in proportion to the data.
func (g *Game) Load(data []byte) (*World, error) { return g.LoadWithin(data, LoadLimits{}) }

// LoadWithin is Load with limits of the caller's own.
func (g *Game) LoadWithin(data []byte, l LoadLimits) (*World, error) {
	w, hash, err := g.load(data, l)
	if err != nil {
		return nil, err
	}
	if w.Hash() != hash {
		return nil, fmt.Errorf(
			"world: saved world is %w: what was loaded does not have the hash of what was saved",
			ErrDamaged)
	}
	return w, nil
}

// load makes a world, with the hash that it should have.
func (g *Game) load(data []byte, l LoadLimits) (*World, uint64, error) {
	if err := g.Err(); err != nil {
		return nil, 0, err
	}
	a := &archive{data: data, reading: true, memory: l.memory(g, len(data))}
	if string(a.bytes(len(magic))) != magic {
		return nil, 0,
			fmt.Errorf("world: this is not a saved world, or one of another version of the "+
				"toolkit: %w", ErrGame)
	}
	var name string
	var hash uint64
	a.text(&name)
	fixed(a, &hash)
	switch {
	case a.err != nil:
	case name != g.name:
		return nil, 0,
			fmt.Errorf("world: %w: it is of game %q, not %q; load it with that one", ErrGame, name,
				g.name)
	case hash != g.hash:
		return nil, 0,
			fmt.Errorf("world: %w: %q had other classes, fields or ranges then (declarations "+
				"%016x, now %016x); load it with the program that saved it",
				ErrGame, name, hash, g.hash)
	}
	var s Settings
	a.settings(&s)
	if a.err != nil {
		return nil, 0, a.fault()
	}
	w, err := g.empty(s)
	if err != nil {
		return nil, 0, err
	}
	a.world(w)
	fixed(a, &hash)
	if a.err == nil && a.at != len(data) {
		a.fail(fmt.Errorf("%d bytes are left over", len(data)-a.at))
	}
	if a.err != nil {
		return nil, 0, a.fault()
	}
	return w, hash, nil
}

// How much of a world a saved one is.
const (
	extentWhole = iota
	extentPartial
	extentDivided
)

func (a *archive) settings(s *Settings) {
	extent := extentWhole
	switch {
	case s.Partial:
		extent = extentPartial
	case s.Divided:
		extent = extentDivided
	}
	below(a, &extent, extentDivided+1)
	fixed(a, &s.Seed)
	fixed(a, &s.Secret)
	below(a, &s.Allocator, Predicted+1)
	s.Divided = extent == extentDivided
	if s.Partial = extent == extentPartial; a.reading && s.Partial {
		s.Allocator = 0 // a partial world has its own
	}
}

func (a *archive) world(w *World) {
	uvarint(a, &w.tick)
	a.players(w)
	for _, t := range w.tables {
		a.table(w, t)
	}
	a.events(w)
	a.past(w)
}

func (a *archive) players(w *World) {
	here := slices.Collect(w.Players)
	last := Player(0)
	for i := range a.count(len(here), 1<<16-1, 1) {
		var p Player
		if !a.reading {
			p = here[i]
		}
		if below(a, &p, 1<<16); p <= last {
			a.fail(errors.New("players are not in order"))
		}
		if a.err != nil {
			return
		}
		if a.reading {
			if a.charge(w.seatBytes() * int64(p-last)); a.err != nil {
				return
			}
			w.admitOne(p)
		}
		last = p
		if w.commands != nil {
			a.value(w, w.game.commands.layout, w.commands.syncer(int(p)))
		}
	}
}

func (a *archive) table(w *World, t *table) {
	banks := slices.DeleteFunc(slices.Clone(t.banks), func(b *bank) bool { return b.used(t) == 0 })
	last := -1
	for i := range a.count(len(banks), Predicted+1, 2) {
		allocator, used := 0, 0
		if !a.reading {
			allocator, used = int(banks[i].allocator), banks[i].used(t)
		}
		if below(a, &allocator, Predicted+1); allocator <= last {
			a.fail(errors.New("allocators are not in order"))
		}
		last = allocator
		used = a.count(used, uint64(t.end), 2)
		if a.err != nil {
			return
		}
		b := t.needBank(uint16(allocator))
		a.charge(bankBytes)
		for i := 0; i < used && a.err == nil; i++ {
			a.slot(w, t, b, i)
		}
	}
	if t.class.state && t.count != 1 {
		a.fail(fmt.Errorf("state %s is there %d times", t.class.name, t.count))
	}
}

// bankBytes is what a bank takes, and its place among others.
const bankBytes = 96

// slotBytes is the memory of an entity: its fields now and a tick before, its image, and what the
// world knows of it.
func (t *table) slotBytes() int64 {
	return int64(2*t.size) + int64(4*t.class.layout.Len()) + int64(unsafe.Sizeof(slot{})) + 4
}

// seatBytes is the memory of a player.
func (w *World) seatBytes() int64 {
	n := int64(2)
	if w.commands != nil {
		n += w.commands.size()
	}
	return n
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

// slot is a slot of a table with the entity in it, if there is one. Writing is apart from reading:
// saving spends its time here.
func (a *archive) slot(w *World, t *table, b *bank, i int) {
	if !a.reading {
		a.writeSlot(w, t, b.pages[i>>t.shift], i&t.mask)
		return
	}
	state, generation := slotFree, uint32(0)
	below(a, &state, slotGhost+1)
	below(a, &generation, lastGeneration+1)
	if a.err != nil || state == slotFree && generation == 0 {
		return
	}
	if pages := i>>t.shift + 1; pages > len(b.pages) || b.pages[pages-1] == nil {
		if a.charge(t.slotBytes() * int64(t.mask+1)); a.err != nil {
			return
		}
	}
	if err := t.fill(b, i, state, generation, w.room(t)); err != nil {
		a.fail(err)
		return
	}
	if state == slotGhost && !w.settings.Divided {
		a.fail(errors.New("a world that is not divided has a ghost"))
	} else if state == slotLive || state == slotGhost {
		a.readEntity(w, t, b.pages[i>>t.shift], i&t.mask)
	}
}

func (a *archive) writeSlot(w *World, t *table, pg *page, s int) {
	a.room(2*binary.MaxVarintLen64 + 8 + 3*binary.MaxVarintLen64)
	data := a.data[a.at:]
	if pg == nil {
		a.at += copy(data, []byte{slotFree, 0})
		return
	}
	sl := &pg.slots[s]
	state := byte(slotFree)
	switch {
	case (pg.live&pg.away)>>s&1 != 0:
		state = slotGhost
	case pg.live>>s&1 != 0:
		state = slotLive
	case pg.away>>s&1 != 0:
		state = slotAway
	}
	data[0] = state
	n := putUvarint(data, 1, uint64(sl.generation))
	if state != slotLive && state != slotGhost {
		a.at += n
		return
	}
	n = putUvarint(data, n, uint64(sl.owner))
	binary.LittleEndian.PutUint64(data[n:], uint64(sl.by))
	n = putUvarint(data, n+8, uint64(uint32(w.tick)-sl.tick))
	n = putUvarint(data, n, uint64(sl.ordinal))
	a.at += n
	a.writeImage(t.image(pg, s), t.class.layout.Absent())
	for i := range t.class.server {
		a.server(&t.class.server[i], t.at(pg, s))
	}
}

// fill makes a slot what a saved world says that it is, but for the entity in it.
func (t *table) fill(b *bank, i, state int, generation uint32, room int) error {
	switch {
	case generation == 0 || t.class.state && (i != 0 || generation != 1 || b.allocator != 0):
		return fmt.Errorf("class %s has no entity with index %d and generation %d", t.class.name, i,
			generation)
	case state == slotFree && generation == lastGeneration:
		return errors.New("the last generation is used up, but the slot is free")
	case state == slotLive && t.count-t.ghosts >= room,
		state == slotGhost && t.ghosts >= 4*t.class.limit: // SetGhost knows no limit
		return fmt.Errorf("class %s has more entities than its limit of %d", t.class.name,
			t.class.limit)
	}
	pg, s := t.needPage(b, i>>t.shift), i&t.mask
	pg.use(s)
	pg.slots[s].generation = generation
	switch state {
	case slotAway:
		pg.away |= 1 << s
	case slotGhost:
		pg.live |= 1 << s
		pg.away |= 1 << s
		t.count++
		t.ghosts++
	case slotLive:
		pg.live |= 1 << s
		t.count++
	}
	return nil
}

func (a *archive) readEntity(w *World, t *table, pg *page, s int) {
	sl := &pg.slots[s]
	var ago uint32
	below(a, &sl.owner, 1<<16)
	fixed(a, &sl.by)
	below(a, &ago, 1<<32)
	below(a, &sl.ordinal, 1<<16)
	sl.tick = uint32(w.tick) - ago
	at, image := t.at(pg, s), a.image(t.image(pg, s), t.class.layout)
	if a.err == nil {
		if err := t.class.read(w, at, image); err != nil {
			a.fail(err)
		}
	}
	for i := range t.class.server {
		a.server(&t.class.server[i], at)
	}
}

func (a *archive) server(l *leaf, at unsafe.Pointer) {
	if l.kind == reflect.String {
		a.text((*string)(unsafe.Add(at, l.offset)))
		return
	}
	v := l.word(at)
	if l.kind == reflect.Float32 || l.kind == reflect.Float64 {
		fixed(a, &v)
	} else {
		n := int64(v)
		a.varint(&n)
		v = uint64(n)
	}
	if a.reading {
		l.setWord(at, v)
	}
}

func (a *archive) events(w *World) {
	for k, t := range w.events {
		info := w.game.events[k]
		n := a.count(t.count(true), uint64(info.limit), 8+1+1+8)
		if n > 0 && info.delivery != Saved {
			a.fail(fmt.Errorf("event %s is not saved", info.name))
		}
		for i := range n {
			e := Emitted{Kind: uint16(k)}
			if !a.reading {
				e = *t.emitted(i, true)
			}
			fixed(a, &e.By)
			uvarint(a, &e.Tick)
			below(a, &e.Ordinal, 1<<16)
			fixed(a, &e.About)
			if a.err != nil {
				return
			}
			if a.reading {
				t.restore(e)
			}
			a.value(w, info.layout, t.syncer(i, true))
		}
	}
}

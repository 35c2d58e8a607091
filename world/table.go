package world

import (
	mathbits "math/bits"
	"slices"
	"unsafe"
)

// pageSlots is how many entities stand in a page: as many as a word has bits.
const pageSlots = 64

// A table holds the entities of one class. They stand in pages that never move, so a pointer to one
// stays good while others come; and in order of identifier, so that going through the pages is
// going through them in order.
type table struct {
	class  *ClassInfo
	banks  []*bank        // in order of allocator; mostly there is one
	count  int            // of live entities
	ghosts int            // of those, the ones that belong to other servers
	shift  uint           // which bits of an index say the page
	mask   int            // and which the slot
	end    int            // no index is as high as this
	size   uintptr        // of an entity
	spare  unsafe.Pointer // one entity, to be read into

	census uint64 // see Host.Census
	wake   wake   // of those who went
}

// A bank holds the entities whose identifiers came from one allocator.
type bank struct {
	allocator uint16
	pages     []*page // nil where there is nothing
	low       int     // no page before this one has a free slot
}

// A page is a row of slots, each with an entity or free. The words have a bit for each slot. It has
// 128 bytes, two lines of cache, which is felt where all pages are visited.
type page struct {
	live  uint64 // there is an entity
	born  uint64 // it came in this tick
	dying uint64 // it goes at the end of this tick
	// there is none, but the slot is not free: it is on another server, or the last generation is
	// used up; if it is live as well, it is a ghost
	away    uint64
	touched uint64 // it changed in a way that memory does not show
	changed uint64 // its image is not that of the tick before
	stale   bool   // past is not what memory was at the end of the tick before
	top     uint8  // from this slot on none has ever been in use, and all are zero
	number  int32  // in its bank
	memory  unsafe.Pointer
	// the memory at the end of the tick before, to find changes; nil until needed
	past   unsafe.Pointer
	bank   *bank
	images []int32
	slots  []slot
}

// A slot is what the world keeps about an entity, apart from its fields.
type slot struct {
	by         ID // the entity's name
	tick       uint32
	ordinal    uint16
	owner      Player
	generation uint32 // of the entity here, or of the last one that was
}

func newTable(c *ClassInfo) *table {
	n := min(mathbits.Len(uint(c.limit-1)), mathbits.Len(pageSlots-1))
	// As the lowest index is taken first, only what is away can drive indices above the limit.
	return &table{
		class: c, shift: uint(n), mask: 1<<n - 1, end: min(2*c.limit+pageSlots, maxIndex),
		size: c.kind.size()}
}

func (t *table) newPage(b *bank, number int) *page {
	n := t.mask + 1
	return &page{
		bank:   b,
		number: int32(number),
		memory: t.class.kind.alloc(n),
		images: make([]int32, n*t.class.layout.Len()),
		slots:  make([]slot, n),
		stale:  true,
	}
}

func (t *table) bank(allocator uint16) *bank {
	for _, b := range t.banks {
		if b.allocator == allocator {
			return b
		}
	}
	return nil
}

// needBank finds a bank or makes it.
func (t *table) needBank(allocator uint16) *bank {
	if b := t.bank(allocator); b != nil {
		return b
	}
	b := &bank{allocator: allocator}
	i, _ := slices.BinarySearchFunc(t.banks, allocator,
		func(b *bank, a uint16) int { return int(b.allocator) - int(a) })
	if i == len(t.banks) { // who goes through them does not see it
		t.banks = append(t.banks, b)
		return b
	}
	t.banks = slices.Insert(slices.Clone(t.banks), i, b) // someone may be going through them
	return b
}

// needPage finds a page or makes it. What lies beyond the end of pages may be one that was used
// before.
func (t *table) needPage(b *bank, i int) *page {
	for len(b.pages) <= i {
		if cap(b.pages) > len(b.pages) {
			b.pages = b.pages[:len(b.pages)+1]
			if pg := b.pages[len(b.pages)-1]; pg != nil {
				t.reset(pg)
			}
		} else {
			b.pages = append(b.pages, nil)
		}
	}
	if b.pages[i] == nil {
		b.pages[i] = t.newPage(b, i)
	}
	return b.pages[i]
}

// reset makes a page as good as new.
func (t *table) reset(pg *page) {
	n := t.mask + 1
	t.class.kind.wipe(pg.memory, n)
	clear(pg.images)
	clear(pg.slots)
	*pg = page{bank: pg.bank, number: pg.number, memory: pg.memory, past: pg.past,
		images: pg.images, slots: pg.slots, stale: true}
}

// pages goes through the pages that there are, in order of identifier.
func (t *table) pages(yield func(*page) bool) {
	for _, b := range t.banks {
		for _, pg := range b.pages {
			if pg != nil && !yield(pg) {
				return
			}
		}
	}
}

// slotOf gives the page and slot that an identifier has, or nil where there is no such page.
func (t *table) slotOf(id ID) (*page, int) {
	b := t.bank(id.allocator())
	if i := id.Index() >> t.shift; b != nil && i < len(b.pages) {
		return b.pages[i], id.Index() & t.mask
	}
	return nil, 0
}

// find gives the page and slot of an entity, or nil if it is not here.
func (t *table) find(id ID) (*page, int) {
	pg, s := t.slotOf(id)
	if pg == nil || pg.live>>s&1 == 0 || pg.slots[s].generation != uint32(id)&lastGeneration {
		return nil, 0
	}
	return pg, s
}

func (t *table) at(pg *page, slot int) unsafe.Pointer {
	return unsafe.Add(pg.memory, uintptr(slot)*t.size)
}

func (t *table) pastOf(pg *page, slot int) unsafe.Pointer {
	return unsafe.Add(pg.past, uintptr(slot)*t.size)
}

func (t *table) image(pg *page, slot int) []int32 {
	n := t.class.layout.Len()
	return pg.images[slot*n : (slot+1)*n : (slot+1)*n]
}

func (t *table) id(pg *page, slot int) ID {
	return makeID(t.class.number, pg.bank.allocator, int(pg.number)<<t.shift|slot,
		pg.slots[slot].generation)
}

// take finds the lowest free slot of an allocator and makes an entity there. Which one that is
// depends only on which are in use, not on the order in which they came to be, so the set of
// entities and their generations is the allocator's whole state.
func (t *table) take(allocator uint16) (ID, *page, int) {
	b := t.needBank(allocator)
	for i := b.low; i<<t.shift < t.end; i++ {
		pg := t.needPage(b, i)
		b.low = i
		free := ^(pg.live | pg.away) & (1<<(uint(t.mask)+1) - 1)
		if free == 0 {
			continue
		}
		s := mathbits.TrailingZeros64(free)
		pg.live |= 1 << s
		pg.born |= 1 << s
		pg.slots[s].generation++
		pg.use(s)
		t.count++
		t.census++
		return t.id(pg, s), pg, s
	}
	return None, nil, 0
}

// use notes that a slot is in use.
func (pg *page) use(slot int) { pg.top = max(pg.top, uint8(slot)+1) }

// free empties a slot.
func (t *table) free(pg *page, slot int) {
	bit := uint64(1) << slot
	if pg.away&bit != 0 {
		t.ghosts--
	}
	pg.live &^= bit
	pg.born &^= bit
	pg.dying &^= bit
	pg.touched &^= bit
	pg.changed &^= bit
	if pg.slots[slot].generation >= lastGeneration {
		pg.away |= bit
	}
	pg.slots[slot] = emptySlot(pg.slots[slot].generation)
	t.class.kind.wipe(t.at(pg, slot), 1)
	if pg.past != nil {
		t.class.kind.wipe(t.pastOf(pg, slot), 1)
	}
	clear(t.image(pg, slot))
	pg.bank.low = min(pg.bank.low, int(pg.number))
	t.count--
	t.census++
}

func emptySlot(generation uint32) slot { return slot{generation: generation} }

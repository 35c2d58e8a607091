package interest

// A table finds numbers by keys: slots by identifier, cells by place. It is open addressing with
// linear probing and deletion by moving back, so it allocates only when it has to grow, which Go's
// map does not promise under steady insertion and removal. The key 0 is not a key.
type table struct {
	keys   []uint64
	values []uint32
	count  int
	shift  uint // the hash is the top bits of a product
}

// home is the golden ratio's multiplicative hash: identifiers and packed coordinates differ in few
// bits, and it spreads those.
func (t *table) home(key uint64) int { return int(key * 0x9e3779b97f4a7c15 >> t.shift) }

// get finds a key's value.
func (t *table) get(key uint64) (uint32, bool) {
	if t.count == 0 {
		return 0, false
	}
	for i := t.home(key); ; i = (i + 1) & (len(t.keys) - 1) {
		switch t.keys[i] {
		case key:
			return t.values[i], true
		case 0:
			return 0, false
		}
	}
}

// put adds a key that is not there, or changes its value.
func (t *table) put(key uint64, value uint32) {
	if 2*(t.count+1) > len(t.keys) {
		t.grow()
	}
	i := t.home(key)
	for t.keys[i] != 0 && t.keys[i] != key {
		i = (i + 1) & (len(t.keys) - 1)
	}
	if t.keys[i] == 0 {
		t.count++
	}
	t.keys[i], t.values[i] = key, value
}

// remove takes a key out and closes the gap, so that nothing of the deleted is left to slow down
// later searches.
func (t *table) remove(key uint64) {
	if t.count == 0 {
		return
	}
	mask := len(t.keys) - 1
	gap := t.home(key)
	for t.keys[gap] != key {
		if t.keys[gap] == 0 {
			return
		}
		gap = (gap + 1) & mask
	}
	t.count--
	for i := (gap + 1) & mask; t.keys[i] != 0; i = (i + 1) & mask {
		// What stands at i may move to the gap if its home is not between the two.
		if (i-t.home(t.keys[i]))&mask >= (i-gap)&mask {
			t.keys[gap], t.values[gap] = t.keys[i], t.values[i]
			gap = i
		}
	}
	t.keys[gap] = 0
}

// clear empties the table and keeps its memory.
func (t *table) clear() {
	clear(t.keys)
	t.count = 0
}

func (t *table) grow() {
	keys, values := t.keys, t.values
	size := max(16, 2*len(keys))
	t.keys, t.values, t.count = make([]uint64, size), make([]uint32, size), 0
	t.shift = 64
	for n := size; n > 1; n >>= 1 {
		t.shift--
	}
	for i, k := range keys {
		if k != 0 {
			t.put(k, values[i])
		}
	}
}

// A slotMap is a map from slots to numbers that is emptied at no cost. It takes memory by what
// exists, but there is one for each worker only, not for each client.
type slotMap struct {
	round uint32
	of    []numbered // by slot
}

type numbered struct{ round, number uint32 }

// begin empties the map and makes room for so many slots.
func (m *slotMap) begin(slots int) {
	if len(m.of) < slots {
		m.of = append(m.of, make([]numbered, slots-len(m.of))...)
	}
	m.round++
	if m.round == 0 { // after four thousand million updates the numbers of the first would look new
		clear(m.of)
		m.round = 1
	}
}

func (m *slotMap) get(slot uint32) (int, bool) {
	k := m.of[slot]
	return int(k.number), k.round == m.round
}

func (m *slotMap) set(slot uint32, number int) { m.of[slot] = numbered{m.round, uint32(number)} }

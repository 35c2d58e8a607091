package zone

// moved knows where entities went that were owned here, the last maxMoved of them, so that actions
// on them are forwarded.
type moved struct {
	to   map[uint64]whither
	ring []departure // in order of leaving; some have come back or left again since
	head int         // those before it are forgotten
	turn uint64
}

type whither struct {
	to   ID
	turn uint64
}

type departure struct {
	entity, turn uint64
}

func (m *moved) reset() {
	if m.to == nil {
		m.to = map[uint64]whither{}
	}
	clear(m.to)
	m.ring, m.head = m.ring[:0], 0
}

func (m *moved) where(entity uint64) (ID, bool) {
	w, ok := m.to[entity]
	return w.to, ok
}

// left notes that an entity went to another zone. What is forgotten for it depends on who is away,
// and not on what else is in the ring: a zone that was loaded forgets the same.
func (m *moved) left(entity uint64, to ID) {
	if _, again := m.to[entity]; !again && len(m.to) >= maxMoved {
		m.forget()
	}
	if len(m.ring) >= 2*maxMoved {
		m.compact()
	}
	m.turn++
	m.ring = append(m.ring, departure{entity, m.turn})
	m.to[entity] = whither{to, m.turn}
}

// away says whether a departure is the last one of its entity, which has not come back.
func (m *moved) away(d departure) bool { return m.to[d.entity].turn == d.turn }

// forget gives up the one that has been away for longest.
func (m *moved) forget() {
	for m.head < len(m.ring) {
		d := m.ring[m.head]
		m.head++
		if m.away(d) {
			delete(m.to, d.entity)
			return
		}
	}
}

// compact leaves only those who are away in the ring.
func (m *moved) compact() {
	keep := m.ring[:0]
	for _, d := range m.ring[m.head:] {
		if m.away(d) {
			keep = append(keep, d)
		}
	}
	m.ring, m.head = keep, 0
}

// came notes that an entity is owned here again.
func (m *moved) came(entity uint64) { delete(m.to, entity) }

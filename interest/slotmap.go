package interest

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

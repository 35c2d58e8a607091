package interest

// marks are a map from slots to numbers that is emptied at no cost. It takes memory by what exists, but there is one for each worker only, not for each client.
type marks struct {
	round uint32
	of    []mark // by slot
}

type mark struct{ round, number uint32 }

// begin empties the map and makes room for so many slots.
func (m *marks) begin(slots int) {
	if len(m.of) < slots {
		m.of = append(m.of, make([]mark, slots-len(m.of))...)
	}
	m.round++
	if m.round == 0 { // after four thousand million updates the marks of the first would look new
		clear(m.of)
		m.round = 1
	}
}

func (m *marks) get(slot uint32) (int, bool) {
	k := m.of[slot]
	return int(k.number), k.round == m.round
}

func (m *marks) set(slot uint32, number int) { m.of[slot] = mark{m.round, uint32(number)} }

package zone

import "slices"

// memory is what this server holds of a zone of another one, as its buddy: records that the journal
// may not have. They are of one epoch and follow each other.
type memory struct {
	promised uint64 // nothing of an earlier epoch is taken
	epoch    uint64 // of the records
	first    uint64 // the number of the first that is held
	records  [][]byte
	size     int
	part     []byte // of the next
}

func (m *memory) end() uint64 { return m.first + uint64(len(m.records)) }

// recall gives what is held of a zone. It is made if need be; nil where there would be too much.
func (s *Server) recall(id ID) *memory {
	m := s.memories[id]
	if m == nil && len(s.memories) < maxRoutes {
		m = &memory{first: 1}
		s.memories[id] = m
	}
	return m
}

// forget gives up records before a number.
func (s *Server) forget(m *memory, before uint64) {
	n := 0
	for n < len(m.records) && m.first < before {
		m.size -= len(m.records[n])
		s.memory -= len(m.records[n])
		m.first++
		n++
	}
	m.records = slices.Delete(m.records, 0, n)
	if m.first < before {
		m.first, m.part = before, m.part[:0]
	}
}

// takeHold holds a record, or a part of one, and answers up to which it has them all.
func (s *Server) takeHold(p *peer, a *holdPart) {
	m := s.recall(a.zone)
	if m == nil {
		return
	}
	answer := heldPart{zone: a.zone, epoch: a.epoch}
	switch {
	case a.epoch < m.promised:
		answer.refused = true
	case a.epoch > m.epoch:
		// Whoever owns a zone in a later epoch has had the journal take all of the earlier ones.
		s.forget(m, m.end())
		m.promised, m.epoch, m.first, m.part = a.epoch, a.epoch, a.first, m.part[:0]
		fallthrough
	default:
		s.forget(m, a.first)
		answer.gap = !s.holds(m, a)
		answer.number = m.end() - 1
		if a.offset+len(a.data) < a.total && !answer.gap {
			return
		}
	}
	l := s.write(p, false, 64)
	l.buf = answer.append(l.buf)
}

// holds takes a part of the next record, and says whether it was that or one before it.
func (s *Server) holds(m *memory, a *holdPart) bool {
	switch {
	case a.number != m.end():
		return a.number < m.end()
	case a.offset == 0:
		m.part = m.part[:0]
	case a.offset != len(m.part):
		return false
	}
	if m.size+a.total > maxHeld || s.memory+a.total > maxHeldAll {
		return false
	}
	m.part = append(m.part, a.data...)
	if len(m.part) == a.total {
		m.records = append(m.records, slices.Clone(m.part))
		m.size += a.total
		s.memory += a.total
		m.part = m.part[:0]
	}
	return true
}

// promise takes nothing of a zone that is of an epoch before one, from now on. If this server owns
// the zone in such an epoch, it does not any more. It says whether that is the highest promise.
func (s *Server) promise(id ID, epoch uint64) (*memory, bool) {
	m := s.recall(id)
	if m == nil || epoch < m.promised {
		return m, false
	}
	m.promised = epoch
	if z := s.zone(id); z != nil && z.told && z.entry.Epoch < epoch {
		s.lose(z)
	}
	return m, true
}

// retain holds what the journal may not have of a zone that was this server's: its buddies and it
// are asked alike.
func (s *Server) retain(z *owned) {
	m := s.recall(z.id)
	if z.buddies.now == [holders]ServerID{} || m == nil || m.epoch > z.entry.Epoch {
		return
	}
	s.forget(m, m.end())
	m.epoch, m.first, m.part = z.entry.Epoch, z.journal.number+1, m.part[:0]
	for k, rec := range z.journal.queue {
		if k == 0 {
			m.first = rec.number
		}
		m.records = append(m.records, slices.Clone(rec.data))
		m.size += len(rec.data)
		s.memory += len(rec.data)
	}
}

// takeAsk answers a server that takes a zone over with what is held of it.
func (s *Server) takeAsk(p *peer, a *askPart) {
	m, ok := s.promise(a.zone, a.epoch)
	if m == nil {
		return
	}
	t := tellPart{zone: a.zone, epoch: a.epoch, refused: !ok}
	if ok {
		t.of, t.first, t.end = m.epoch, m.first, m.end()
		if t.number = a.number; a.number >= m.first && a.number < m.end() {
			rec := m.records[a.number-m.first]
			t.offset, t.total = min(a.offset, len(rec)), len(rec)
			t.data = rec[t.offset:min(t.offset+maxChunk, len(rec))]
		}
	}
	l := s.write(p, false, len(t.data)+96)
	l.buf = t.append(l.buf)
}

package lobby

import "slices"

// Hear brings where somebody is up to date with what they are told, the Data of a Change: so it
// stays what Ping says. A line that m has already is not taken twice.
func (m *Mine) Hear(data any) {
	switch x := data.(type) {
	case Mine:
		*m = x
	case *Room:
		r := *x
		r.Chat = slices.Clip(r.Chat) // others hear the same room
		m.Room = &r
	case Line:
		if m.Room == nil {
			return
		}
		c := m.Room.Chat
		if len(c) > 0 && x.Number <= c[len(c)-1].Number {
			return
		}
		if len(c) >= mostLines {
			c = c[len(c)-mostLines+1:]
		}
		r := *m.Room // somebody may look at what was
		r.Chat = append(c, x)
		m.Room = &r
	case Queued:
		if m.Queue = &x; x.Gone {
			m.Queue = nil
		}
	case Start:
		m.Start, m.Queue = &x, nil
	case Out:
		if m.Room != nil && m.Room.Code == x.Room {
			m.Room = nil
		}
	}
}

package query

import "github.com/coeval-dev/coeval/bits"

// A Who is who plays, as much of it as fits.
type Who struct {
	// Total is how many there are, and First how many were passed over.
	Total, First uint16
	Players      []Player
}

// A Player is one of those who play or watch.
type Player struct {
	Name string `json:"name"`
	// Watches says that it is a spectator, and Away that it has no connection just now.
	Watches bool `json:"watches,omitempty"`
	Away    bool `json:"away,omitempty"`
	// Ping is the round trip of its connection in milliseconds, or zero if that is not known.
	Ping uint16 `json:"ping_ms,omitempty"`
	// Seconds is for how long it has been there.
	Seconds uint32 `json:"seconds"`
}

const (
	whoHead     = 5
	leastPlayer = 8 // bytes
	// MaxPlayers is how many fit into one answer.
	MaxPlayers = (MaxBody - whoHead) / leastPlayer
)

func (p *Player) fields(b *bits.Cursor) {
	f := byte(0)
	if p.Watches {
		f |= 1
	}
	if p.Away {
		f |= 2
	}
	b.U8(&f)
	b.Check(f <= 3)
	p.Watches, p.Away = f&1 != 0, f&2 != 0
	b.U16(&p.Ping)
	b.U32(&p.Seconds)
	text(b, &p.Name, MaxName)
}

func (p Player) append(to []byte) []byte {
	b := bits.CursorTo(to)
	p.fields(&b)
	return b.Data()
}

func (w *Who) head(b *bits.Cursor, count *byte) {
	b.U16(&w.Total)
	b.U16(&w.First)
	b.U8(count)
	b.Check(int(*count) <= MaxPlayers)
}

// AppendWho writes the body of an answer of at most so many bytes, with as many players as fit.
func (w *Who) AppendWho(to []byte, most int) []byte {
	start := len(to)
	b := bits.CursorTo(to)
	count := byte(0)
	w.head(&b, &count)
	out := b.Data()
	if len(out)-start > most {
		return to
	}
	for i := range w.Players {
		if int(count) == MaxPlayers {
			break
		}
		more := w.Players[i].append(out)
		if len(more)-start > most {
			break
		}
		out = more
		count++
	}
	out[start+whoHead-1] = count
	return out
}

// ParseWho reads the body of an answer.
func ParseWho(body []byte) (w Who, ok bool) {
	b := bits.CursorOver(body)
	count := byte(0)
	w.head(&b, &count)
	if !b.OK() || len(b.Data()) < int(count)*leastPlayer {
		return w, false
	}
	w.Players = make([]Player, count)
	for i := range w.Players {
		w.Players[i].fields(&b)
	}
	return w, b.Done()
}

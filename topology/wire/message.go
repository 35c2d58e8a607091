package wire

import (
	"encoding/binary"
	"errors"
	"net/netip"
	"unicode"
	"unicode/utf8"

	"github.com/coeval-dev/coeval/world"
)

// A message is one of the control messages that both ends exchange on an ordered, reliable channel. There are few and they are rare, so one struct serves
// all kinds; each uses some of the fields, as fields says.
type Message struct {
	Kind     Kind
	Version  uint64       // hello: hash of what both must agree on
	Player   world.Player // welcome, chat: who
	Client   uint64       // welcome: the number by which the server knows the player
	On       bool         // hello and side: as a spectator; pause; ready: the start is known
	Interval byte         // welcome: ticks between two snapshots
	Epoch    uint32       // level, need, again, ready: which world
	Seed     uint64       // level
	Size     uint32       // level: bytes of its data
	Data     [32]byte     // level: hash of its data
	Start    uint64       // level: hash of the world it starts with
	Tick     world.Tick   // level: where the world is
	Name     string       // hello, name, welcome, chat, level
	Text     string       // chat, notice, pause, move
	Places   []Place      // places; move: where to
}

type Kind byte

// From client to server, and then from server to client; chat, pause and name go both ways.
const (
	Hello   Kind = iota + 1 // the first: who I am, what I have
	Need                    // I have no data for this level
	Ready                   // I have the level, show me the world
	Again                   // what comes makes no sense to me, begin anew
	Side                    // let me play, or only watch
	Welcome                 // you have a seat
	Level                   // the world that is played now
	Notice                  // a word from whoever runs the server
	Chat
	Pause
	Name
	Move   // go on at another server
	Places // the other servers of the same game
	kinds
)

// Bounds of what messages hold.
const (
	MaxControl = 2 << 10
	MaxName    = 32
	MaxText    = 512
	MaxLabel   = 128 // name of a level
	MaxPlaces  = 16  // servers of one game
)

// errMessage is all that a decoder says about a message that makes no sense.
var errMessage = errors.New("wire: malformed control message")

// append writes a message.
func (m *Message) Append(b []byte) []byte {
	w := cursor{b: append(b, byte(m.Kind))}
	m.fields(&w)
	return w.b
}

// parse reads a message. What it accepts, append writes again to the same bytes.
func (m *Message) Parse(b []byte) error {
	if len(b) == 0 || len(b) > MaxControl {
		return errMessage
	}
	*m = Message{Kind: Kind(b[0])}
	w := cursor{b: b[1:], reading: true}
	m.fields(&w)
	if w.bad || len(w.b) > 0 || m.Kind == 0 || m.Kind >= kinds {
		return errMessage
	}
	return nil
}

// fields reads or writes what the kind has, so that the two cannot differ.
func (m *Message) fields(w *cursor) {
	switch m.Kind {
	case Hello:
		w.u64(&m.Version)
		w.flag(&m.On)
		w.str(&m.Name, MaxName)
	case Need, Again:
		w.u32(&m.Epoch)
	case Ready:
		w.u32(&m.Epoch)
		w.flag(&m.On)
	case Side:
		w.flag(&m.On)
	case Welcome:
		w.player(&m.Player)
		w.u64(&m.Client)
		w.u8(&m.Interval)
		w.flag(&m.On)
		w.str(&m.Name, MaxName)
	case Level:
		w.u32(&m.Epoch)
		w.u64(&m.Seed)
		w.u64(&m.Start)
		w.u64((*uint64)(&m.Tick))
		w.u32(&m.Size)
		w.raw(m.Data[:])
		w.str(&m.Name, MaxLabel)
	case Notice:
		w.str(&m.Text, MaxText)
	case Chat:
		w.player(&m.Player)
		w.str(&m.Name, MaxName)
		w.str(&m.Text, MaxText)
	case Pause:
		w.flag(&m.On)
		w.str(&m.Text, MaxText)
	case Name:
		w.str(&m.Name, MaxName)
	case Move:
		w.flag(&m.On)
		w.places(&m.Places, 1)
		w.str(&m.Text, MaxText)
	case Places:
		w.places(&m.Places, MaxPlaces)
	}
}

// wire is a cursor that reads or writes. After the first thing that is wrong it reads nothing more.
type cursor struct {
	b       []byte
	reading bool
	bad     bool
}

func (w *cursor) take(n int) []byte {
	if w.bad || len(w.b) < n {
		w.bad = true
		return nil
	}
	b := w.b[:n]
	w.b = w.b[n:]
	return b
}

func (w *cursor) u8(v *byte) {
	if !w.reading {
		w.b = append(w.b, *v)
	} else if b := w.take(1); b != nil {
		*v = b[0]
	}
}

func (w *cursor) u32(v *uint32) {
	if !w.reading {
		w.b = binary.BigEndian.AppendUint32(w.b, *v)
	} else if b := w.take(4); b != nil {
		*v = binary.BigEndian.Uint32(b)
	}
}

func (w *cursor) u64(v *uint64) {
	if !w.reading {
		w.b = binary.BigEndian.AppendUint64(w.b, *v)
	} else if b := w.take(8); b != nil {
		*v = binary.BigEndian.Uint64(b)
	}
}

func (w *cursor) player(p *world.Player) { w.u16((*uint16)(p)) }

func (w *cursor) flag(v *bool) {
	var b byte
	if *v {
		b = 1
	}
	w.u8(&b)
	if b > 1 {
		w.bad = true
	}
	*v = b == 1
}

func (w *cursor) raw(v []byte) {
	if !w.reading {
		w.b = append(w.b, v...)
	} else if b := w.take(len(v)); b != nil {
		copy(v, b)
	}
}

// str is a text of at most so many bytes that a screen can show.
func (w *cursor) str(v *string, most int) {
	if !w.reading {
		s := Clip(*v, most)
		w.b = binary.BigEndian.AppendUint16(w.b, uint16(len(s)))
		w.b = append(w.b, s...)
		return
	}
	b := w.take(2)
	if b == nil {
		return
	}
	n := int(binary.BigEndian.Uint16(b))
	if n > most {
		w.bad = true
		return
	}
	if s := w.take(n); s != nil {
		if !Showable(s) {
			w.bad = true
			return
		}
		*v = string(s)
	}
}

// places is a list of servers.
func (w *cursor) places(v *[]Place, most int) {
	n := byte(min(len(*v), most))
	if w.u8(&n); int(n) > most {
		w.bad = true
	}
	if w.reading && !w.bad && n > 0 {
		*v = make([]Place, n)
	}
	for i := 0; i < int(n) && !w.bad; i++ {
		p := &(*v)[i]
		w.addr(&p.Addr)
		w.u8(&p.Load)
		w.str(&p.Name, MaxName)
	}
}

// addr is an address and a port. Each address has one form.
func (w *cursor) addr(v *netip.AddrPort) {
	a, family, port := v.Addr().Unmap().WithZone(""), byte(6), v.Port()
	if a.Is4() {
		family = 4
	}
	w.u8(&family)
	var b [16]byte
	size := 16
	switch {
	case family == 4:
		size = 4
		if !w.reading {
			*(*[4]byte)(b[:]) = a.As4()
		}
	case family != 6:
		w.bad = true
		return
	case !w.reading:
		b = a.As16()
	}
	w.raw(b[:size])
	w.u16(&port)
	if w.reading {
		a, _ = netip.AddrFromSlice(b[:size])
		*v = netip.AddrPortFrom(a, port)
		w.bad = w.bad || a.Is4In6() || port == 0
	}
}

func (w *cursor) u16(v *uint16) {
	if !w.reading {
		w.b = binary.BigEndian.AppendUint16(w.b, *v)
	} else if b := w.take(2); b != nil {
		*v = binary.BigEndian.Uint16(b)
	}
}

// showable says whether a text is UTF-8 without anything that moves the cursor or hides what follows.
func Showable(b []byte) bool {
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		if r == utf8.RuneError && n <= 1 || !unicode.IsPrint(r) {
			return false
		}
		b = b[n:]
	}
	return true
}

// clip makes any text one that can be sent: what cannot be shown becomes a space, and what is too long is cut between two characters.
func Clip(s string, most int) string {
	if len(s) <= most && Showable([]byte(s)) {
		return s
	}
	out := make([]byte, 0, min(len(s), most))
	for _, r := range s {
		if !unicode.IsPrint(r) || r == utf8.RuneError {
			r = ' '
		}
		if len(out)+utf8.RuneLen(r) > most {
			break
		}
		out = utf8.AppendRune(out, r)
	}
	return string(out)
}

package clientserver

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
type message struct {
	kind     messageKind
	version  uint64       // hello: hash of what both must agree on
	player   world.Player // welcome, chat: who
	client   uint64       // welcome: the number by which the server knows the player
	on       bool         // hello and side: as a spectator; pause; ready: the start is known
	interval byte         // welcome: ticks between two snapshots
	epoch    uint32       // level, need, again, ready: which world
	seed     uint64       // level
	size     uint32       // level: bytes of its data
	data     [32]byte     // level: hash of its data
	start    uint64       // level: hash of the world it starts with
	tick     world.Tick   // level: where the world is
	name     string       // hello, name, welcome, chat, level
	text     string       // chat, notice, pause, move
	places   []Place      // places; move: where to
}

type messageKind byte

// From client to server, and then from server to client; chat, pause and name go both ways.
const (
	msgHello   messageKind = iota + 1 // the first: who I am, what I have
	msgNeed                           // I have no data for this level
	msgReady                          // I have the level, show me the world
	msgAgain                          // what comes makes no sense to me, begin anew
	msgSide                           // let me play, or only watch
	msgWelcome                        // you have a seat
	msgLevel                          // the world that is played now
	msgNotice                         // a word from whoever runs the server
	msgChat
	msgPause
	msgName
	msgMove   // go on at another server
	msgPlaces // the other servers of the same game
	msgKinds
)

// Bounds of what messages hold.
const (
	maxControl = 2 << 10
	maxName    = 32
	maxText    = 512
	maxLabel   = 128 // name of a level
	maxPlaces  = 16  // servers of one game
)

// errMessage is all that a decoder says about a message that makes no sense.
var errMessage = errors.New("clientserver: malformed control message")

// append writes a message.
func (m *message) append(b []byte) []byte {
	w := wire{b: append(b, byte(m.kind))}
	m.fields(&w)
	return w.b
}

// parse reads a message. What it accepts, append writes again to the same bytes.
func (m *message) parse(b []byte) error {
	if len(b) == 0 || len(b) > maxControl {
		return errMessage
	}
	*m = message{kind: messageKind(b[0])}
	w := wire{b: b[1:], reading: true}
	m.fields(&w)
	if w.bad || len(w.b) > 0 || m.kind == 0 || m.kind >= msgKinds {
		return errMessage
	}
	return nil
}

// fields reads or writes what the kind has, so that the two cannot differ.
func (m *message) fields(w *wire) {
	switch m.kind {
	case msgHello:
		w.u64(&m.version)
		w.flag(&m.on)
		w.str(&m.name, maxName)
	case msgNeed, msgAgain:
		w.u32(&m.epoch)
	case msgReady:
		w.u32(&m.epoch)
		w.flag(&m.on)
	case msgSide:
		w.flag(&m.on)
	case msgWelcome:
		w.player(&m.player)
		w.u64(&m.client)
		w.u8(&m.interval)
		w.flag(&m.on)
		w.str(&m.name, maxName)
	case msgLevel:
		w.u32(&m.epoch)
		w.u64(&m.seed)
		w.u64(&m.start)
		w.u64((*uint64)(&m.tick))
		w.u32(&m.size)
		w.raw(m.data[:])
		w.str(&m.name, maxLabel)
	case msgNotice:
		w.str(&m.text, maxText)
	case msgChat:
		w.player(&m.player)
		w.str(&m.name, maxName)
		w.str(&m.text, maxText)
	case msgPause:
		w.flag(&m.on)
		w.str(&m.text, maxText)
	case msgName:
		w.str(&m.name, maxName)
	case msgMove:
		w.flag(&m.on)
		w.places(&m.places, 1)
		w.str(&m.text, maxText)
	case msgPlaces:
		w.places(&m.places, maxPlaces)
	}
}

// wire is a cursor that reads or writes. After the first thing that is wrong it reads nothing more.
type wire struct {
	b       []byte
	reading bool
	bad     bool
}

func (w *wire) take(n int) []byte {
	if w.bad || len(w.b) < n {
		w.bad = true
		return nil
	}
	b := w.b[:n]
	w.b = w.b[n:]
	return b
}

func (w *wire) u8(v *byte) {
	if !w.reading {
		w.b = append(w.b, *v)
	} else if b := w.take(1); b != nil {
		*v = b[0]
	}
}

func (w *wire) u32(v *uint32) {
	if !w.reading {
		w.b = binary.BigEndian.AppendUint32(w.b, *v)
	} else if b := w.take(4); b != nil {
		*v = binary.BigEndian.Uint32(b)
	}
}

func (w *wire) u64(v *uint64) {
	if !w.reading {
		w.b = binary.BigEndian.AppendUint64(w.b, *v)
	} else if b := w.take(8); b != nil {
		*v = binary.BigEndian.Uint64(b)
	}
}

func (w *wire) player(p *world.Player) { w.u16((*uint16)(p)) }

func (w *wire) flag(v *bool) {
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

func (w *wire) raw(v []byte) {
	if !w.reading {
		w.b = append(w.b, v...)
	} else if b := w.take(len(v)); b != nil {
		copy(v, b)
	}
}

// str is a text of at most so many bytes that a screen can show.
func (w *wire) str(v *string, most int) {
	if !w.reading {
		s := clip(*v, most)
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
		if !showable(s) {
			w.bad = true
			return
		}
		*v = string(s)
	}
}

// places is a list of servers.
func (w *wire) places(v *[]Place, most int) {
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
		w.str(&p.Name, maxName)
	}
}

// addr is an address and a port. Each address has one form.
func (w *wire) addr(v *netip.AddrPort) {
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

func (w *wire) u16(v *uint16) {
	if !w.reading {
		w.b = binary.BigEndian.AppendUint16(w.b, *v)
	} else if b := w.take(2); b != nil {
		*v = binary.BigEndian.Uint16(b)
	}
}

// showable says whether a text is UTF-8 without anything that moves the cursor or hides what follows.
func showable(b []byte) bool {
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
func clip(s string, most int) string {
	if len(s) <= most && showable([]byte(s)) {
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

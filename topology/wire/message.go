package wire

import (
	"errors"
	"unicode"
	"unicode/utf8"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/world"
)

// A message is one of the control messages that both ends exchange on an ordered, reliable channel.
// There are few and they are rare, so one struct serves all kinds; each uses some of the fields, as
// fields says.
type Message struct {
	Kind     Kind
	Version  uint64       // hello: hash of what both must agree on
	Player   world.Player // welcome, chat: who
	Client   uint64       // welcome: the number by which the server knows the player
	On       bool         // hello, side: to watch; pause; ready: the start is known; roster: anew
	Interval byte         // welcome: ticks between two snapshots
	Epoch    uint32       // level, need, again, ready: which world
	Seed     uint64       // level
	Size     uint32       // level: bytes of its data
	Data     [32]byte     // level: hash of its data
	Start    uint64       // level: hash of the world it starts with
	Tick     world.Tick   // level: where the world is
	Name     string       // hello, name, welcome, chat, level
	Text     string       // chat, notice, pause, move; taken: why it was not
	Servers  []Server     // servers; move: where to
	Names    []Named      // roster
	Journey  Journey      // hello: why the player comes
	// Prediction is, in predicts, how that does.
	Prediction Prediction
	// Tag is, in taken, what was sent.
	Tag uint32
	// Number is, in tables and holds, that of a set of tables, and Answer what the client makes of
	// it. Size and Data say how long the set is, and its hash.
	Number byte
	Answer Answer
	// To is, in chat, for whom alone a line is; empty for everyone.
	To []world.Player
}

// A Named is what a player is called, or has no name any more.
type Named struct {
	Player world.Player
	Name   string
}

type Kind byte

// An Answer is what a client says of tables that a server has learned.
type Answer byte

// What a client can answer.
const (
	No    Answer = iota // do not send it, and nothing else that was learned either
	Send                // I do not have it
	Holds               // I have all of it: use it
	answers
)

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
	Move     // go on at another server
	Servers  // the other servers of the same game
	Roster   // what players are called
	Predicts // how the client's prediction does
	Taken    // what became of data that the client has sent in one piece
	Tables   // the server has learned tables
	Answers  // from the client: what it makes of them
	kinds
)

// Bounds of what messages hold.
const (
	MaxControl = 2 << 10
	MaxName    = 32
	MaxText    = 512
	MaxLabel   = 128 // name of a level
	MaxServers = 16  // servers of one game
	MaxRoster  = 48  // players of one roster message
	MaxTo      = 8   // players for whom alone a line is
)

// errMessage is all that a decoder says about a message that makes no sense.
var errMessage = errors.New("wire: malformed control message")

// append writes a message.
func (m *Message) Append(b []byte) []byte {
	w := cursor{bits.CursorTo(append(b, byte(m.Kind)))}
	m.fields(&w)
	return w.Data()
}

// parse reads a message. What it accepts, append writes again to the same bytes.
func (m *Message) Parse(b []byte) error {
	if len(b) == 0 || len(b) > MaxControl {
		return errMessage
	}
	*m = Message{Kind: Kind(b[0])}
	w := cursor{bits.CursorOver(b[1:])}
	m.fields(&w)
	if !w.Done() || m.Kind == 0 || m.Kind >= kinds {
		return errMessage
	}
	return nil
}

// fields reads or writes what the kind has, so that the two cannot differ.
func (m *Message) fields(w *cursor) {
	switch m.Kind {
	case Hello:
		w.U64(&m.Version)
		w.Bool(&m.On)
		w.journey(&m.Journey)
		w.str(&m.Name, MaxName)
	case Need, Again:
		w.U32(&m.Epoch)
	case Ready:
		w.U32(&m.Epoch)
		w.Bool(&m.On)
	case Side:
		w.Bool(&m.On)
	case Welcome:
		w.player(&m.Player)
		w.U64(&m.Client)
		w.U8(&m.Interval)
		w.Bool(&m.On)
		w.str(&m.Name, MaxName)
	case Level:
		w.U32(&m.Epoch)
		w.U64(&m.Seed)
		w.U64(&m.Start)
		w.U64((*uint64)(&m.Tick))
		w.U32(&m.Size)
		w.Raw(m.Data[:])
		w.str(&m.Name, MaxLabel)
	case Notice:
		w.str(&m.Text, MaxText)
	case Chat:
		w.player(&m.Player)
		w.listeners(&m.To)
		w.str(&m.Name, MaxName)
		w.str(&m.Text, MaxText)
	case Pause:
		w.Bool(&m.On)
		w.str(&m.Text, MaxText)
	case Name:
		w.str(&m.Name, MaxName)
	case Move:
		w.Bool(&m.On)
		w.servers(&m.Servers, 1)
		w.str(&m.Text, MaxText)
	case Predicts:
		w.prediction(&m.Prediction)
	case Taken:
		w.U32(&m.Tag)
		w.str(&m.Text, MaxText)
	case Servers:
		w.servers(&m.Servers, MaxServers)
	case Tables:
		w.U8(&m.Number)
		w.U32(&m.Size)
		w.Raw(m.Data[:])
	case Answers:
		w.U8(&m.Number)
		w.Raw(m.Data[:])
		w.U8((*byte)(&m.Answer))
		w.Check(m.Answer < answers)
	case Roster:
		w.Bool(&m.On)
		w.names(&m.Names)
	}
}

// A cursor knows, besides plain fields, those that only these messages have.
type cursor struct{ bits.Cursor }

func (w *cursor) player(p *world.Player) { w.U16((*uint16)(p)) }

// str is a text of at most so many bytes that a screen can show.
func (w *cursor) str(v *string, most int) {
	s := *v
	if !w.Reading() {
		s = Clip(s, most)
	}
	w.Text16(&s, most)
	if w.Check(Showable([]byte(s))); w.Reading() && w.OK() {
		*v = s
	}
}

// servers is a list of them.
func (w *cursor) servers(v *[]Server, most int) {
	n := byte(min(len(*v), most))
	w.U8(&n)
	w.Check(int(n) <= most)
	if w.Reading() && w.OK() && n > 0 {
		*v = make([]Server, n)
	}
	for i := 0; i < int(n) && w.OK(); i++ {
		p := &(*v)[i]
		w.Addr(&p.Addr)
		w.Check(!w.Reading() || p.Addr.Port() != 0)
		w.U8(&p.Load)
		w.str(&p.Name, MaxName)
	}
}

// listeners is for whom a line is.
func (w *cursor) listeners(v *[]world.Player) {
	n := byte(min(len(*v), MaxTo))
	w.U8(&n)
	w.Check(n <= MaxTo)
	if w.Reading() && w.OK() && n > 0 {
		*v = make([]world.Player, n)
	}
	for i := 0; i < int(n) && w.OK(); i++ {
		w.player(&(*v)[i])
		w.Check((*v)[i] != world.Nobody)
	}
}

// names is a list of players, in whatever order.
func (w *cursor) names(v *[]Named) {
	n := byte(min(len(*v), MaxRoster))
	w.U8(&n)
	w.Check(n <= MaxRoster)
	if w.Reading() && w.OK() && n > 0 {
		*v = make([]Named, n)
	}
	for i := 0; i < int(n) && w.OK(); i++ {
		w.player(&(*v)[i].Player)
		w.str(&(*v)[i].Name, MaxName)
	}
}

// showable says whether a text is UTF-8 without anything that moves the cursor or hides what
// follows.
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

// clip makes any text one that can be sent: what cannot be shown becomes a space, and what is too
// long is cut between two characters.
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

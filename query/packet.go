package query

import (
	"strconv"
	"time"

	"github.com/coeval-dev/coeval/bits"
)

// First bytes, which tell these datagrams from those of connections, groups and directories.
const (
	KindQuery  = 0x70
	KindAnswer = 0x71
)

// Sizes.
const (
	version = 1
	// Least and Most are how long a query may be, with its padding. No answer is longer than its
	// query.
	Least = 32
	Most  = 1200
	// answerHead is what each answer begins with, and all there is of one to a ping.
	answerHead = 32
	// MaxBody is what an answer may hold.
	MaxBody = Most - answerHead

	// MaxMessage is how long a message may be, and MaxOwn the name of a game's own query.
	MaxMessage = 200
	MaxOwn     = 32
	// maxHeld is the longest that a server may say it held a query; see Answer.Held.
	maxHeld = 20 * time.Millisecond
)

// A Kind is what is asked.
type Kind uint8

// Kinds of queries.
const (
	Ping    Kind = 1 + iota // how long is the way?
	AskInfo                 // what is this? An Info
	AskWho                  // who plays? A Who
	Message                 // a text for whoever runs the server
	Own                     // what the game answers under a name
	kinds
)

var kindNames = [kinds]string{Ping: "ping", AskInfo: "info", AskWho: "who", Message: "message",
	Own: "own"}

func (k Kind) String() string {
	if k > 0 && k < kinds {
		return kindNames[k]
	}
	return "query " + strconv.Itoa(int(k))
}

// ParseKind finds a kind by its name.
func ParseKind(name string) (Kind, bool) {
	for k := Ping; k < kinds; k++ {
		if kindNames[k] == name {
			return k, true
		}
	}
	return 0, false
}

// A Cookie proves that whoever sends it receives what is sent to its address. Servers give one with
// each answer; a query may bring it back. Zero is none.
type Cookie [cookieSize]byte

// A Query is a question.
type Query struct {
	Kind Kind
	// Nonce is drawn at random, and comes back with the answer.
	Nonce uint64
	// Cookie is that of an earlier answer, or zero. Those who have one are answered before others
	// when there is a flood, and only they may leave a message.
	Cookie Cookie
	// First is how many players to pass over, of AskWho.
	First uint16
	// Text is the message, or the name of a game's own query. After Parse it points into the
	// datagram.
	Text []byte
}

func (q *Query) fields(b *bits.Cursor) {
	kind, v := byte(KindQuery), byte(version)
	b.U8(&kind)
	b.U8(&v)
	b.Check(kind == KindQuery && v == version)
	b.U8((*byte)(&q.Kind))
	b.Check(q.Kind > 0 && q.Kind < kinds)
	b.U64(&q.Nonce)
	b.Raw(q.Cookie[:])
	switch q.Kind {
	case AskWho:
		b.U16(&q.First)
	case Message:
		q.text(b, MaxMessage)
	case Own:
		q.text(b, MaxOwn)
	}
}

func (q *Query) text(b *bits.Cursor, most int) {
	n := byte(min(len(q.Text), 255))
	b.U8(&n)
	if b.Check(n > 0 && int(n) <= most); b.OK() {
		b.Bytes(&q.Text, int(n))
		b.Check(clean(q.Text))
	}
}

// Append writes a query that is padded to a length, which is how long its answer may be; one below
// what the query needs is raised to that. It writes nothing if the query's text is none, too long,
// or not text.
func (q Query) Append(to []byte, length int) []byte {
	b := bits.CursorTo(to)
	if q.fields(&b); !b.OK() {
		return to
	}
	out := b.Data()
	for n := len(out) - len(to); n < max(min(length, Most), Least); n++ {
		out = append(out, 0)
	}
	return out
}

// ParseQuery reads a query. It allocates nothing: the query's text is part of data.
func ParseQuery(data []byte) (q Query, ok bool) {
	if len(data) < Least || len(data) > Most || data[0] != KindQuery {
		return q, false
	}
	b := bits.CursorOver(data)
	q.fields(&b)
	return q, b.OK() && zeros(b.Data())
}

// A Status says what became of a query.
type Status uint8

// Statuses of an answer.
const (
	OK      Status = iota
	Off            // the operator has turned this kind off
	Unknown        // the game has no query of that name
	Prove          // it is done for proven addresses alone: ask again with the cookie
	Busy           // too many came: ask again later
	Short          // the answer is longer than the query: pad it to Most
	statuses
)

var statusNames = [statuses]string{"ok", "off", "unknown", "prove", "busy", "short"}

func (s Status) String() string {
	if s < statuses {
		return statusNames[s]
	}
	return "status " + strconv.Itoa(int(s))
}

// An Answer is what comes back for a query.
type Answer struct {
	Kind   Kind
	Status Status
	Nonce  uint64
	Cookie Cookie
	// Held is how long the query lay at the server before it was looked at, so that it is not taken
	// for a part of the way. A server that does not know says zero, and no more than 20 ms is
	// believed.
	Held time.Duration
	// Body is what was asked for: see ParseInfo and ParseWho. After Parse it points into the
	// datagram.
	Body []byte
}

func (a *Answer) fields(b *bits.Cursor) {
	kind, v := byte(KindAnswer), byte(version)
	b.U8(&kind)
	b.U8(&v)
	b.Check(kind == KindAnswer && v == version)
	b.U8((*byte)(&a.Kind))
	b.U8((*byte)(&a.Status))
	b.Check(a.Kind > 0 && a.Kind < kinds && a.Status < statuses)
	b.U64(&a.Nonce)
	b.Raw(a.Cookie[:])
	held := uint32(max(0, min(a.Held, maxHeld)) / time.Microsecond)
	b.U32(&held)
	b.Check(held <= uint32(maxHeld/time.Microsecond))
	if b.Reading() {
		a.Held = time.Duration(held) * time.Microsecond
	}
	b.Rest(&a.Body)
	b.Check(len(a.Body) <= MaxBody)
}

// Append writes an answer to a query of a length. One that would be longer than its query is told
// to be too short instead; nothing is written if not even that fits.
func (a Answer) Append(to []byte, length int) []byte {
	if length < Least || length > Most {
		return to
	}
	if answerHead+len(a.Body) > length {
		a.Status, a.Body = Short, nil
	}
	b := bits.CursorTo(to)
	if a.fields(&b); !b.OK() {
		return to
	}
	return b.Data()
}

// ParseAnswer reads an answer. It allocates nothing: the body is part of data.
func ParseAnswer(data []byte) (a Answer, ok bool) {
	if len(data) < answerHead || len(data) > Most || data[0] != KindAnswer {
		return a, false
	}
	b := bits.CursorOver(data)
	a.fields(&b)
	return a, b.OK()
}

func zeros(data []byte) bool {
	for _, x := range data {
		if x != 0 {
			return false
		}
	}
	return true
}

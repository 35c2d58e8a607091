package relay

import (
	"fmt"
	"net/netip"
	"time"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/conn"
	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/member"
)

// The channels of a connection with a relay.
const (
	turnChannel    = 0 // items to the relay, rows from it
	carryChannel   = 1 // datagrams between members
	controlChannel = 2 // messages of this file
)

// Version is what two ends of this package must have in common.
const Version = 2

// Protocol is what tokens of a relay name in place of a game.
var Protocol = token.ProtocolID("coeval relay")

// Channels lists the channels of a connection with a relay.
func Channels() []conn.Channel {
	return []conn.Channel{
		turnChannel:    {Mode: conn.Unreliable, Priority: 2},
		carryChannel:   {Mode: conn.Unreliable},
		controlChannel: {Mode: conn.Ordered, Priority: 1, MaxMessage: maxControl},
	}
}

// Bounds of what messages hold, in bytes.
const (
	MaxGame   = 256
	MaxParams = 1024
	MaxName   = 32
	MaxKey    = 96
	MaxLocals = 4
	MaxWord   = 256
	MaxVote   = 1024 // a message for the witness
	maxText   = 512

	maxControl = 4 << 10
	secretSize = 16
)

// Messages on the control channel; the first byte tells which.
const (
	// From members.
	messageCreate = 1
	messageJoin   = 2
	messageReady  = 3
	messageLeave  = 4
	messageSay    = 5 // a word to all
	messageLocals = 6
	messageVote   = 7 // for the witness
	messageLook   = 8

	// From the relay.
	messageRefused = 65
	messageWelcome = 66
	messagePeer    = 67
	messageGone    = 68
	messageWord    = 69
	messageVoted   = 70 // from the witness
	messageFound   = 71
)

// Mode says what a relay does for a match. Its creator chooses, and who joins must want the same;
// Client.Look tells which it is.
type Mode uint8

const (
	// Rows: it gathers items into rows.
	Rows Mode = iota
	// Mesh: it only lets members meet, and carries datagrams for those who do not reach each other.
	Mesh
)

func (m Mode) String() string {
	if m == Mesh {
		return "mesh"
	}
	return "rows"
}

// A Match is what its creator says of it.
type Match struct {
	// Game says which game and version it is. Whoever joins must say the same, to the byte; both
	// texts are told to whoever is refused for it. At most MaxGame bytes.
	Game string
	// Params are whatever else the members must agree on, at most MaxParams bytes. Relays do not
	// look at them.
	Params []byte
	Mode   Mode
	// Seats are how many may play, 1 to MaxSeats; Start is how many must be ready before the first
	// row. Zero means 1.
	Seats, Start uint8
	// Rate is rows a second, SendRate packets a second to each member. Zeros mean 60 and Rate.
	Rate, SendRate uint8
	// Patience is how long beyond its time a row waits for someone's item. Zero means 100 ms, less
	// than zero not at all.
	Patience time.Duration
	// Grace is for how long the seat of someone who is gone is kept. Zero means a minute.
	Grace time.Duration
}

// fill puts in defaults and checks.
func (m *Match) fill() error {
	if m.Seats == 0 {
		m.Seats = 2
	}
	if m.Start == 0 {
		m.Start = 1
	}
	if m.Rate == 0 {
		m.Rate = 60
	}
	if m.SendRate == 0 {
		m.SendRate = m.Rate
	}
	if m.Patience == 0 {
		m.Patience = 100 * time.Millisecond
	}
	m.Patience = max(m.Patience, 0)
	if m.Grace == 0 {
		m.Grace = time.Minute
	}
	m.Grace = max(m.Grace, 0)
	return m.check()
}

func (m *Match) check() error {
	switch {
	case m.Game == "" || len(m.Game) > MaxGame:
		return fmt.Errorf("relay: a game of %d bytes, want 1 to %d", len(m.Game), MaxGame)
	case len(m.Params) > MaxParams:
		return fmt.Errorf("relay: parameters of %d bytes, at most %d", len(m.Params), MaxParams)
	case m.Mode > Mesh:
		return fmt.Errorf("relay: no such mode as %d", m.Mode)
	case m.Seats < 1 || m.Seats > MaxSeats:
		return fmt.Errorf("relay: %d seats, want 1 to %d", m.Seats, MaxSeats)
	case m.Start < 1 || m.Start > m.Seats:
		return fmt.Errorf("relay: %d to start with, of %d seats", m.Start, m.Seats)
	case m.Rate < 1 || m.Rate > MaxRate:
		return fmt.Errorf("relay: %d rows a second, want 1 to %d", m.Rate, MaxRate)
	case m.SendRate < 1 || m.SendRate > m.Rate:
		return fmt.Errorf("relay: %d packets a second, want 1 to %d", m.SendRate, m.Rate)
	case m.Patience < 0 || m.Patience > maxPatience || m.Patience%time.Millisecond != 0:
		return fmt.Errorf("relay: a patience of %v, want whole milliseconds up to %v", m.Patience,
			maxPatience)
	case m.Grace < 0 || m.Grace > maxGrace || m.Grace%time.Second != 0:
		return fmt.Errorf("relay: a grace of %v, want whole seconds up to %v", m.Grace, maxGrace)
	}
	return nil
}

// Bounds of what a match may ask for.
const (
	MaxRate     = 240
	maxPatience = 10 * time.Second
	maxGrace    = time.Hour
	// MaxDelay is how far behind a spectator may follow.
	MaxDelay = time.Minute
)

func (m *Match) fields(c *bits.Cursor) {
	patience, grace := uint16(m.Patience/time.Millisecond), uint16(m.Grace/time.Second)
	c.Text16(&m.Game, MaxGame)
	bytes16(c, &m.Params, MaxParams)
	c.U8((*uint8)(&m.Mode))
	c.U8(&m.Seats)
	c.U8(&m.Start)
	c.U8(&m.Rate)
	c.U8(&m.SendRate)
	c.U16(&patience)
	c.U16(&grace)
	if c.Reading() && c.OK() {
		m.Patience = time.Duration(patience) * time.Millisecond
		m.Grace = time.Duration(grace) * time.Second
		c.Check(m.check() == nil)
	}
}

// Entry is what a member says of itself.
type Entry struct {
	Name   string           // at most MaxName bytes
	Key    []byte           // a public key, at most MaxKey bytes; relays do not look at it
	Locals []netip.AddrPort // where it can be reached in its own network, at most MaxLocals
	// Watch: it wants no seat. It follows the rows with Delay.
	Watch bool
	Delay time.Duration
	// From, if Again is set, is the row from which on it wants rows; otherwise it gets those from
	// the present on, less Delay. Rows that are too old are left out: Welcome tells which is the
	// first.
	From  uint32
	Again bool
}

func (e *Entry) fields(c *bits.Cursor) {
	delay := uint16(e.Delay / (100 * time.Millisecond))
	c.Text8(&e.Name, MaxName)
	bytes8(c, &e.Key, MaxKey)
	locals(c, &e.Locals)
	c.Bool(&e.Watch)
	c.U16(&delay)
	c.Bool(&e.Again)
	c.U32(&e.From)
	if c.Reading() {
		e.Delay = time.Duration(delay) * 100 * time.Millisecond
		c.Check(e.Delay <= MaxDelay)
	}
}

func locals(c *bits.Cursor, list *[]netip.AddrPort) {
	for a := range bits.List8(c, list, MaxLocals) {
		c.Addr(a)
	}
}

func bytes8(c *bits.Cursor, b *[]byte, most int) {
	n := uint8(len(*b))
	c.U8(&n)
	c.Check(int(n) <= most)
	if c.OK() {
		c.Bytes(b, int(n))
	}
}

func bytes16(c *bits.Cursor, b *[]byte, most int) {
	n := uint16(len(*b))
	c.U16(&n)
	c.Check(int(n) <= most)
	if c.OK() {
		c.Bytes(b, int(n))
	}
}

// create asks for a match.
type create struct {
	Match
	Entry
}

func (m *create) fields(c *bits.Cursor) {
	m.Match.fields(c)
	m.Entry.fields(c)
}

// join asks to be let into a match, or back into it.
type join struct {
	code   Code
	secret [secretSize]byte // by which a player returns; zero for one that is new
	mode   Mode
	game   string
	Entry
}

func (m *join) fields(c *bits.Cursor) {
	c.Raw(m.code[:])
	c.Raw(m.secret[:])
	c.U8((*uint8)(&m.mode))
	c.Text16(&m.game, MaxGame)
	m.Entry.fields(c)
	c.Check(m.code.good() && m.mode <= Mesh)
}

// look asks what the match of a code is, without being let in.
type look struct {
	code Code
	game string
}

func (m *look) fields(c *bits.Cursor) {
	c.Raw(m.code[:])
	c.Text16(&m.game, MaxGame)
	c.Check(m.code.good())
}

// found says what the match of a code is.
type found struct{ mode Mode }

func (m *found) fields(c *bits.Cursor) {
	c.U8((*uint8)(&m.mode))
	c.Check(m.mode <= Mesh)
}

// refused says why someone was not let in.
type refused struct {
	why    Refusal
	text   string
	theirs string // the game of the match, where that is why
}

func (m *refused) fields(c *bits.Cursor) {
	c.U8((*uint8)(&m.why))
	c.Text16(&m.text, maxText)
	c.Text16(&m.theirs, MaxGame)
}

// welcome is what a new member is told.
type welcome struct {
	self   member.ID
	code   Code
	secret [secretSize]byte
	lasts  uint32 // seconds for which the code lets others in
	seat   uint8  // and one: of a player that returns; 0 for others
	Match
	first, next uint32 // the first row that it will get, and the next of the match
	running     bool
	witness     bool
	seats       []seatState // before the first row
}

// seatState is who has a seat.
type seatState struct {
	seat   uint8
	member member.ID
	absent bool
}

func (m *welcome) fields(c *bits.Cursor) {
	c.U16((*uint16)(&m.self))
	c.Raw(m.code[:])
	c.Raw(m.secret[:])
	c.U32(&m.lasts)
	c.U8(&m.seat)
	m.Match.fields(c)
	c.U32(&m.first)
	c.U32(&m.next)
	c.Bool(&m.running)
	c.Bool(&m.witness)
	for s := range bits.List8(c, &m.seats, MaxSeats) {
		c.U8(&s.seat)
		c.U16((*uint16)(&s.member))
		c.Bool(&s.absent)
		c.Check(s.seat < MaxSeats)
	}
	c.Check(m.self != 0 && m.code.good() && m.seat <= MaxSeats)
}

// A Peer is a member of a match, as the others are told.
type Peer struct {
	Member member.ID
	// Player is its number, from 1; 0 as long as it has no seat.
	Player uint8
	Watch  bool
	Name   string
	Key    []byte
	// Public is where the relay sees it, if that is an address that others could reach; Locals are
	// those that it told.
	Public netip.AddrPort
	Locals []netip.AddrPort
}

func (p *Peer) fields(c *bits.Cursor) {
	c.U16((*uint16)(&p.Member))
	c.U8(&p.Player)
	c.Bool(&p.Watch)
	c.Text8(&p.Name, MaxName)
	bytes8(c, &p.Key, MaxKey)
	c.AddrOrNone(&p.Public)
	locals(c, &p.Locals)
	c.Check(p.Member != 0 && p.Player <= MaxSeats)
}

// gone says that a member is no longer connected.
type gone struct {
	member member.ID
	left   bool // for good, by its own will; otherwise it may come back
}

func (m *gone) fields(c *bits.Cursor) {
	c.U16((*uint16)(&m.member))
	c.Bool(&m.left)
}

// word is what a member says to all others.
type word struct {
	from member.ID
	text []byte
}

func (m *word) fields(c *bits.Cursor) {
	c.U16((*uint16)(&m.from))
	c.Rest(&m.text)
	c.Check(len(m.text) <= MaxWord)
}

type fielder interface{ fields(*bits.Cursor) }

// write makes a message in b: the byte that tells which, then its fields.
func write(b []byte, kind byte, m fielder) []byte {
	c := bits.CursorTo(append(b[:0], kind))
	m.fields(&c)
	return c.Data()
}

// read reads the fields that follow the byte that tells which message it is.
func read(b []byte, m fielder) bool {
	c := bits.CursorOver(b[1:])
	m.fields(&c)
	return c.Done()
}

// A Refusal is why a member was not let in, or is no longer one.
type Refusal uint8

// Why relays refuse.
const (
	// RefusedUnknown: there is no match with this code, or it is over.
	RefusedUnknown Refusal = iota + 1
	// RefusedExpired: the code lets nobody new in any more.
	RefusedExpired
	// RefusedGame: the match is of another game or version.
	RefusedGame
	// RefusedFull: all seats are taken, or as many watch as may.
	RefusedFull
	// RefusedBusy: the relay has as many matches as it takes.
	RefusedBusy
	// RefusedCrowded: too many matches are from the same address.
	RefusedCrowded
	// RefusedGuessing: too many wrong codes came from the same address.
	RefusedGuessing
	// RefusedTwice: the connection is in a match already.
	RefusedTwice
	// RefusedMode: the match is of another mode than who joins plays in.
	RefusedMode
)

var refusalTexts = [...]string{"",
	"there is no match with this code, or it is over",
	"the code has expired; ask someone in the match for a new match",
	"the match is of another game or version",
	"the match is full",
	"the relay has as many matches as it takes; try again later",
	"too many matches from this address",
	"too many wrong codes from this address; wait a minute",
	"this connection is in a match already",
	"the match is of another mode",
}

// A RefusedError is a refusal as an error.
type RefusedError struct {
	Why  Refusal
	Text string
}

func (e *RefusedError) Error() string { return "relay: refused: " + e.Text }

func (r Refusal) String() string {
	if r > 0 && int(r) < len(refusalTexts) {
		return refusalTexts[r]
	}
	return fmt.Sprintf("refused for reason %d", uint8(r))
}

// Why a relay ends a connection, beyond what package conn knows.
const (
	// ReasonOffence: the member sent what no honest one does. The note says what.
	ReasonOffence conn.Reason = conn.ReasonGame + iota
	// ReasonBehind: the member has acknowledged so little that rows it lacks are gone.
	ReasonBehind
	// ReasonSilent: it connected and asked for nothing, or sent no items for as long as its seat
	// was kept.
	ReasonSilent
)

var reasonTexts = map[conn.Reason]string{
	ReasonOffence: "sent what the relay does not allow",
	ReasonBehind:  "fell too far behind",
	ReasonSilent:  "said nothing for too long",
}

// ReasonText says in words why a connection ended, with advice where there is some.
func ReasonText(r conn.Reason) string {
	if t, ok := reasonTexts[r]; ok {
		return t
	}
	t := r.String()
	if a := r.Advice(); a != "" {
		t += "; " + a
	}
	return t
}

// localsOnly is a member's addresses anew.
type localsOnly struct{ list []netip.AddrPort }

func (m *localsOnly) fields(c *bits.Cursor) { locals(c, &m.list) }

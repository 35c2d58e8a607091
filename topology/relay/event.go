package relay

import (
	"encoding/binary"
	"time"

	"github.com/coeval-dev/coeval/conn"
	"github.com/coeval-dev/coeval/member"
)

// EventKind says what an Event is about.
type EventKind uint8

const (
	// Welcomed: the client is a member of a match now; Welcome says of which.
	Welcomed EventKind = iota + 1
	// Refused: the relay does not let the client in; Why and Text say why not. It may ask again.
	Refused
	// Found: the match of the code that the client asked about is of Mode. It may ask again.
	Found
	// Met: Peer is a member, or what is known of it has changed.
	Met
	// Gone: Member is no longer connected. Whether it comes back is told by the rows.
	Gone
	// Said: Member said Data to all.
	Said
	// Carried: Data is a datagram that Member sent.
	Carried
	// Voted: Data is what the relay's witness says.
	Voted
	// TicketReceived: there is a new ticket to connect again with; see Client.Ticket.
	TicketReceived
	// Ended: the connection has ended; Reason and Text say why, or Err if it is for the relay's
	// fault.
	Ended
)

var eventNames = [...]string{
	"", "welcomed", "refused", "found", "met", "gone", "said", "carried", "voted",
	"ticket received", "ended"}

func (k EventKind) String() string {
	if int(k) < len(eventNames) {
		return eventNames[k]
	}
	return "unknown event"
}

// An Event is something that happened. Data is good until the next Receive; the rest can be kept.
type Event struct {
	Kind    EventKind
	Why     Refusal
	Mode    Mode // of Found
	Reason  conn.Reason
	Left    bool // of Gone: for good, by its own will
	Member  member.ID
	Welcome *Welcome
	Peer    *Peer
	Data    []byte
	Text    string
	Theirs  string // of Refused, where the game differs: that of the match
	Err     error
}

// Welcome is what a new member of a match is told.
type Welcome struct {
	Self member.ID
	// Player is the number of the seat that the member has; 0 if it watches.
	Player uint8
	Code   Code
	// Expires is for how long the code lets others in.
	Expires time.Duration
	// Secret proves that the player was in the match before, to come back to the same seat.
	Secret [SecretSize]byte
	// Match is as its creator asked for, within what the relay allows.
	Match Match
	// First is the first row that the member will get, and Next the match's next row.
	First, Next uint32
	Running     bool
	// Witness says that the match has a witness, whom Client.Vote speaks to.
	Witness bool
	// Seats are those that play or are absent, before the row First.
	Seats []Seat
}

// A Seat is one that somebody has.
type Seat struct {
	Seat   uint8
	Member member.ID
	Absent bool
}

// Events returns what has happened since it was called last. The slice is good until the next call.
func (c *Client) Events() []Event {
	clear(c.handed)
	c.handed, c.events = c.events, c.handed[:0]
	return c.handed
}

func (c *Client) event(e Event) { c.events = append(c.events, e) }

// message handles a message of the relay. The error says that it makes no sense.
func (c *Client) message(e *conn.Event) error {
	b := e.Data
	switch e.Channel {
	case turnChannel:
		if c.state == clientOutside && len(c.early) < mostEarly {
			c.early = append(c.early, append([]byte(nil), b...))
		}
		if c.state != clientInside {
			return nil
		}
		return c.takeRows(b)
	case carryChannel:
		if len(b) < carryHead {
			return errMalformed
		}
		c.event(Event{Kind: Carried, Member: member.ID(binary.BigEndian.Uint16(b)),
			Data: b[carryHead:]})
		return nil
	}
	if len(b) == 0 || !c.control(b) {
		return errMalformed
	}
	return nil
}

func (c *Client) control(b []byte) bool {
	if kind := b[0]; kind == messageRefused || kind == messageWelcome ||
		kind == messageFound {
		return c.state == clientOutside && c.answered(kind, b)
	}
	if c.state != clientInside {
		return false
	}
	switch b[0] {
	case messagePeer:
		p := &Peer{}
		if !read(b, p) {
			return false
		}
		p.Key = append([]byte(nil), p.Key...)
		c.event(Event{Kind: Met, Peer: p, Member: p.Member})
	case messageGone:
		var m gone
		if !read(b, &m) {
			return false
		}
		c.event(Event{Kind: Gone, Member: m.member, Left: m.left})
	case messageWord:
		var m word
		if !read(b, &m) {
			return false
		}
		c.event(Event{Kind: Said, Member: m.from, Data: m.text})
	case messageVoted:
		c.event(Event{Kind: Voted, Data: b[1:]})
	default:
		return false
	}
	return true
}

// answered handles the relay's answer to what was asked.
func (c *Client) answered(kind byte, b []byte) bool {
	c.ask = nil
	switch kind {
	case messageFound:
		var m found
		if !read(b, &m) {
			return false
		}
		c.event(Event{Kind: Found, Mode: m.mode})
		return true
	case messageRefused:
		var m refused
		if !read(b, &m) {
			return false
		}
		c.event(Event{Kind: Refused, Why: m.why, Text: m.text, Theirs: m.theirs})
		return true
	}
	var m welcome
	if !read(b, &m) || m.next-m.first > 1<<20 {
		return false
	}
	w := Welcome{Self: m.self, Player: m.seat, Code: m.code, Secret: m.secret, Match: m.Match,
		Expires: time.Duration(m.lasts) * time.Second, First: m.first, Next: m.next,
		Running: m.running, Witness: m.witness}
	w.Match.Params = append([]byte(nil), m.Params...)
	for _, x := range m.seats {
		if x.seat >= m.Seats || x.member == 0 {
			return false
		}
		w.Seats = append(w.Seats, Seat{x.seat, x.member, x.absent})
	}
	c.in, c.state = w, clientInside
	c.rows.start(&w)
	c.own.every = uint32(m.Rate / m.SendRate)
	c.own.pace = time.Second / time.Duration(m.SendRate)
	c.event(Event{Kind: Welcomed, Welcome: &w, Member: w.Self})
	early := c.early
	c.early = nil
	for _, b := range early {
		if c.takeRows(b) != nil {
			return false
		}
	}
	return true
}

// mostEarly is how many packets of rows are kept that come before the welcome, which may have been
// lost and be on its way again: the relay takes it that they have arrived.
const mostEarly = 512

package relay

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/conn"
	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/member"
)

// A Client is a member's end of a connection with a relay. Like conn.Client it does nothing by
// itself: a driver gives it the time and datagrams, and takes datagrams from it.
//
//	client.Receive(now, batch)
//	for _, e := range client.Events() { ... }
//	for row, ok := client.NextRow(); ok; row, ok = client.NextRow() { ... }
//	client.Submit(item)                       // once a tick
//	out = client.Flush(now, out[:0])
type Client struct {
	conn   *conn.Client
	now    time.Duration
	ask    []byte // to create or join, until the connection is there
	state  clientState
	events []Event
	handed []Event

	in      Welcome // what the member was told when it was let in
	words   bucket
	scratch []byte
	failed  error

	rows  rowQueue
	early [][]byte // packets of rows that came before the welcome
	own   ownStream

	lead   time.Duration
	leads  bool
	reader bits.Reader
	writer bits.Writer
	runs   [mostRuns]span
	flat   []byte
}

type clientState uint8

const (
	clientOutside clientState = iota // asks, or has to
	clientInside                     // is a member
	clientEnded
)

// NewClient makes a client that will connect with a token. Servers are the relay's addresses,
// unless the token names them. Of the options Seed is needed; Protocol, Version and Channels are
// the relay's.
func NewClient(o conn.ClientOptions) (*Client, error) {
	o.Options = options(o.Options)
	c, err := conn.NewClient(o)
	if err != nil {
		return nil, err
	}
	return &Client{conn: c}, nil
}

var (
	// ErrNotIn says that the client is not in a match.
	ErrNotIn = errors.New("relay: not in a match")
	// ErrIn says that the client is in a match, or has asked for one.
	ErrIn = errors.New("relay: in a match already, or asked for one")
	// ErrAhead says that the relay takes no more items before rows have taken some.
	ErrAhead = errors.New("relay: too many items are ahead of the rows")
	// ErrTooLarge says that an item, a word or a datagram is too large.
	ErrTooLarge = errors.New("relay: too large")
	// ErrRate says that words come too fast.
	ErrRate = errors.New("relay: too many words, wait a little")
)

// Create asks for a match. The event Welcomed tells its code.
func (c *Client) Create(m Match, e Entry) error {
	if err := errors.Join(m.fill(), e.check()); err != nil {
		return err
	}
	return c.request(messageCreate, &create{m, e})
}

// Join asks to be let into the match of a code. The game and the mode must be those of the match. A
// player who returns gives the secret of the Welcome of before; others a zero one.
func (c *Client) Join(
	code Code, game string, mode Mode, secret [SecretSize]byte, e Entry,
) error {
	if err := errors.Join(checkCode(code, game), e.check()); err != nil {
		return err
	}
	return c.request(messageJoin, &join{code, secret, mode, game, e})
}

// Look asks what the match of a code is, without being let in. The event Found tells its mode, or
// Refused why there is none for this game.
func (c *Client) Look(code Code, game string) error {
	if err := checkCode(code, game); err != nil {
		return err
	}
	return c.request(messageLook, &look{code, game})
}

func checkCode(code Code, game string) error {
	switch {
	case !code.good():
		return ErrCode
	case game == "" || len(game) > MaxGame:
		return fmt.Errorf("relay: a game of %d bytes, want 1 to %d", len(game), MaxGame)
	}
	return nil
}

// SecretSize is the size of what proves that a player was in a match before.
const SecretSize = secretSize

func (e *Entry) check() error {
	switch {
	case len(e.Name) > MaxName:
		return fmt.Errorf("relay: a name of %d bytes, at most %d", len(e.Name), MaxName)
	case len(e.Key) > MaxKey:
		return fmt.Errorf("relay: a key of %d bytes, at most %d", len(e.Key), MaxKey)
	case len(e.Locals) > MaxLocals:
		return fmt.Errorf("relay: %d addresses, at most %d", len(e.Locals), MaxLocals)
	case e.Delay < 0 || e.Delay > MaxDelay:
		return fmt.Errorf("relay: a delay of %v, at most %v", e.Delay, MaxDelay)
	}
	for _, a := range e.Locals {
		if !a.IsValid() {
			return errors.New("relay: an address that is none")
		}
	}
	return nil
}

func (c *Client) request(kind byte, f fielder) error {
	if c.state != clientOutside || c.ask != nil {
		return ErrIn
	}
	c.ask = write(nil, kind, f)
	if cn := c.conn.Conn(); cn != nil && cn.Open() {
		return cn.Send(controlChannel, c.ask)
	}
	return nil
}

// Receive handles datagrams that have come. They are decrypted in place, and events refer to them.
func (c *Client) Receive(now time.Duration, batch []link.Datagram) {
	c.now = now
	c.conn.Receive(now, batch)
	c.handle()
}

// handle looks at what happened on the connection.
func (c *Client) handle() {
	events := c.conn.Events()
	for i := range events {
		switch e := &events[i]; e.Kind {
		case conn.Connected:
			if c.ask != nil {
				_ = e.Conn.Send(controlChannel, c.ask) // it is open
			}
			c.own.window.adapt(0)
		case conn.Message:
			if c.state == clientEnded {
				continue
			}
			if err := c.message(e); err != nil {
				c.fail(err)
			}
		case conn.Arrived:
			c.own.window.arrived(uint32(e.Packet))
		case conn.Lost:
			c.own.window.dropped(uint32(e.Packet))
		case conn.TicketReceived:
			c.event(Event{Kind: TicketReceived})
		case conn.Disconnected:
			c.state = clientEnded
			reason := e.Reason
			c.event(Event{Kind: Ended, Reason: reason, Text: string(e.Data), Err: c.failed})
		}
	}
}

var errMalformed = errors.New("relay: the relay sent something that makes no sense")

// fail ends the connection because of the relay.
func (c *Client) fail(err error) {
	if c.failed == nil {
		c.failed = err
		c.conn.Close(ReasonOffence, err.Error())
	}
}

// Flush sends what is due and appends the datagrams to out. Their memory is good until the next
// Flush.
func (c *Client) Flush(now time.Duration, out []link.Datagram) []link.Datagram {
	c.now = now
	if c.state == clientInside {
		c.sendItems()
	}
	out = c.conn.Flush(now, out)
	c.handle()
	return out
}

// Refused tells that the link did not take datagram i of the last Flush.
func (c *Client) Refused(i int) { c.conn.Refused(i) }

// Deadline is the latest time by which Flush should be called, if nothing comes and nothing is said
// before.
func (c *Client) Deadline() time.Duration { return c.conn.Deadline() }

// Done reports whether the client has ended and has nothing left to send.
func (c *Client) Done() bool { return c.conn.Done() }

// Conn is the connection, or nil until there is one.
func (c *Client) Conn() *conn.Conn { return c.conn.Conn() }

// Ledger says what every byte sent so far was for.
func (c *Client) Ledger() conn.Ledger { return c.conn.Ledger() }

// Ticket is the latest ticket, by which to connect again after a crash of either end.
func (c *Client) Ticket() (token.Token, bool) { return c.conn.Ticket() }

// Close ends the connection without leaving the match: the seat is kept for a while.
func (c *Client) Close() { c.conn.Close(conn.ReasonLeft, "") }

// Leave gives up the seat for good, and ends the connection.
func (c *Client) Leave() error { return c.say(messageLeave, nil) }

// Ready says that the member has what it needs to play. Its seat joins with the first row for which
// items of it are there.
func (c *Client) Ready() error { return c.say(messageReady, nil) }

// Word says something of at most MaxWord bytes to all other members, reliably.
func (c *Client) Word(b []byte) error {
	if len(b) > MaxWord {
		return ErrTooLarge
	}
	if c.state == clientInside && !c.words.take(c.now, 1, WordRate, WordBurst) {
		return ErrRate
	}
	return c.say(messageSay, b)
}

// Vote says something of at most MaxVote bytes to the relay's witness.
func (c *Client) Vote(b []byte) error {
	if len(b) > MaxVote {
		return ErrTooLarge
	}
	return c.say(messageVote, b)
}

// SetLocals tells where the member can now be reached in its own network.
func (c *Client) SetLocals(list []netip.AddrPort) error {
	if err := (&Entry{Locals: list}).check(); err != nil {
		return err
	}
	m := localsOnly{list}
	return c.say(messageLocals, write(nil, messageLocals, &m)[1:])
}

func (c *Client) say(kind byte, b []byte) error {
	if c.state != clientInside {
		return ErrNotIn
	}
	c.scratch = append(append(c.scratch[:0], kind), b...)
	return c.conn.Conn().Send(controlChannel, c.scratch)
}

// carryHead is what stands before a carried datagram: to whom, or from whom.
const carryHead = 2

// MaxCarry is the largest datagram that can be carried now; 0 outside a match. The relay's path to
// the other member may carry less, but never less than 470 bytes.
func (c *Client) MaxCarry() int {
	if c.state != clientInside {
		return 0
	}
	return c.conn.Conn().MaxPayload() - carryHead
}

// Carry has a datagram passed on to another member of the match. It may be lost, as any.
func (c *Client) Carry(to member.ID, datagram []byte) error {
	switch {
	case c.state != clientInside:
		return ErrNotIn
	case len(datagram) > c.MaxCarry():
		return ErrTooLarge
	}
	c.scratch = binary.BigEndian.AppendUint16(c.scratch[:0], uint16(to))
	c.scratch = append(c.scratch, datagram...)
	return c.conn.Conn().Send(carryChannel, c.scratch)
}

package ways

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"net/netip"
	"time"

	"github.com/coeval-dev/coeval/conn"
	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/topology/wire"
)

// A State is how far a way has come; the package's doc has the table.
type State uint8

// The states of a way.
const (
	Dialling State = iota + 1
	Connecting
	Spare
	Greeting
	Seated
	Ready
	Playing
	Lost
	Lingering
	Leaving
	Gone
)

var stateNames = [...]string{"", "dialling", "connecting", "spare", "greeting", "seated", "ready",
	"playing", "lost", "lingering", "leaving", "gone"}

func (s State) String() string {
	if int(s) < len(stateNames) {
		return stateNames[s]
	}
	return "unknown"
}

// asked says whether the server was asked for a seat, and the player is not shown the world yet.
func (s State) asked() bool { return s == Greeting || s == Seated || s == Ready }

// Link is the number of a link, by which the owner of a Set knows which one is meant.
type Link int

// First is the link that the client was given. It outlives every way.
const First Link = 0

// A Way is one connection to a server, or an attempt at one.
type Way struct {
	number int
	state  State
	conn   *conn.Client // nil while Dialling
	link   Link
	most   int         // bytes of a datagram on that link
	server wire.Server // where it leads to; the first way of all leads to where the token says
	since  time.Duration
	wished bool // the server that is played at wants the player to go there
	better bool // the player goes there of its own accord, as it is much nearer
	// What came of connecting, for a way that is tried.
	took     time.Duration
	ticketed bool // a new ticket has come

	heard    time.Duration // when something came last
	received uint64        // packets that came by then
	waiting  bool          // an answer is due, since asked
	asked    time.Duration
	packets  int // of commands that were sent

	seat    Seat
	level   wire.Message // that its server named last
	levelAt time.Duration
	epoch   uint32
	paused  bool          // its server says that the world stands still
	servers []wire.Server // that its server told of
}

// Number tells ways apart: they are counted from 1.
func (w *Way) Number() int { return w.number }

// State is how far the way has come.
func (w *Way) State() State { return w.state }

// Link is the number of the way's link.
func (w *Way) Link() Link { return w.link }

// Server is the one that the way leads to, as far as the client was told of it.
func (w *Way) Server() wire.Server { return w.server }

// Level is the level that the server named last.
func (w *Way) Level() *wire.Message { return &w.level }

// LevelAt is when the server named it.
func (w *Way) LevelAt() time.Duration { return w.levelAt }

// Paused says that the world stands still, as the server said last.
func (w *Way) Paused() bool { return w.paused }

// Epoch is the number of the world that is shown by this way, with which commands are marked.
func (w *Way) Epoch() uint32 { return w.epoch }

// Conn is the connection, or nil until there is one.
func (w *Way) Conn() *conn.Conn {
	if w.conn == nil {
		return nil
	}
	return w.conn.Conn()
}

// Client is the protocol machine of the way, to be looked at.
func (w *Way) Client() *conn.Client { return w.conn }

// Alive says whether there is a connection.
func (w *Way) Alive() bool {
	c := w.Conn()
	return c != nil && c.Open()
}

// addr is where the server is, as far as is known.
func (w *Way) addr() netip.AddrPort {
	if c := w.Conn(); c != nil {
		return c.Addr()
	}
	return w.server.Addr
}

// listen notes whether anything came that the server has sealed.
func (w *Way) listen(now time.Duration) {
	c := w.Conn()
	if c == nil {
		return
	}
	if n := c.Ledger().ReceivedPackets; n != w.received {
		w.received, w.heard, w.waiting = n, now, false
	}
}

// open begins a connection with a token or a ticket. Without a server it goes to where the token
// leads.
func (s *Set) open(l Link, datagram int, t token.Token, p wire.Server) (*Way, error) {
	w := s.newWay(l, p)
	return w, s.connect(w, datagram, t)
}

func (s *Set) newWay(l Link, p wire.Server) *Way {
	s.opened++
	return &Way{number: s.opened, state: Connecting, link: l, server: p, since: s.now, heard: s.now}
}

// connect makes the protocol machine of a way.
func (s *Set) connect(w *Way, datagram int, t token.Token) error {
	o := conn.ClientOptions{Options: s.o.Conn, Token: t, ConnectTimeout: s.o.ConnectTimeout}
	switch {
	case w.server.Addr.IsValid():
		o.Servers = []netip.AddrPort{w.server.Addr}
	case len(s.o.Servers) > 0:
		o.Servers = s.o.Servers
	default:
		o.Servers = s.o.Token.Servers
	}
	o.Nearest = !w.server.Addr.IsValid() && !s.o.Stay && !s.o.Dials
	o.Protocol, o.Version, o.Channels = s.o.Protocol, wire.Version, wire.Channels()
	w.most = datagram
	o.Datagram = max(min(cmp.Or(o.Datagram, 1200), datagram), 512)
	// Each machine needs a seed of its own, and what is left does not tell those before.
	o.Seed = sha256.Sum256(append([]byte("way"), s.o.Conn.Seed[:]...))
	s.o.Conn.Seed = sha256.Sum256(append([]byte("next"), s.o.Conn.Seed[:]...))
	c, err := conn.NewClient(o)
	if err != nil {
		return err
	}
	w.conn, w.state = c, Connecting
	return nil
}

// An EndError says why a server ended the connection, or did not let the client in.
type EndError struct {
	Reason conn.Reason
	Note   string // what the server had to say
}

func (e *EndError) Error() string {
	t := "client: " + wire.ReasonText(e.Reason)
	if e.Note != "" {
		t += ": " + e.Note
	}
	return t
}

// A LinkError says that the link by which the server was reached has ended.
type LinkError struct{ Err error }

func (e *LinkError) Error() string {
	return fmt.Sprintf("client: the link to the server has ended: %v", e.Err)
}

func (e *LinkError) Unwrap() error { return e.Err }

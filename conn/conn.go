package conn

import (
	"errors"
	"net/netip"
	"time"

	"github.com/coeval-dev/coeval/conn/token"
)

// Conn is one end of a connection. A Server hands out one for each client, a
// Client has one. Its methods belong to the goroutine that drives the machine.
type Conn struct {
	// What every packet touches stands together and comes first, because with hundreds
	// of connections it is the memory, not the work, that takes the time.
	m         *machine
	own, peer identifier // by which the peer addresses us, and we it
	datagram  int        // the largest that both ends take
	current   uint32     // number of the packet at hand
	phase     phase
	stage     trialStage // of trial
	keys
	backlog
	received received
	route    route
	sent     sent
	times
	pace    pace
	rate    rate
	book    Ledger
	bulkOut bulkSender
	measure measure

	// From here on it is what few packets touch.
	bulkIn   bulkReceiver
	closing  closing
	line     line
	renewal  renewal
	trial    trial   // of another address of the peer, if any
	answer   [8]byte // to the peer's challenge
	fragment int     // what a fragment of a message, or a chunk of a transfer, holds
	since    time.Duration
	player
	admission
}

// keys seal what is sent and open what comes, each with the bit of its generation; see renewal. A
// number is never used twice, so when they are worn, because numbers run out, the connection ends.
type keys struct {
	open, seal      direction
	opens, phaseBit byte
	worn            bool
	renewFrom       uint32 // the first number that is not to be sealed with these keys
}

// backlog is what waits to be sent. While a channel has something that may go its bit in waiting
// is set, and while it has reliable messages that have not arrived its bit in unacked is.
type backlog struct {
	control  uint8  // control frames, a bit for each
	urgent   bool   // something must go now, whatever the send rate
	probe    bool   // ask for an acknowledgement, since none comes
	waiting  uint16 // channels, a bit for each
	unacked  uint16 // reliable channels, a bit for each
	channels []channel
	queued   []byte // unreliable messages, one after the other
}

// times are when something last happened: what is silent is kept alive, and given up in the end.
// None of those is later than the machine's time.
type times struct {
	lastHeard time.Duration
	lastData  time.Duration // when we sent something that wants an acknowledgement
	lastAck   time.Duration // when something of ours was acknowledged
	sendGap   time.Duration // between two such, smoothed; zero where they are not regular
	renewAt   time.Duration // when a server hands out another ticket; zero: never
}

// player is who the peer is, as the token says. A client knows nothing of it.
type player struct {
	clientID uint64
	grant    *token.Grant // without the secret
}

// noGrant is what a client knows of its server.
var noGrant token.Grant

// admission is how a server let the peer in, and how it may come back. At a client server is nil,
// and nothing else is set either.
type admission struct {
	server      *Server
	slot        int
	clientNonce [nonceSize]byte
	source      netip.Addr // that it counts for, if any
	accept      []byte     // our answer to the peer's response, until the peer was heard
	ticket      []byte     // the latest, until it has arrived
	grouped     uint32     // which group it was made for, as the server counts them
	marked      bool       // it is being written down that the ticket it came by was used
}

type phase uint8

const (
	phaseHalfOpen phase = iota // server: accepted, but the client has not been heard with the keys
	phaseOpen
	phaseClosing  // has ended here; tells the peer until it knows
	phaseDraining // has ended there; answers as long as the peer may not know that we know
	phaseGone
)

// channel is one channel of one connection, both ways. What a mode does not need
// stays nil.
type channel struct {
	queue  []span  // unreliable: where in Conn.queued the messages are that wait
	latest []byte  // newest-only: the one that waits, if its bit in Conn.waiting is set
	out    *outbox // reliable
	in     *inbox  // reliable
	newest uint32  // newest-only: the packet that brought the last delivered
}

// span is a part of a buffer that may move as it grows.
type span struct{ from, to uint32 }

func newConn(m *machine, phase phase, own, peer identifier, addr netip.AddrPort,
	datagram int) *Conn {
	c := &Conn{
		m: m, phase: phase, own: own, peer: peer, route: route{addr: addr, sendTo: addr},
		datagram: datagram, fragment: fragmentSize(datagram), since: m.now,
		times:    times{lastHeard: m.now, lastAck: m.now, lastData: m.now},
		backlog:  backlog{channels: make([]channel, len(m.opt.Channels))},
		pace:     pace{next: m.now},
		received: newReceived(), sent: newSent(), measure: newMeasure(m.now),
		rate: newRate(m.now, &m.opt), player: player{grant: &noGrant},
	}
	c.SetSendRate(m.opt.SendRate)
	return c
}

var (
	// ErrClosed says that the connection has ended.
	ErrClosed = errors.New("conn: connection is closed")
	// ErrChannel says that there is no channel with that number.
	ErrChannel = errors.New("conn: no such channel, see Options.Channels")
	// ErrTooLarge says that a message is larger than its channel takes.
	ErrTooLarge = errors.New(
		"conn: message too large, see MaxPayload and Channel.MaxMessage; use SendBulk for more")
	// ErrBacklog says that too much waits to be sent or acknowledged already.
	ErrBacklog = errors.New("conn: too many messages wait, send less or close the connection")
	// ErrMode says that a channel's mode does not allow that.
	ErrMode = errors.New("conn: only unreliable and newest-only channels can be composed")
)

// Client is the player's number, as the token says.
func (c *Conn) Client() uint64 { return c.clientID }

// Slot is a small number that no other connection has at the same server and time, for tables of
// what belongs to connections. At a client it is zero.
func (c *Conn) Slot() int { return c.slot }

// UserData is what the token's issuer wanted the server to know. Nil at a client.
func (c *Conn) UserData() []byte { return c.grant.UserData }

// Resumed reports whether the player came with a resumption ticket.
func (c *Conn) Resumed() bool { return c.grant.Resumed }

// Addr is where the peer is, as far as has been proved.
func (c *Conn) Addr() netip.AddrPort { return c.route.addr }

// Open reports whether messages can be sent.
func (c *Conn) Open() bool { return c.phase == phaseOpen }

// Ledger says what every byte sent so far was for.
func (c *Conn) Ledger() Ledger { return c.book }

// Datagram is the largest packet that both ends and their links take.
func (c *Conn) Datagram() int { return c.datagram }

// MaxPayload is the largest message that always fits into one packet, and so the
// largest that may be sent unreliably.
func (c *Conn) MaxPayload() int { return c.datagram - dataHeader - ackRoomMax - 1 - tagSize }

// NextPacket is the number that the next packet will have.
func (c *Conn) NextPacket() PacketNumber { return PacketNumber(c.sent.next) }

// Packet tells what became of one of our packets. It is remembered until the
// verdict, and up to three seconds longer if it was lost; the events Arrived and Lost tell
// of composed packets without asking.
func (c *Conn) Packet(n PacketNumber) PacketState {
	if uint32(n) < c.sent.base || uint32(n) >= c.sent.next {
		return PacketForgotten
	}
	return c.sent.at(uint32(n)).state
}

// violate ends a connection whose peer broke the protocol. The peer holds the
// keys, so this is no accident of the network.
func (c *Conn) violate() {
	if c.phase == phaseOpen || c.phase == phaseHalfOpen {
		c.m.stats.Violations++
		c.end(ReasonViolation, nil, true)
	}
}

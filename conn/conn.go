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
	phase     phase
	tripFresh bool // a round trip was measured with the packet at hand
	wornOut   bool
	probe     bool   // ask for an acknowledgement, since none comes
	urgent    bool   // something must go now, whatever the send rate
	control   uint8  // control frames to send, a bit for each
	waiting   uint16 // channels with something to send, a bit for each
	unacked   uint16 // reliable channels with something not yet acknowledged
	current   uint32 // number of the packet at hand
	datagram  int    // the largest that both ends take
	open      direction
	seal      direction
	received  received
	addr      netip.AddrPort // where the peer has proved to be
	sendTo    netip.AddrPort // where the packet being built goes: addr, or a path on trial
	sent      sent

	lastHeard  time.Duration
	lastSent   time.Duration
	lastData   time.Duration // when we last sent something that wants an acknowledgement
	lastAck    time.Duration // when something of ours was last acknowledged
	sendGap    time.Duration // between such, smoothed
	lastClock  time.Duration
	clocksSent int
	trip       time.Duration
	sendEvery  time.Duration
	sendNext   time.Duration
	renewAt    time.Duration // when the server hands out a new ticket; zero: never
	backoff    int           // how often in a row patience has run out
	reordering int           // how often packets taken for lost turned up
	outAcked   int
	outLost    int

	channels []channel
	queued   []byte // unreliable messages that wait
	rate     rate
	book     Ledger
	bulkOut  bulkSender
	measure  measure

	// From here on it is what few packets touch.
	bulkIn   bulkReceiver
	path     path
	closing  closing
	server   *Server // nil at a client
	fragment int     // what a fragment of a message holds
	clientID uint64
	userData []byte
	tokenID  [token.IDSize]byte
	resumed  bool
	since    time.Duration
	answer   [8]byte
	ticket   []byte

	// The server's own:
	slot        int
	clientNonce [nonceSize]byte
	accept      []byte
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

func newConn(m *machine, phase phase, own, peer identifier, addr netip.AddrPort, datagram int) *Conn {
	c := &Conn{
		m: m, phase: phase, own: own, peer: peer, addr: addr, sendTo: addr,
		datagram: datagram, fragment: fragmentSize(datagram),
		since: m.now, lastHeard: m.now, lastSent: m.now, lastAck: m.now, lastData: m.now,
		channels: make([]channel, len(m.opt.Channels)),
	}
	c.lastClock = m.now - clockEvery
	c.received.init()
	c.sent.init()
	c.measure.init()
	c.measure.lossAt = m.now
	c.rate.init(&m.opt)
	c.rate.at, c.rate.began = m.now, m.now
	c.SetSendRate(m.opt.SendRate)
	c.sendNext = m.now
	return c
}

var (
	// ErrClosed says that the connection has ended.
	ErrClosed = errors.New("conn: connection is closed")
	// ErrChannel says that there is no channel with that number.
	ErrChannel = errors.New("conn: no such channel, see Options.Channels")
	// ErrTooLarge says that a message is larger than its channel takes.
	ErrTooLarge = errors.New("conn: message too large, see MaxPayload and Channel.MaxMessage; use SendBulk for more")
	// ErrBacklog says that too much waits to be sent or acknowledged already.
	ErrBacklog = errors.New("conn: too many messages wait, send less or close the connection")
	// ErrMode says that a channel's mode does not allow that.
	ErrMode = errors.New("conn: only unreliable and newest-only channels can be composed")
)

// Client is the player's number, as the token says.
func (c *Conn) Client() uint64 { return c.clientID }

// UserData is what the token's issuer wanted the server to know. Nil at a client.
func (c *Conn) UserData() []byte { return c.userData }

// Resumed reports whether the player came with a resumption ticket.
func (c *Conn) Resumed() bool { return c.resumed }

// Addr is where the peer is, as far as has been proved.
func (c *Conn) Addr() netip.AddrPort { return c.addr }

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

// PacketState is what is known of a packet of ours.
type PacketState uint8

const (
	// PacketPending: on its way, or its acknowledgement is.
	PacketPending PacketState = iota
	// PacketArrived: the peer has it.
	PacketArrived
	// PacketLost: taken for lost.
	PacketLost
	// PacketForgotten: so old that the record is gone, or never sent.
	PacketForgotten
)

// Packet tells what became of one of our packets. Records last until the
// verdict and up to three seconds longer for lost ones; the events Arrived and Lost tell
// of composed packets without asking.
func (c *Conn) Packet(n PacketNumber) PacketState {
	if uint32(n) < c.sent.base || uint32(n) >= c.sent.next {
		return PacketForgotten
	}
	switch c.sent.at(uint32(n)).verdict {
	case arrived:
		return PacketArrived
	case lost:
		return PacketLost
	}
	return PacketPending
}

// violate ends a connection whose peer broke the protocol. The peer holds the
// keys, so this is no accident of the network.
func (c *Conn) violate() {
	if c.phase == phaseOpen || c.phase == phaseHalfOpen {
		c.m.stats.Violations++
		c.end(ReasonViolation, nil, true)
	}
}

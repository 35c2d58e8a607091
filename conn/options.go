package conn

import (
	"cmp"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/coeval-dev/coeval/conn/token"
)

// Mode is what a channel promises about its messages.
type Mode uint8

const (
	// Unreliable messages arrive once or not at all, in any order.
	Unreliable Mode = iota
	// Newest messages replace each other: one that is older than what was already
	// delivered on its channel is never delivered, and of those waiting to be sent
	// only the last one goes.
	Newest
	// Ordered messages arrive exactly once, in the order in which they were sent.
	Ordered
	// Unordered messages arrive exactly once, each as soon as it can.
	Unordered
)

var modeNames = [...]string{"unreliable", "newest", "ordered", "unordered"}

func (m Mode) String() string {
	if int(m) < len(modeNames) {
		return modeNames[m]
	}
	return fmt.Sprintf("mode %d", uint8(m))
}

func (m Mode) reliable() bool { return m == Ordered || m == Unordered }

// Channel describes one of up to sixteen channels. Both ends must be given the
// same list.
type Channel struct {
	Mode Mode
	// Priority decides who goes first when not everything fits: higher first, and
	// among equals the reliable, then the lower number.
	Priority int
	// MaxMessage bounds a reliable message, and with it the memory that a hostile
	// peer can make this end hold: twice as much per channel. Zero means 64 KiB; the
	// most is 256 times a fragment, about 280 KB.
	MaxMessage int
}

// Channels of a game that says nothing else, one for each mode.
var defaultChannels = []Channel{
	{Mode: Unreliable}, {Mode: Newest}, {Mode: Ordered}, {Mode: Unordered}}

// Options are what both ends of a connection take. Only Seed has no default.
type Options struct {
	// Protocol names the game, see token.ProtocolID; Version is the game's own. Both
	// must be the same at both ends.
	Protocol uint64
	Version  uint32
	// Channels are up to sixteen; none means one of each mode, numbered as the modes are.
	Channels []Channel
	// Seed is 32 bytes of good randomness, fresh for each machine, since a protocol
	// machine has no randomness of its own. Take it from crypto/rand.
	Seed [32]byte
	// Datagram is the largest that the link carries; zero means 1200, the least is 512.
	// Two ends agree on the smaller of theirs.
	Datagram int
	// Timeout ends a connection over which nothing was heard. Zero means 10 s.
	Timeout time.Duration
	// KeepAlive is the longest silence. Zero means 1 s.
	KeepAlive time.Duration
	// SendRate is how many packets a second messages are gathered into; zero means
	// one at each Flush. It can be changed later, for one connection.
	SendRate float64
	// Rate, MinRate and MaxRate are bytes a second: where the rate controller starts,
	// and between which bounds it stays. Zeros mean 8 KiB, 1 KiB and 8 MiB.
	Rate, MinRate, MaxRate int
	// RideShare is how many bytes of each packet may repeat small reliable messages
	// that have not been acknowledged yet, as far as the unreliable message that goes next leaves
	// room. Zero means a quarter of a packet, less than zero none.
	RideShare int
	// MaxBulk is the largest transfer to take from the peer. Zero means 64 MiB at a
	// client and 1 MiB at a server, less than zero none.
	MaxBulk int
	// Wall is the Unix time, in seconds, at now = 0. Servers need it to tell when
	// tokens expire.
	Wall int64
	// Used is how a server remembers the tokens that have let someone in: one for all servers that
	// are one to their players. Default: one of the server's own, which forgets with it.
	Used *Used
	// KeyLog, if set, is given a line with the keys of each new connection, for the
	// Wireshark dissector. Who has these lines can read the traffic: for debugging only.
	KeyLog func(line string)

	renewAfter uint32 // packets under one key; tests set it
}

// ServerOptions are what a server takes.
type ServerOptions struct {
	Options
	// Keys open tokens; the first also seals resumption tickets. More than one lets
	// keys be replaced while tokens of the old one are still about.
	Keys []token.Key
	// Addresses are those under which clients know this server. A token that names
	// servers is refused unless it names one of these, and so is a ticket. With no addresses
	// given, that is not checked, and a token may be used once at each server with the key.
	// Server.SetAddresses changes them.
	Addresses []netip.AddrPort
	// Group are servers that this one's players may go on at, if their tokens name this one:
	// mirrors of the same game. Tickets name them. Server.SetGroup changes them.
	Group []netip.AddrPort
	// MaxClients bounds the connections. Zero means 64, the most is 16000.
	MaxClients int
	// MaxPerSource bounds the connections of one source. Zero means that only MaxClients does.
	MaxPerSource int
	// Source, if set, tells what an address counts as for that, and for the share that strangers of
	// one source have of a server's answers; the zero address is not limited. Otherwise it is
	// link.SourceOf: an IPv4 address, or the network of an IPv6 one.
	Source func(netip.AddrPort) netip.Addr
	// DatagramTo, if set, tells the largest datagram that the link carries to one
	// peer, where that differs between peers; link.MaxTo knows. It is asked once, when
	// the peer connects.
	DatagramTo func(netip.AddrPort) int
	// Admit, if set, is asked about each player that has proved itself. Anything but
	// ReasonNone turns the player away with that reason, like ReasonBanned.
	Admit func(Candidate) Reason
	// TicketLife is how long a resumption ticket is good for. Zero means an hour, less
	// than zero that none are handed out.
	TicketLife time.Duration
	// TicketsFor is how long after the first token was issued tickets let a player come back, each
	// with the one before. A token may say less. Zero means twelve hours. Who stays connected is
	// not concerned.
	TicketsFor time.Duration
}

// ClientOptions are what a client takes.
type ClientOptions struct {
	Options
	// Token is the connect token or resumption ticket to connect with.
	Token token.Token
	// Servers, if any, are tried in place of those that the token names.
	Servers []netip.AddrPort
	// Nearest has the servers, where there are several, be measured first and be tried in the
	// order of how near they are, in place of the order in which they are listed. That takes a
	// quarter of a second and a round trip, or 0.6 s if hardly anybody answers.
	Nearest bool
	// ConnectTimeout is how long each server is given to answer. Zero means 10 s.
	ConnectTimeout time.Duration
}

// Candidate is a player at the door.
type Candidate struct {
	Client   uint64
	Addr     netip.AddrPort
	UserData []byte
	Resumed  bool // comes with a ticket of an earlier connection
}

// Bounds of options, and what zero means.
const (
	defaultDatagram = 1200
	minDatagram     = 512
	maxDatagram     = 16 << 10

	defaultMaxMessage = 64 << 10
	maxFragments      = 256

	defaultClients = 64
	mostClients    = 16000 // leaves slots for those that are just ending
	mostBulk       = 64 << 20
)

func (o *Options) fill(maxBulk int) error {
	if o.Seed == [32]byte{} {
		return errors.New("conn: no seed, fill Options.Seed from crypto/rand")
	}
	if len(o.Channels) == 0 {
		o.Channels = defaultChannels
	}
	if len(o.Channels) > maxChannels {
		return fmt.Errorf("conn: %d channels, at most %d", len(o.Channels), maxChannels)
	}
	o.Datagram = cmp.Or(o.Datagram, defaultDatagram)
	if o.Datagram < minDatagram {
		return fmt.Errorf("conn: datagrams of %d bytes, at least %d are needed", o.Datagram,
			minDatagram)
	}
	o.Datagram = min(o.Datagram, maxDatagram)
	o.Channels = slices.Clone(o.Channels)
	for i := range o.Channels {
		ch := &o.Channels[i]
		if ch.Mode > Unordered {
			return fmt.Errorf("conn: channel %d: no such mode as %d", i, ch.Mode)
		}
		ch.MaxMessage = cmp.Or(ch.MaxMessage, defaultMaxMessage)
		if most := maxFragments * fragmentSize(o.Datagram); ch.MaxMessage < 0 ||
			ch.MaxMessage > most {
			return fmt.Errorf("conn: channel %d: messages of %d bytes, at most %d", i,
				ch.MaxMessage, most)
		}
	}
	fillDuration(&o.Timeout, 10*time.Second)
	fillDuration(&o.KeepAlive, time.Second)
	o.renewAfter = cmp.Or(o.renewAfter, renewAfter)
	fillInt(&o.Rate, 8<<10)
	fillInt(&o.MinRate, 1<<10)
	fillInt(&o.MaxRate, 8<<20)
	if o.MinRate > o.MaxRate {
		return fmt.Errorf("conn: MinRate %d is above MaxRate %d", o.MinRate, o.MaxRate)
	}
	o.Rate = min(max(o.Rate, o.MinRate), o.MaxRate)
	fillInt(&o.RideShare, o.Datagram/4)
	fillInt(&o.MaxBulk, maxBulk)
	o.MaxBulk = min(o.MaxBulk, mostBulk)
	if o.SendRate < 0 {
		return fmt.Errorf("conn: a send rate of %v, want zero or more", o.SendRate)
	}
	return nil
}

// fillInt replaces zero by a default, and anything below by zero.
func fillInt(v *int, def int) {
	*v = max(cmp.Or(*v, def), 0)
}

func fillDuration(v *time.Duration, def time.Duration) {
	if *v <= 0 {
		*v = def
	}
}

// fragmentSize is what one fragment of a message, or one chunk of a transfer,
// holds. Both ends derive it from the datagram size they agreed on, so that a
// fragment's place follows from its index. 72 bytes are left for all that is around it.
func fragmentSize(datagram int) int { return datagram - 72 }

package link

import (
	"errors"
	"net/netip"
	"time"
)

// Datagram is one message and the peer it came from or goes to.
type Datagram struct {
	Addr netip.AddrPort
	// Data is the message. It is nil of one that was received and that the link has dealt with
	// itself; see package answer.
	Data []byte
	// Waited is for how long a datagram that was received had been there, where the
	// link knows: for programs that look once a frame, and measure round trips.
	Waited time.Duration
}

// Link carries datagrams. One goroutine may call Receive and Wait while another
// calls Send; any number may call Wake, Counters and Close.
type Link interface {
	// Receive fills batch with what is waiting and returns how many that were;
	// fewer than len(batch) means that nothing more was waiting. It never blocks.
	// The Data it hands out belongs to the link and is good until the next Receive or
	// Wait.
	Receive(batch []Datagram) (int, error)

	// Send takes datagrams in order and returns how many it took. The link is done
	// with their Data when Send returns. When it took fewer than all, the error says
	// why it did not take batch[n]: ErrFull, ErrTooLarge, ErrNoPeer and ErrAddr concern
	// that datagram alone, and the caller may leave it out and go on (SendAll does).
	// It never blocks.
	Send(batch []Datagram) (int, error)

	// Wait sleeps until something can be received, until d has passed, or until Wake
	// or Close. It returns true when there is something to receive. A d below zero
	// means no limit, zero only looks.
	Wait(d time.Duration) (bool, error)

	// Wake ends a Wait, or the next one if there is none now.
	Wake()

	// MaxDatagram is the largest datagram that the link carries to every peer.
	// Where some peers can be sent more or less, see MaxTo.
	MaxDatagram() int

	// LocalAddr is where the link can be reached, where that has a meaning.
	LocalAddr() netip.AddrPort

	// Counters says what the link has carried, refused and lost so far.
	Counters() Counters

	// Close frees everything the link holds and ends a Wait. Later calls of Receive,
	// Send and Wait return ErrClosed.
	Close() error
}

var (
	// ErrFull says that the link, or the peer's share of it, cannot take a datagram
	// now. It passes: drop the datagram or offer it again at the next tick.
	ErrFull = errors.New("link: full, offer the datagram again later")
	// ErrTooLarge says that a datagram is larger than the link carries to that peer.
	ErrTooLarge = errors.New("link: datagram too large, see MaxDatagram")
	// ErrNoPeer says that the address names no session, or one that has ended.
	ErrNoPeer = errors.New("link: no such peer, its session has ended")
	// ErrAddr says that this link can never reach such an address, like an IPv6
	// address from a socket bound to an IPv4 one.
	ErrAddr = errors.New(
		"link: address cannot be reached from this link, bind to [::] to reach both IPv4 and IPv6")
	// ErrClosed says that the link was closed, or that a client's only session ended.
	ErrClosed = errors.New("link: closed")
)

// Counters are totals since the link was opened. Bytes are those of the
// datagrams themselves, without the headers of whatever carries them, so that
// SentBytes is what the layer above handed over, to the byte.
type Counters struct {
	Received, ReceivedBytes uint64 // handed out by Receive
	Sent, SentBytes         uint64 // taken by Send
	Refused                 uint64 // offered to Send and not taken
	DroppedIn               uint64 // arrived and thrown away: queue full, malformed or too large
	// taken and then thrown away: unreachable, or the session ended first
	DroppedOut uint64
}

// Add sums counters, for programs that serve over several links.
func (c Counters) Add(d Counters) Counters {
	c.Received += d.Received
	c.ReceivedBytes += d.ReceivedBytes
	c.Sent += d.Sent
	c.SentBytes += d.SentBytes
	c.Refused += d.Refused
	c.DroppedIn += d.DroppedIn
	c.DroppedOut += d.DroppedOut
	return c
}

// PeerLimiter is a link whose largest datagram differs between peers and may
// change during a session, as it does with path discovery.
type PeerLimiter interface {
	MaxDatagramTo(peer netip.AddrPort) int
}

// An Answering link sends some datagrams by itself; see package answer.
type Answering interface {
	// Own is what of its Counters it took and sent itself.
	Own() Counters
}

// Own is what a link took and sent by itself, which the layer above knows nothing of.
func Own(l Link) Counters {
	if a, ok := l.(Answering); ok {
		return a.Own()
	}
	return Counters{}
}

// MaxTo is the largest datagram that l carries to one peer now.
func MaxTo(l Link, peer netip.AddrPort) int {
	if p, ok := l.(PeerLimiter); ok {
		return p.MaxDatagramTo(peer)
	}
	return l.MaxDatagram()
}

// SendAll offers every datagram once and leaves out those that the link does
// not take, as a network would. It returns how many were left out; the error is
// nil unless the link itself is at an end.
func SendAll(l Link, batch []Datagram) (refused int, err error) {
	for len(batch) > 0 {
		n, err := l.Send(batch)
		batch = batch[n:]
		switch {
		case err == nil:
		case Passing(err) && len(batch) > 0:
			batch = batch[1:]
			refused++
		default:
			return refused + len(batch), err
		}
	}
	return refused, nil
}

// Passing reports whether an error of Send concerns one datagram alone, so that
// the link can be used further.
func Passing(err error) bool {
	return errors.Is(err, ErrFull) || errors.Is(err, ErrTooLarge) || errors.Is(err, ErrNoPeer) ||
		errors.Is(err, ErrAddr)
}

// Package plain lets links use the standard library's UDP sockets: what a socket receives goes
// into a mailbox, and sending waits a few milliseconds at most.
package plain

import (
	"errors"
	"net"
	"net/netip"
	"os"
	"sync"
	"time"

	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/link/internal/mailbox"
)

// pause is how long Send waits for a full buffer of the system's. The standard library has no way
// to ask without waiting.
const pause = 4 * time.Millisecond

// Local is the address of a socket.
func Local(conn *net.UDPConn) netip.AddrPort {
	return unmapped(conn.LocalAddr().(*net.UDPAddr).AddrPort())
}

func unmapped(a netip.AddrPort) netip.AddrPort {
	return netip.AddrPortFrom(a.Addr().Unmap(), a.Port())
}

// Start lets a socket be sent from, and a goroutine put what it receives into the port's box until
// it is closed.
func Start(p *mailbox.Port, conn *net.UDPConn, readers *sync.WaitGroup) {
	_ = conn.SetWriteDeadline(time.Now().Add(pause))
	readers.Go(func() { receive(p, conn) })
}

func receive(p *mailbox.Port, conn *net.UDPConn) {
	buf := make([]byte, p.Max+1)
	for {
		n, from, err := conn.ReadFromUDPAddrPort(buf)
		switch {
		case errors.Is(err, net.ErrClosed):
			return
		case err != nil && n == 0:
			// Complaints about peers that are gone, which some systems report here.
			continue
		}
		if n > p.Max || !p.Box.Push(unmapped(from), buf[:n], nil) {
			p.Box.Drop()
		}
	}
}

// Send sends a datagram. One that the system cannot deliver is taken and counted as dropped.
func Send(p *mailbox.Port, conn *net.UDPConn, d *link.Datagram, to netip.AddrPort) error {
	_, err := conn.WriteToUDPAddrPort(d.Data, to)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		// The deadline is an old one, or the buffer is full; only a new one tells. An error
		// in setting it is one of a closed socket, and writing returns it too.
		_ = conn.SetWriteDeadline(time.Now().Add(pause))
		_, err = conn.WriteToUDPAddrPort(d.Data, to)
	}
	switch {
	case err == nil:
	case errors.Is(err, net.ErrClosed):
		return link.ErrClosed
	case errors.Is(err, os.ErrDeadlineExceeded):
		return link.ErrFull
	default:
		// Unreachable, forbidden or out of buffers: lost, as on the way.
		p.Tally.Drop(1)
	}
	return nil
}

// Close closes sockets that may be closed already.
func Close(conns ...*net.UDPConn) (err error) {
	for _, c := range conns {
		if e := c.Close(); !errors.Is(e, net.ErrClosed) {
			err = errors.Join(err, e)
		}
	}
	return err
}

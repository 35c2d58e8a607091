package udp

import (
	"errors"
	"net"
	"net/netip"
	"os"
	"time"

	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/link/internal/mailbox"
)

// portable is a link over the standard library's socket: a goroutine reads into
// a mailbox. It costs more for each datagram than batches do, and runs everywhere.
// When the system's buffer is full, Send waits a few milliseconds for it: the
// standard library has no way to ask without waiting.
type portable struct {
	conn  *net.UDPConn
	addr  netip.AddrPort
	max   int
	four  bool // reaches IPv4 only
	six   bool // reaches IPv6 only
	box   *mailbox.Box
	tally mailbox.Tally
	done  chan struct{} // the reader is at its end
}

const (
	portableQueue = 2048
	portablePause = 4 * time.Millisecond
)

// ListenPortable opens a link that uses nothing but the standard library. Listen
// does so by itself where it knows nothing better.
func ListenPortable(address string, o Options) (link.Link, error) {
	if err := o.fill(); err != nil {
		return nil, err
	}
	bind, err := bindAddr(address)
	if err != nil {
		return nil, err
	}
	network := "udp"
	if bind.Addr().Is4() {
		network = "udp4"
	}
	conn, err := net.ListenUDP(network, net.UDPAddrFromAddrPort(bind))
	if err != nil {
		return nil, explain(bind, err)
	}
	// The system may grant less; there is nothing to do about it.
	_ = conn.SetReadBuffer(o.ReadBuffer)
	_ = conn.SetWriteBuffer(o.WriteBuffer)
	local := conn.LocalAddr().(*net.UDPAddr).AddrPort()
	l := &portable{
		conn: conn,
		addr: netip.AddrPortFrom(local.Addr().Unmap(), local.Port()),
		max:  o.MaxDatagram,
		four: bind.Addr().Is4(),
		six:  bind.Addr().Is6() && !bind.Addr().IsUnspecified(),
		box:  mailbox.New(portableQueue),
		done: make(chan struct{}),
	}
	_ = conn.SetWriteDeadline(time.Now().Add(portablePause))
	go l.read()
	return l, nil
}

func (l *portable) read() {
	defer close(l.done)
	buf := make([]byte, l.max+1)
	for {
		n, from, err := l.conn.ReadFromUDPAddrPort(buf)
		switch {
		case errors.Is(err, net.ErrClosed):
			return
		case err != nil && n == 0:
			// Complaints about peers that are gone, which some systems report here.
			continue
		}
		from = netip.AddrPortFrom(from.Addr().Unmap(), from.Port())
		if n > l.max || !l.box.Push(from, buf[:n], nil) {
			l.box.Drop()
		}
	}
}

func (l *portable) Receive(batch []link.Datagram) (int, error) { return l.box.Receive(batch) }
func (l *portable) Wait(d time.Duration) (bool, error)         { return l.box.Wait(d) }
func (l *portable) Wake()                                      { l.box.Wake() }
func (l *portable) MaxDatagram() int                           { return l.max }
func (l *portable) LocalAddr() netip.AddrPort                  { return l.addr }

func (l *portable) Counters() (c link.Counters) {
	l.box.Counters(&c)
	l.tally.Counters(&c)
	return c
}

func (l *portable) Send(batch []link.Datagram) (int, error) {
	var bytes uint64
	for i := range batch {
		if err := l.send(&batch[i]); err != nil {
			l.tally.Took(i, bytes)
			if link.Passing(err) {
				l.tally.Refuse()
			}
			return i, err
		}
		bytes += uint64(len(batch[i].Data))
	}
	l.tally.Took(len(batch), bytes)
	return len(batch), nil
}

func (l *portable) send(d *link.Datagram) error {
	switch a := d.Addr.Addr(); {
	case len(d.Data) > l.max:
		return link.ErrTooLarge
	case !d.Addr.IsValid(), l.four && !a.Unmap().Is4(), l.six && a.Unmap().Is4():
		return link.ErrAddr
	}
	_, err := l.conn.WriteToUDPAddrPort(d.Data, d.Addr)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		// The deadline is an old one, or the buffer is full; only a new one tells. An error
		// in setting it is one of a closed socket, and writing returns it too.
		_ = l.conn.SetWriteDeadline(time.Now().Add(portablePause))
		_, err = l.conn.WriteToUDPAddrPort(d.Data, d.Addr)
	}
	switch {
	case err == nil:
	case errors.Is(err, net.ErrClosed):
		return link.ErrClosed
	case errors.Is(err, os.ErrDeadlineExceeded):
		return link.ErrFull
	default:
		// Unreachable, forbidden or out of buffers: lost, as on the way.
		l.tally.Drop(1)
	}
	return nil
}

func (l *portable) Close() error {
	err := l.conn.Close()
	<-l.done
	l.box.End(link.ErrClosed, false)
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

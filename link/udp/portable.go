package udp

import (
	"net"
	"sync"

	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/link/internal/mailbox"
	"github.com/coeval-dev/coeval/link/internal/plain"
)

// portable is a link over the standard library's socket: a goroutine reads into
// a mailbox. It costs more for each datagram than batches do, and runs everywhere.
// When the system's buffer is full, Send waits a few milliseconds for it.
type portable struct {
	mailbox.Port
	conn   *net.UDPConn
	four   bool // reaches IPv4 only
	six    bool // reaches IPv6 only
	reader sync.WaitGroup
}

const portableQueue = 2048

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
	l := &portable{
		Port: mailbox.Port{
			Box: mailbox.New(portableQueue), Max: o.MaxDatagram, Addr: plain.Local(conn),
		},
		conn: conn,
		four: bind.Addr().Is4(),
		six:  bind.Addr().Is6() && !bind.Addr().IsUnspecified(),
	}
	plain.Start(&l.Port, conn, &l.reader)
	return l, nil
}

func (l *portable) Send(batch []link.Datagram) (int, error) { return l.SendEach(batch, l.send) }

func (l *portable) send(d *link.Datagram) error {
	switch a := d.Addr.Addr(); {
	case len(d.Data) > l.Max:
		return link.ErrTooLarge
	case !d.Addr.IsValid(), l.four && !a.Unmap().Is4(), l.six && a.Unmap().Is4():
		return link.ErrAddr
	}
	return plain.Send(&l.Port, l.conn, d, d.Addr)
}

func (l *portable) Close() error {
	err := plain.Close(l.conn)
	l.reader.Wait()
	l.Box.End(link.ErrClosed, false)
	return err
}

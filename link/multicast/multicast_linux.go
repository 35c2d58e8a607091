package multicast

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/link/internal/mailbox"
)

// member is a link by multicast: a goroutine for each of two sockets reads into one
// mailbox.
type member struct {
	group   netip.AddrPort
	hears   *net.UDPConn // what is sent to the group
	speaks  *net.UDPConn // sends, and hears what is sent to us
	addr    netip.AddrPort
	max     int
	box     *mailbox.Box
	tally   mailbox.Tally
	readers sync.WaitGroup
}

var _ link.Link = (*member)(nil)

const (
	queue = 4096
	pause = 4 * time.Millisecond // for a full buffer of the system's
)

// Open joins a group.
func Open(o Options) (link.Link, error) {
	if err := o.fill(); err != nil {
		return nil, err
	}
	device, err := o.device()
	if err != nil {
		return nil, err
	}
	l := &member{group: o.Group, max: o.MaxDatagram, box: mailbox.New(queue)}
	if l.hears, err = o.hear(device); err != nil {
		return nil, err
	}
	if l.speaks, err = o.speak(device); err != nil {
		l.hears.Close()
		return nil, err
	}
	_ = l.hears.SetReadBuffer(o.ReadBuffer) // the system may grant less
	_ = l.speaks.SetReadBuffer(o.ReadBuffer)
	local := l.speaks.LocalAddr().(*net.UDPAddr).AddrPort()
	l.addr = netip.AddrPortFrom(local.Addr().Unmap(), local.Port())
	if l.addr.Addr().IsUnspecified() {
		if a, ok := o.addressOf(device); ok {
			l.addr = netip.AddrPortFrom(a, local.Port())
		}
	}
	_ = l.speaks.SetWriteDeadline(time.Now().Add(pause))
	for _, c := range []*net.UDPConn{l.hears, l.speaks} {
		l.readers.Go(func() { l.read(c) })
	}
	return l, nil
}

// hear opens the socket that receives what is sent to the group. It is bound to the
// group's address, so that it gets nothing else of that port, and shares it with other
// programs.
func (o *Options) hear(device *net.Interface) (*net.UDPConn, error) {
	conn, err := o.listen(o.Group.String(), func(fd int) error {
		if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEADDR, 1); err != nil {
			return fmt.Errorf("SO_REUSEADDR: %w", err)
		}
		return nil
	}, func(fd int) error { return o.join(fd, device) })
	switch {
	case err == nil:
		return conn, nil
	case errors.Is(err, unix.EADDRINUSE):
		return nil, fmt.Errorf("multicast: port %d is taken by a program that does not share it, choose another port for the group: %w", o.Group.Port(), err)
	case errors.Is(err, unix.ENOBUFS):
		return nil, fmt.Errorf("multicast: this machine is in too many groups, raise net.ipv4.igmp_max_memberships: %w", err)
	}
	return nil, fmt.Errorf("multicast: cannot join %v on %s: check the interface, %s: %w", o.Group, device.Name, mesh, err)
}

// speak opens the socket that all is sent from.
func (o *Options) speak(device *net.Interface) (*net.UDPConn, error) {
	at := o.Listen
	if at == "" {
		at = ":0"
	}
	conn, err := o.listen(at, nil, func(fd int) error { return o.aim(fd, device) })
	switch {
	case err == nil:
		return conn, nil
	case errors.Is(err, unix.EADDRINUSE):
		return nil, fmt.Errorf("multicast: %s is in use, choose another port for unicast (0 for any; not the group's): %w", at, err)
	}
	return nil, fmt.Errorf("multicast: cannot listen on %s: %w", at, err)
}

// listen opens a socket and sets options before and after it is bound.
func (o *Options) listen(at string, before, after func(fd int) error) (*net.UDPConn, error) {
	network := "udp4"
	if o.Group.Addr().Is6() {
		network = "udp6"
	}
	config := net.ListenConfig{Control: func(_, _ string, raw syscall.RawConn) error {
		if before == nil {
			return nil
		}
		return control(raw, before)
	}}
	// Without this a multicast address would be taken for a wish to join at once, on an
	// interface of the system's choice.
	packet, err := config.ListenPacket(context.Background(), network, at)
	if err != nil {
		return nil, err
	}
	conn := packet.(*net.UDPConn)
	raw, err := conn.SyscallConn()
	if err == nil {
		err = control(raw, after)
	}
	if err != nil {
		conn.Close()
		return nil, err
	}
	return conn, nil
}

func control(raw syscall.RawConn, set func(fd int) error) error {
	var failed error
	if err := raw.Control(func(fd uintptr) { failed = set(int(fd)) }); err != nil {
		return err
	}
	return failed
}

// join asks the network for what is sent to the group, on one interface.
func (o *Options) join(fd int, device *net.Interface) error {
	if a := o.Group.Addr(); a.Is4() {
		if err := unix.SetsockoptInt(fd, unix.IPPROTO_IP, unix.IP_MULTICAST_ALL, 0); err != nil {
			return fmt.Errorf("IP_MULTICAST_ALL: %w", err)
		}
		if err := unix.SetsockoptIPMreqn(fd, unix.IPPROTO_IP, unix.IP_ADD_MEMBERSHIP, &unix.IPMreqn{Multiaddr: a.As4(), Ifindex: int32(device.Index)}); err != nil {
			return fmt.Errorf("IP_ADD_MEMBERSHIP: %w", err)
		}
		return nil
	}
	if err := unix.SetsockoptIPv6Mreq(fd, unix.IPPROTO_IPV6, unix.IPV6_JOIN_GROUP, &unix.IPv6Mreq{Multiaddr: o.Group.Addr().As16(), Interface: uint32(device.Index)}); err != nil {
		return fmt.Errorf("IPV6_JOIN_GROUP: %w", err)
	}
	return nil
}

// aim sets by which interface, how far and whether also to this machine datagrams to
// the group go.
func (o *Options) aim(fd int, device *net.Interface) error {
	loop := 1
	if o.NoLoopback {
		loop = 0
	}
	if o.Group.Addr().Is4() {
		if err := unix.SetsockoptIPMreqn(fd, unix.IPPROTO_IP, unix.IP_MULTICAST_IF, &unix.IPMreqn{Ifindex: int32(device.Index)}); err != nil {
			return fmt.Errorf("IP_MULTICAST_IF: %w", err)
		}
		if err := unix.SetsockoptInt(fd, unix.IPPROTO_IP, unix.IP_MULTICAST_TTL, o.TTL); err != nil {
			return fmt.Errorf("IP_MULTICAST_TTL: %w", err)
		}
		return unix.SetsockoptInt(fd, unix.IPPROTO_IP, unix.IP_MULTICAST_LOOP, loop)
	}
	if err := unix.SetsockoptInt(fd, unix.IPPROTO_IPV6, unix.IPV6_MULTICAST_IF, device.Index); err != nil {
		return fmt.Errorf("IPV6_MULTICAST_IF: %w", err)
	}
	if err := unix.SetsockoptInt(fd, unix.IPPROTO_IPV6, unix.IPV6_MULTICAST_HOPS, o.TTL); err != nil {
		return fmt.Errorf("IPV6_MULTICAST_HOPS: %w", err)
	}
	return unix.SetsockoptInt(fd, unix.IPPROTO_IPV6, unix.IPV6_MULTICAST_LOOP, loop)
}

// addressOf is the address of an interface by which others reach it.
func (o *Options) addressOf(device *net.Interface) (netip.Addr, bool) {
	addrs, err := device.Addrs()
	if err != nil {
		return netip.Addr{}, false
	}
	for _, a := range addrs {
		p, err := netip.ParsePrefix(a.String())
		if err == nil && p.Addr().Unmap().Is4() == o.Group.Addr().Is4() {
			return p.Addr().Unmap(), true
		}
	}
	return netip.Addr{}, false
}

func (l *member) read(conn *net.UDPConn) {
	buf := make([]byte, l.max+1)
	for {
		n, from, err := conn.ReadFromUDPAddrPort(buf)
		switch {
		case errors.Is(err, net.ErrClosed):
			return
		case err != nil && n == 0:
			continue // complaints about peers that are gone
		}
		from = netip.AddrPortFrom(from.Addr().Unmap(), from.Port())
		if n > l.max || !l.box.Push(from, buf[:n], nil) {
			l.box.Drop()
		}
	}
}

func (l *member) Receive(batch []link.Datagram) (int, error) { return l.box.Receive(batch) }
func (l *member) Wait(d time.Duration) (bool, error)         { return l.box.Wait(d) }
func (l *member) Wake()                                      { l.box.Wake() }
func (l *member) MaxDatagram() int                           { return l.max }

// LocalAddr is where this machine is reached by unicast.
func (l *member) LocalAddr() netip.AddrPort { return l.addr }

func (l *member) Counters() (c link.Counters) {
	l.box.Counters(&c)
	l.tally.Counters(&c)
	return c
}

func (l *member) Send(batch []link.Datagram) (int, error) {
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

func (l *member) send(d *link.Datagram) error {
	switch {
	case len(d.Data) > l.max:
		return link.ErrTooLarge
	case !d.Addr.IsValid() || d.Addr.Addr().Unmap().Is4() != l.group.Addr().Is4():
		return link.ErrAddr
	}
	to := netip.AddrPortFrom(d.Addr.Addr().Unmap(), d.Addr.Port())
	_, err := l.speaks.WriteToUDPAddrPort(d.Data, to)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		// The deadline is an old one, or the buffer is full; only a new one tells.
		_ = l.speaks.SetWriteDeadline(time.Now().Add(pause))
		_, err = l.speaks.WriteToUDPAddrPort(d.Data, to)
	}
	switch {
	case err == nil:
	case errors.Is(err, net.ErrClosed):
		return link.ErrClosed
	case errors.Is(err, os.ErrDeadlineExceeded):
		return link.ErrFull
	default:
		l.tally.Drop(1) // unreachable, forbidden or out of buffers: lost, as on the way
	}
	return nil
}

// Close leaves the group.
func (l *member) Close() error {
	err := errors.Join(closed(l.speaks.Close()), closed(l.hears.Close()))
	l.readers.Wait()
	l.box.End(link.ErrClosed, false)
	return err
}

// closed passes over that a socket was closed before.
func closed(err error) error {
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

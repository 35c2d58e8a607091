package multicast

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/link/internal/mailbox"
	"github.com/coeval-dev/coeval/link/internal/plain"
)

// member is a link by multicast: a goroutine for each of two sockets reads into one
// mailbox.
type member struct {
	mailbox.Port
	group   netip.AddrPort
	hears   *net.UDPConn // what is sent to the group
	speaks  *net.UDPConn // sends, and hears what is sent to us
	readers sync.WaitGroup
}

var _ link.Link = (*member)(nil)

const queue = 4096

// Open joins a group.
func Open(o Options) (link.Link, error) {
	if err := o.fill(); err != nil {
		return nil, err
	}
	device, err := o.device()
	if err != nil {
		return nil, err
	}
	l := &member{group: o.Group, Port: mailbox.Port{Box: mailbox.New(queue), Max: o.MaxDatagram}}
	if l.hears, err = o.hear(device); err != nil {
		return nil, err
	}
	if l.speaks, err = o.speak(device); err != nil {
		l.hears.Close()
		return nil, err
	}
	_ = l.hears.SetReadBuffer(o.ReadBuffer) // the system may grant less
	_ = l.speaks.SetReadBuffer(o.ReadBuffer)
	l.Addr = plain.Local(l.speaks) // where this machine is reached by unicast
	if l.Addr.Addr().IsUnspecified() {
		if a, ok := o.addressOf(device); ok {
			l.Addr = netip.AddrPortFrom(a, l.Addr.Port())
		}
	}
	plain.Start(&l.Port, l.hears, &l.readers)
	plain.Start(&l.Port, l.speaks, &l.readers)
	return l, nil
}

// hear opens the socket that receives what is sent to the group. It is bound to the
// group's address, so that it gets nothing else of that port, and shares it with other
// programs.
func (o *Options) hear(device *net.Interface) (*net.UDPConn, error) {
	conn, err := o.listen(o.Group.String(), func(fd int) error {
		return named("SO_REUSEADDR", unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEADDR, 1))
	}, func(fd int) error { return o.join(fd, device) })
	switch {
	case err == nil:
		return conn, nil
	case errors.Is(err, unix.EADDRINUSE):
		return nil, fmt.Errorf(
			"multicast: port %d is taken by a program that does not share it, choose another "+
				"port for the group: %w", o.Group.Port(), err)
	case errors.Is(err, unix.ENOBUFS):
		return nil, fmt.Errorf(
			"multicast: this machine is in too many groups, raise net.ipv4.igmp_max_memberships: %w", err)
	}
	return nil, fmt.Errorf("multicast: cannot join %v on %s: check the interface, %s: %w", o.Group,
		device.Name, mesh, err)
}

// speak opens the socket that all is sent from.
func (o *Options) speak(device *net.Interface) (*net.UDPConn, error) {
	at := cmp.Or(o.Listen, ":0")
	conn, err := o.listen(at, nil, func(fd int) error { return o.aim(fd, device) })
	switch {
	case err == nil:
		return conn, nil
	case errors.Is(err, unix.EADDRINUSE):
		return nil, fmt.Errorf(
			"multicast: %s is in use, choose another port for unicast (0 for any; not the "+
				"group's): %w", at, err)
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
		group := &unix.IPMreqn{Multiaddr: a.As4(), Ifindex: int32(device.Index)}
		return cmp.Or(
			named("IP_MULTICAST_ALL",
				unix.SetsockoptInt(fd, unix.IPPROTO_IP, unix.IP_MULTICAST_ALL, 0)),
			named("IP_ADD_MEMBERSHIP",
				unix.SetsockoptIPMreqn(fd, unix.IPPROTO_IP, unix.IP_ADD_MEMBERSHIP, group)))
	}
	group := &unix.IPv6Mreq{Multiaddr: o.Group.Addr().As16(), Interface: uint32(device.Index)}
	return named("IPV6_JOIN_GROUP",
		unix.SetsockoptIPv6Mreq(fd, unix.IPPROTO_IPV6, unix.IPV6_JOIN_GROUP, group))
}

// aim sets by which interface, how far and whether also to this machine datagrams to
// the group go.
func (o *Options) aim(fd int, device *net.Interface) error {
	loop := 1
	if o.NoLoopback {
		loop = 0
	}
	if o.Group.Addr().Is4() {
		by := &unix.IPMreqn{Ifindex: int32(device.Index)}
		return cmp.Or(
			named("IP_MULTICAST_IF",
				unix.SetsockoptIPMreqn(fd, unix.IPPROTO_IP, unix.IP_MULTICAST_IF, by)),
			named("IP_MULTICAST_TTL",
				unix.SetsockoptInt(fd, unix.IPPROTO_IP, unix.IP_MULTICAST_TTL, o.TTL)),
			unix.SetsockoptInt(fd, unix.IPPROTO_IP, unix.IP_MULTICAST_LOOP, loop))
	}
	return cmp.Or(
		named("IPV6_MULTICAST_IF",
			unix.SetsockoptInt(fd, unix.IPPROTO_IPV6, unix.IPV6_MULTICAST_IF, device.Index)),
		named("IPV6_MULTICAST_HOPS",
			unix.SetsockoptInt(fd, unix.IPPROTO_IPV6, unix.IPV6_MULTICAST_HOPS, o.TTL)),
		unix.SetsockoptInt(fd, unix.IPPROTO_IPV6, unix.IPV6_MULTICAST_LOOP, loop))
}

// named says which option could not be set.
func named(option string, err error) error {
	if err != nil {
		return fmt.Errorf("%s: %w", option, err)
	}
	return nil
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

func (l *member) Send(batch []link.Datagram) (int, error) { return l.SendEach(batch, l.send) }

func (l *member) send(d *link.Datagram) error {
	switch {
	case len(d.Data) > l.Max:
		return link.ErrTooLarge
	case !d.Addr.IsValid() || d.Addr.Addr().Unmap().Is4() != l.group.Addr().Is4():
		return link.ErrAddr
	}
	return plain.Send(&l.Port, l.speaks, d,
		netip.AddrPortFrom(d.Addr.Addr().Unmap(), d.Addr.Port()))
}

// Close leaves the group.
func (l *member) Close() error {
	err := plain.Close(l.speaks, l.hears)
	l.readers.Wait()
	l.Box.End(link.ErrClosed, false)
	return err
}

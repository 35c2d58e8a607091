package udp

import (
	"fmt"
	"net/netip"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/link/internal/mailbox"
	"golang.org/x/sys/unix"
)

// socket is a link over a non-blocking socket that the runtime's poller does
// not know. Receive and Wait share the fields of reader, Send those of writer.
type socket struct {
	fd, event int // the socket, and an eventfd that ends a wait
	addr      netip.AddrPort
	max       int
	six       bool // the socket is an IPv6 one and may speak IPv4 as well
	dual      bool
	stamps    bool // datagrams come with the time at which they did
	zones     zones

	// uses counts the calls in progress, and one for being open. Whoever brings it to
	// zero closes the descriptors, so that none is closed, and given to somebody else,
	// while a call still uses it.
	uses   atomic.Int32
	closed atomic.Bool

	reader reader
	writer writer

	received, receivedBytes, droppedIn, calls atomic.Uint64
	tally                                     mailbox.Tally
}

var _ link.Link = (*socket)(nil)

// mmsghdr is the kernel's struct of that name.
type mmsghdr struct {
	hdr unix.Msghdr
	len uint32
}

// Listen opens a link on an address such as ":4000". Port 0 stands for any.
func Listen(address string, o Options) (link.Link, error) {
	l, err := listen(address, o)
	if err != nil {
		return nil, err
	}
	return l, nil
}

func listen(address string, o Options) (*socket, error) {
	if err := o.fill(); err != nil {
		return nil, err
	}
	bind, err := bindAddr(address)
	if err != nil {
		return nil, err
	}
	l := &socket{fd: -1, event: -1, max: o.MaxDatagram}
	l.uses.Store(1)
	if err := l.open(bind); err != nil {
		l.closeAll()
		return nil, explain(bind, err)
	}
	l.ready(&o)
	return l, nil
}

// ready makes room for what comes and goes.
func (l *socket) ready(o *Options) {
	setBuffer(l.fd, unix.SO_RCVBUF, unix.SO_RCVBUFFORCE, o.ReadBuffer)
	setBuffer(l.fd, unix.SO_SNDBUF, unix.SO_SNDBUFFORCE, o.WriteBuffer)
	l.stamps = o.Stamps && unix.SetsockoptInt(l.fd, unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1) == nil
	l.reader.init(l)
	l.writer.init(l, !o.NoSegments && segmentsKnown(l.fd))
}

func (l *socket) open(bind netip.AddrPort) error {
	a := bind.Addr()
	l.six = !a.Is4()
	l.dual = l.six && a.IsUnspecified()
	domain := unix.AF_INET6
	if !l.six {
		domain = unix.AF_INET
	}
	var err error
	l.fd, err = unix.Socket(domain, unix.SOCK_DGRAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC,
		unix.IPPROTO_UDP)
	if err != nil && l.dual {
		// A system without IPv6: all addresses are then all of IPv4.
		l.six, l.dual, a = false, false, netip.IPv4Unspecified()
		l.fd, err = unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC,
			unix.IPPROTO_UDP)
	}
	if err != nil {
		return fmt.Errorf("socket: %w", err)
	}
	if l.six {
		only := 1
		if l.dual {
			only = 0
		}
		if err := unix.SetsockoptInt(l.fd, unix.IPPROTO_IPV6, unix.IPV6_V6ONLY, only); err != nil {
			return fmt.Errorf("IPV6_V6ONLY: %w", err)
		}
	}
	if err := unix.Bind(l.fd, l.sockaddr(netip.AddrPortFrom(a, bind.Port()))); err != nil {
		return err
	}
	return l.bound()
}

// bound finds out which address a socket has, and makes what ends a wait.
func (l *socket) bound() error {
	bound, err := unix.Getsockname(l.fd)
	if err != nil {
		return fmt.Errorf("getsockname: %w", err)
	}
	switch b := bound.(type) {
	case *unix.SockaddrInet4:
		l.addr = netip.AddrPortFrom(netip.AddrFrom4(b.Addr), uint16(b.Port))
	case *unix.SockaddrInet6:
		l.addr = netip.AddrPortFrom(l.zones.with(netip.AddrFrom16(b.Addr), b.ZoneId),
			uint16(b.Port))
	}
	l.event, err = unix.Eventfd(0, unix.EFD_NONBLOCK|unix.EFD_CLOEXEC)
	if err != nil {
		return fmt.Errorf("eventfd: %w", err)
	}
	return nil
}

func (l *socket) sockaddr(a netip.AddrPort) unix.Sockaddr {
	if !l.six {
		return &unix.SockaddrInet4{Port: int(a.Port()), Addr: a.Addr().As4()}
	}
	zone, _ := l.zones.index(a.Addr().Zone())
	return &unix.SockaddrInet6{Port: int(a.Port()), Addr: a.Addr().As16(), ZoneId: zone}
}

// setBuffer asks with the right to exceed the system's limit, and else for as
// much as the limit allows.
func setBuffer(fd, option, force, size int) {
	if unix.SetsockoptInt(fd, unix.SOL_SOCKET, force, size) != nil {
		_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, option, size)
	}
}

// segmentsKnown is whether the kernel has UDP_SEGMENT.
func segmentsKnown(fd int) bool {
	_, err := unix.GetsockoptInt(fd, unix.IPPROTO_UDP, unix.UDP_SEGMENT)
	return err == nil
}

// enter begins a call that uses the descriptors.
func (l *socket) enter() bool {
	if l.closed.Load() {
		return false
	}
	for {
		n := l.uses.Load()
		if n == 0 {
			return false
		}
		if l.uses.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

// leave ends it.
func (l *socket) leave() {
	if l.uses.Add(-1) == 0 {
		l.closeAll()
	}
}

func (l *socket) closeAll() {
	if l.fd >= 0 {
		unix.Close(l.fd)
	}
	if l.event >= 0 {
		unix.Close(l.event)
	}
}

// Close ends a Wait in progress, and frees the port when all calls have
// returned.
func (l *socket) Close() error {
	if !l.closed.CompareAndSwap(false, true) {
		return nil
	}
	l.signal()
	l.leave()
	return nil
}

// one is what an eventfd is written, in the machine's own byte order.
var one = [8]byte{0: 1, 7: 1}

func (l *socket) signal() { _, _ = unix.Write(l.event, one[:]) }

// Wake ends a Wait, or the next.
func (l *socket) Wake() {
	if l.enter() {
		l.signal()
		l.leave()
	}
}

// Wait sleeps in the kernel until the socket is readable.
func (l *socket) Wait(d time.Duration) (bool, error) {
	if !l.enter() {
		return false, link.ErrClosed
	}
	defer l.leave()
	r := &l.reader
	r.poll = [2]unix.PollFd{
		{Fd: int32(l.fd), Events: unix.POLLIN}, {Fd: int32(l.event), Events: unix.POLLIN}}
	var limit *unix.Timespec
	if d >= 0 {
		r.timeout = unix.NsecToTimespec(int64(d))
		limit = &r.timeout
	}
	// The runtime interrupts sleeping threads now and then; to wake early is allowed,
	// but without limit it would be odd.
	for {
		_, err := unix.Ppoll(r.poll[:], limit, nil)
		if err == nil {
			break
		}
		if err != unix.EINTR {
			return false, fmt.Errorf("udp: poll: %w", err)
		}
		if d >= 0 {
			break
		}
	}
	if r.poll[1].Revents != 0 {
		_, _ = unix.Read(l.event, r.event[:])
	}
	if l.closed.Load() {
		return false, link.ErrClosed
	}
	return r.poll[0].Revents&(unix.POLLIN|unix.POLLERR) != 0, nil
}

// MaxDatagram is as in the options.
func (l *socket) MaxDatagram() int { return l.max }

// LocalAddr is where the socket is bound.
func (l *socket) LocalAddr() netip.AddrPort { return l.addr }

// Counters includes what the kernel dropped because the socket's buffer was
// full, or its checksum was wrong.
func (l *socket) Counters() (c link.Counters) {
	l.tally.Counters(&c)
	c.Received, c.ReceivedBytes = l.received.Load(), l.receivedBytes.Load()
	c.DroppedIn = l.droppedIn.Load() + l.kernelDrops()
	return c
}

// kernelDrops asks the kernel for its own count, which costs nothing until it
// is asked for.
func (l *socket) kernelDrops() uint64 {
	if !l.enter() {
		return 0
	}
	defer l.leave()
	const drops = 8 // SK_MEMINFO_DROPS
	var info [drops + 1]uint32
	size := uint32(unsafe.Sizeof(info))
	_, _, errno := unix.Syscall6(unix.SYS_GETSOCKOPT, uintptr(l.fd), unix.SOL_SOCKET,
		unix.SO_MEMINFO,
		uintptr(unsafe.Pointer(&info)), uintptr(unsafe.Pointer(&size)), 0)
	if errno != 0 || size < uint32(unsafe.Sizeof(info)) {
		return 0
	}
	return uint64(info[drops])
}

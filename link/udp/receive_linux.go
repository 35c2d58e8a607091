package udp

import (
	"fmt"
	"net/netip"
	"time"
	"unsafe"

	"github.com/coeval-dev/coeval/link"
	"golang.org/x/sys/unix"
)

// reader is what Receive and Wait work with.
type reader struct {
	msgs  []mmsghdr
	iovs  []unix.Iovec
	names []unix.RawSockaddrInet6 // large enough for an IPv4 address too
	came  []stamp                 // when, if the socket has stamps

	poll    [2]unix.PollFd
	timeout unix.Timespec
	event   [8]byte
}

const (
	firstBatch = 64
	mostAtOnce = 1024 // the kernel's limit for one call
)

func (r *reader) init(l *socket) { r.grow(l, firstBatch) }

// grow makes room for a batch. Buffers handed out before stay good.
func (r *reader) grow(l *socket, n int) {
	r.msgs = make([]mmsghdr, n)
	r.iovs = make([]unix.Iovec, n)
	r.names = make([]unix.RawSockaddrInet6, n)
	// A slot begins at a multiple of 64 bytes, where cache lines do.
	stride := (l.max + 63) &^ 63
	slab := make([]byte, n*stride)
	for i := range r.msgs {
		r.iovs[i].Base = &slab[i*stride]
		r.iovs[i].SetLen(l.max)
		r.msgs[i].hdr = unix.Msghdr{
			Name: (*byte)(unsafe.Pointer(&r.names[i])), Namelen: unix.SizeofSockaddrInet6,
			Iov: &r.iovs[i]}
		r.msgs[i].hdr.SetIovlen(1)
	}
	if l.stamps {
		r.came = make([]stamp, n)
		for i := range r.came {
			r.came[i].room(&r.msgs[i].hdr)
		}
	}
}

// Receive drains the socket with as few calls as batch has room for.
func (l *socket) Receive(batch []link.Datagram) (int, error) {
	if !l.enter() {
		return 0, link.ErrClosed
	}
	defer l.leave()
	r := &l.reader
	if len(batch) > len(r.msgs) {
		r.grow(l, len(batch))
	}
	filled, bytes := 0, uint64(0)
	for filled < len(batch) {
		want := min(len(batch)-filled, mostAtOnce)
		got, errno := recvmmsg(l.fd, r.msgs[filled:filled+want])
		switch errno {
		case 0:
		case unix.EINTR, unix.ECONNREFUSED, unix.EHOSTUNREACH, unix.ENETUNREACH:
			continue // reporting it has cleared it
		default:
			if errno != unix.EAGAIN {
				l.count(filled, bytes)
				return filled, fmt.Errorf("udp: recvmmsg: %w", errno)
			}
		}
		var now time.Time
		if l.stamps && got > 0 {
			now = time.Now()
		}
		first := filled
		for j := first; j < first+got; j++ {
			m := &r.msgs[j]
			size, cut := int(m.len), m.hdr.Flags&unix.MSG_TRUNC != 0
			m.hdr.Namelen = unix.SizeofSockaddrInet6
			waited := time.Duration(0)
			if l.stamps {
				waited = r.came[j].waited(&m.hdr, now)
			}
			if cut {
				l.droppedIn.Add(1)
				continue
			}
			// A dropped one leaves its buffer behind for the next call.
			if j != filled {
				r.iovs[filled].Base, r.iovs[j].Base = r.iovs[j].Base, r.iovs[filled].Base
			}
			batch[filled] = link.Datagram{
				Addr: l.peer(&r.names[j]), Data: unsafe.Slice(r.iovs[filled].Base, size),
				Waited: waited}
			filled++
			bytes += uint64(size)
		}
		if got < want {
			break
		}
	}
	l.count(filled, bytes)
	return filled, nil
}

func (l *socket) count(datagrams int, bytes uint64) {
	if datagrams > 0 {
		l.received.Add(uint64(datagrams))
		l.receivedBytes.Add(bytes)
	}
}

// peer reads the sender's address.
func (l *socket) peer(name *unix.RawSockaddrInet6) netip.AddrPort {
	if name.Family == unix.AF_INET {
		v4 := (*unix.RawSockaddrInet4)(unsafe.Pointer(name))
		return netip.AddrPortFrom(netip.AddrFrom4(v4.Addr), swap(v4.Port))
	}
	a := netip.AddrFrom16(name.Addr).Unmap()
	if name.Scope_id != 0 {
		a = l.zones.with(a, name.Scope_id)
	}
	return netip.AddrPortFrom(a, swap(name.Port))
}

// swap turns a port between the network's byte order and the machine's.
func swap(port uint16) uint16 {
	b := (*[2]byte)(unsafe.Pointer(&port))
	return uint16(b[0])<<8 | uint16(b[1])
}

func recvmmsg(fd int, msgs []mmsghdr) (int, unix.Errno) {
	n, _, errno := unix.Syscall6(unix.SYS_RECVMMSG, uintptr(fd), uintptr(unsafe.Pointer(&msgs[0])),
		uintptr(len(msgs)), unix.MSG_DONTWAIT, 0, 0)
	if errno != 0 {
		return 0, errno
	}
	return int(n), 0
}

package udp

import (
	"fmt"
	"sync/atomic"
	"unsafe"

	"github.com/coeval-dev/coeval/link"
	"golang.org/x/sys/unix"
)

// writer is what Send works with: messages for the kernel, each of one datagram
// or of several that it cuts apart.
type writer struct {
	msgs     []mmsghdr
	names    []unix.RawSockaddrInet6
	controls []segmentControl
	counts   []int // datagrams in each message
	iovs     []unix.Iovec
	segments atomic.Bool
	// replaced to test what loopback never does
	sendmmsg func(fd int, msgs []mmsghdr) (int, unix.Errno)
}

// segmentControl is a control message that says UDP_SEGMENT.
type segmentControl struct {
	hdr  unix.Cmsghdr
	size uint16
	_    [6]byte
}

const (
	sendBatch    = 128   // datagrams for each call of the kernel
	mostSegments = 64    // UDP_MAX_SEGMENTS of older kernels
	mostBytes    = 65000 // of all segments together, with headers below 64 KiB
	mostSegment  = 1452  // what fits into an Ethernet frame with IPv6
)

func (w *writer) init(l *socket, segments bool) {
	w.segments.Store(segments)
	w.sendmmsg = sendmmsg
	w.msgs = make([]mmsghdr, sendBatch)
	w.names = make([]unix.RawSockaddrInet6, sendBatch)
	w.controls = make([]segmentControl, sendBatch)
	w.counts = make([]int, sendBatch)
	w.iovs = make([]unix.Iovec, sendBatch)
	size := uint32(unix.SizeofSockaddrInet6)
	if !l.six {
		size = unix.SizeofSockaddrInet4
	}
	for i := range w.msgs {
		w.msgs[i].hdr = unix.Msghdr{Name: (*byte)(unsafe.Pointer(&w.names[i])), Namelen: size}
		c := &w.controls[i].hdr
		c.Level, c.Type = unix.IPPROTO_UDP, unix.UDP_SEGMENT
		c.SetLen(unix.CmsgLen(2))
	}
}

// Send hands batches to the kernel. What it cannot deliver (no route, forbidden
// by a firewall) is taken and counted as dropped.
func (l *socket) Send(batch []link.Datagram) (int, error) {
	if !l.enter() {
		return 0, link.ErrClosed
	}
	defer l.leave()
	done, bytes := 0, uint64(0)
	var failed error
	for done < len(batch) && failed == nil {
		msgs, err := l.gather(batch[done:])
		if msgs == 0 {
			failed = err
			break
		}
		var taken int
		taken, failed = l.flush(msgs)
		for _, d := range batch[done : done+taken] {
			bytes += uint64(len(d.Data))
		}
		done += taken
	}
	l.tally.Took(done, bytes)
	if failed != nil && link.Passing(failed) {
		l.tally.Refuse()
	}
	return done, failed
}

// gather makes messages of the first datagrams, up to a call's worth or to one
// that cannot be sent; if that is the first it says why.
func (l *socket) gather(batch []link.Datagram) (msgs int, err error) {
	w := &l.writer
	segments := w.segments.Load()
	for i := 0; i < len(batch) && i < sendBatch; {
		d := &batch[i]
		if err := l.prepare(d, &w.names[msgs]); err != nil {
			return msgs, err
		}
		setIovec(&w.iovs[i], d.Data)
		run, size := 1, len(d.Data)
		if segments && size > 0 && size <= mostSegment {
			total := size
			for i+run < len(batch) && i+run < sendBatch && run < mostSegments {
				next := &batch[i+run]
				total += len(next.Data)
				if next.Addr != d.Addr || len(next.Data) > size || len(next.Data) == 0 ||
					total > mostBytes {
					break
				}
				setIovec(&w.iovs[i+run], next.Data)
				run++
				// A shorter one can only be the last.
				if len(next.Data) < size {
					break
				}
			}
		}
		h := &w.msgs[msgs].hdr
		h.Iov = &w.iovs[i]
		h.SetIovlen(run)
		h.Control = nil
		h.SetControllen(0)
		if run > 1 {
			c := &w.controls[msgs]
			c.size = uint16(size)
			h.Control = (*byte)(unsafe.Pointer(c))
			h.SetControllen(unix.CmsgSpace(2))
		}
		w.counts[msgs] = run
		msgs++
		i += run
	}
	return msgs, nil
}

// prepare checks a datagram and writes down where it goes.
func (l *socket) prepare(d *link.Datagram, name *unix.RawSockaddrInet6) error {
	if len(d.Data) > l.max {
		return link.ErrTooLarge
	}
	a := d.Addr.Addr()
	if !l.six {
		if !a.Is4() && !a.Is4In6() {
			return link.ErrAddr
		}
		v4 := (*unix.RawSockaddrInet4)(unsafe.Pointer(name))
		v4.Family, v4.Port, v4.Addr = unix.AF_INET, swap(d.Addr.Port()), a.As4()
		return nil
	}
	if !a.IsValid() || (a.Is4() || a.Is4In6()) && !l.dual {
		return link.ErrAddr
	}
	name.Family, name.Port, name.Addr, name.Scope_id = unix.AF_INET6, swap(d.Addr.Port()), a.As16(),
		0
	if zone := a.Zone(); zone != "" {
		var ok bool
		if name.Scope_id, ok = l.zones.index(zone); !ok {
			return link.ErrAddr
		}
	}
	return nil
}

// flush sends the gathered messages and returns how many datagrams that took
// care of.
func (l *socket) flush(msgs int) (datagrams int, err error) {
	w := &l.writer
	for i := 0; i < msgs; {
		n, errno := w.sendmmsg(l.fd, w.msgs[i:msgs])
		l.calls.Add(1)
		if errno == 0 {
			for _, c := range w.counts[i : i+n] {
				datagrams += c
			}
			i += n
			continue
		}
		// The error is about the first message.
		switch errno {
		case unix.EINTR, unix.ECONNREFUSED:
			continue
		case unix.EAGAIN, unix.ENOBUFS, unix.ENOMEM:
			return datagrams, link.ErrFull
		case unix.EBADF, unix.ENOTSOCK, unix.EFAULT:
			return datagrams, fmt.Errorf("udp: sendmmsg: %w", errno)
		}
		if w.counts[i] > 1 {
			// This device or path does not do segments. From here on they go one by one, and
			// the rest of the messages is gathered anew.
			w.segments.Store(false)
			return datagrams, nil
		}
		if errno == unix.EMSGSIZE {
			return datagrams, link.ErrTooLarge
		}
		l.tally.Drop(1)
		datagrams++
		i++
	}
	return datagrams, nil
}

func setIovec(v *unix.Iovec, data []byte) {
	v.Base = unsafe.SliceData(data)
	v.SetLen(len(data))
}

func sendmmsg(fd int, msgs []mmsghdr) (int, unix.Errno) {
	n, _, errno := unix.Syscall6(unix.SYS_SENDMMSG, uintptr(fd), uintptr(unsafe.Pointer(&msgs[0])),
		uintptr(len(msgs)), unix.MSG_DONTWAIT, 0, 0)
	if errno != 0 {
		return 0, errno
	}
	return int(n), 0
}

package udp

import (
	"errors"
	"fmt"

	"github.com/coeval-dev/coeval/link"
	"golang.org/x/sys/unix"
)

// Share gives another descriptor of a link's socket, for a program that takes this one's place: it
// is passed on, and closed here. What comes goes to whichever of the two asks first, so only one
// may ask at a time.
func Share(l link.Link) (fd int, err error) {
	s, ok := l.(*socket)
	if !ok || !s.enter() {
		return -1, errors.New("udp: the link has no socket to share")
	}
	defer s.leave()
	fd, err = unix.FcntlInt(uintptr(s.fd), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return -1, fmt.Errorf("udp: %w", err)
	}
	return fd, nil
}

// Adopt makes a link of a socket that another program has shared. The descriptor is the link's from
// now on, also if it cannot be used.
func Adopt(fd int, o Options) (link.Link, error) {
	l := &socket{fd: fd, event: -1}
	l.uses.Store(1)
	err := o.fill()
	if err == nil {
		l.max = o.MaxDatagram
		err = l.adopt()
	}
	if err != nil {
		l.closeAll()
		return nil, fmt.Errorf("udp: a socket that was handed over: %w", err)
	}
	l.ready(&o)
	return l, nil
}

// adopt finds out what kind of socket it is.
func (l *socket) adopt() error {
	kind, err := unix.GetsockoptInt(l.fd, unix.SOL_SOCKET, unix.SO_TYPE)
	if err == nil && kind != unix.SOCK_DGRAM {
		err = errors.New("it is not one for datagrams")
	}
	if err != nil {
		return err
	}
	domain, err := unix.GetsockoptInt(l.fd, unix.SOL_SOCKET, unix.SO_DOMAIN)
	if err != nil {
		return err
	}
	l.six = domain == unix.AF_INET6
	if err := unix.SetNonblock(l.fd, true); err != nil {
		return err
	}
	if l.six {
		only, err := unix.GetsockoptInt(l.fd, unix.IPPROTO_IPV6, unix.IPV6_V6ONLY)
		if err != nil {
			return err
		}
		l.dual = only == 0
	}
	return l.bound()
}

package network

import (
	"fmt"
	"net"
	"net/netip"

	"golang.org/x/sys/unix"

	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/link/udp"
)

// open makes a socket that may broadcast, and shares its port with others that do.
func open(listen string, to netip.AddrPort) (link.Link, error) {
	if to.Addr().Is6() {
		return fallback(listen)
	}
	at, err := net.ResolveUDPAddr("udp4", listen)
	if err != nil {
		return nil, fmt.Errorf("cannot listen on %s: %w", listen, err)
	}
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	bind := &unix.SockaddrInet4{Port: at.Port}
	if ip := at.IP.To4(); ip != nil {
		bind.Addr = [4]byte(ip)
	}
	for _, option := range []int{unix.SO_REUSEADDR, unix.SO_BROADCAST} {
		if err == nil {
			err = unix.SetsockoptInt(fd, unix.SOL_SOCKET, option, 1)
		}
	}
	if err == nil {
		err = unix.Bind(fd, bind)
	}
	if err != nil {
		unix.Close(fd)
		return nil, fmt.Errorf("cannot listen on %s; choose another address or port to listen "+
			"on: %w", listen, err)
	}
	return udp.Adopt(fd, udp.Options{MaxDatagram: maxDatagram, NoSegments: true})
}

package udp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"syscall"
)

// Options are for Listen; the zero value will do.
type Options struct {
	// MaxDatagram is the largest datagram carried, 1200 when zero, which gets through
	// practically everywhere. Larger ones that arrive are dropped and counted.
	MaxDatagram int
	// ReadBuffer and WriteBuffer are the sizes of the socket's queues in bytes, 4 MiB
	// when zero. The system may grant less.
	ReadBuffer, WriteBuffer int
	// NoSegments turns UDP_SEGMENT off.
	NoSegments bool
	// Stamps has datagrams say for how long they Waited, by the time at which the kernel took them
	// in. On Linux; elsewhere it is not known.
	Stamps bool
}

const (
	defaultMax    = 1200
	defaultBuffer = 4 << 20
	largest       = 65507 // what fits into an IPv4 packet
)

func (o *Options) fill() error {
	o.MaxDatagram = cmp.Or(o.MaxDatagram, defaultMax)
	if o.MaxDatagram < 1 || o.MaxDatagram > largest {
		return fmt.Errorf("udp: a largest datagram of %d bytes is impossible, choose 1 to %d",
			o.MaxDatagram, largest)
	}
	o.ReadBuffer = cmp.Or(o.ReadBuffer, defaultBuffer)
	o.WriteBuffer = cmp.Or(o.WriteBuffer, defaultBuffer)
	if o.ReadBuffer < 0 || o.WriteBuffer < 0 {
		return errors.New("udp: a socket's buffer cannot be smaller than nothing")
	}
	return nil
}

// Resolve turns what a person writes, such as "play.example.org:4000" or
// "192.0.2.7:4000", into the address of a peer. It asks the name service if it must.
func Resolve(ctx context.Context, address string) (netip.AddrPort, error) {
	host, port, err := split(address)
	if err != nil {
		return netip.AddrPort{}, err
	}
	if host == "" {
		return netip.AddrPort{},
			fmt.Errorf("udp: address %q names no host, write it like 192.0.2.7:4000", address)
	}
	if port == 0 {
		return netip.AddrPort{},
			fmt.Errorf("udp: address %q has no port to send to, write it like %s:4000", address,
				host)
	}
	return lookUp(ctx, host, port)
}

// bindAddr turns the address to listen on into one to bind; no host means all.
func bindAddr(address string) (netip.AddrPort, error) {
	host, port, err := split(address)
	if err != nil {
		return netip.AddrPort{}, err
	}
	if host == "" {
		return netip.AddrPortFrom(netip.IPv6Unspecified(), port), nil
	}
	return lookUp(context.Background(), host, port)
}

func split(address string) (host string, port uint16, err error) {
	host, service, err := net.SplitHostPort(address)
	if err != nil {
		return "", 0,
			fmt.Errorf("udp: bad address %q, write it like 192.0.2.7:4000, [2001:db8::7]:4000 or "+
				":4000", address)
	}
	n, err := strconv.ParseUint(service, 10, 16)
	if err != nil {
		return "", 0,
			fmt.Errorf("udp: bad port %q in %q, use a number from 0 to 65535", service, address)
	}
	return host, uint16(n), nil
}

func lookUp(ctx context.Context, host string, port uint16) (netip.AddrPort, error) {
	if a, err := netip.ParseAddr(host); err == nil {
		return netip.AddrPortFrom(a.Unmap(), port), nil
	}
	found, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil || len(found) == 0 {
		return netip.AddrPort{},
			fmt.Errorf("udp: host %q is not known, check its name: %w", host, err)
	}
	// IPv4 first: it is the one that more networks carry.
	best := found[0].Unmap()
	for _, a := range found {
		if a.Unmap().Is4() {
			best = a.Unmap()
			break
		}
	}
	return netip.AddrPortFrom(best, port), nil
}

// explain says what to do about an error of bind.
func explain(addr netip.AddrPort, err error) error {
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return fmt.Errorf(
			"udp: port %d is in use on %v, stop the program that has it or choose another port "+
				"(0 for any): %w", addr.Port(), addr.Addr(), err)
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return fmt.Errorf(
			"udp: %v is not an address of this machine, use 0.0.0.0 or [::] to listen on all: %w",
			addr.Addr(), err)
	case errors.Is(err, syscall.EACCES), errors.Is(err, syscall.EPERM):
		return fmt.Errorf("udp: port %d on %v needs privileges, choose a port above 1023: %w",
			addr.Port(), addr.Addr(), err)
	}
	return fmt.Errorf("udp: cannot listen on %v: %w", addr, err)
}

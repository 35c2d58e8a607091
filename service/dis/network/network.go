package network

import (
	"errors"
	"fmt"
	"iter"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/link/multicast"
	"github.com/coeval-dev/coeval/link/udp"
)

// Port is that of DIS, where nobody says otherwise.
const Port = 3000

// maxDatagram is the largest PDU.
const maxDatagram = 8192

// Options say how to take part. The zero value broadcasts to port 3000 of this network.
type Options struct {
	// To is where PDUs go: a broadcast address such as 192.0.2.255:3000 or 255.255.255.255, the
	// address of a multicast group, or of one other program. The port is 3000 if none is named.
	// Empty: 255.255.255.255.
	To string
	// Listen is where PDUs come in by broadcast and unicast. Empty: the port of To at any address.
	// By multicast, it is the port from which PDUs are sent, any if it is empty.
	Listen string
	// Interface is the network interface to use for multicast. Empty: the one that routes choose.
	Interface string
	// TTL is how many routers multicast may pass. Zero means 1.
	TTL int
}

// Network is a way to the others of an exercise.
type Network struct {
	link  link.Link
	to    netip.AddrPort
	batch [64]link.Datagram
	own   netip.AddrPort
	here  map[netip.Addr]bool // addresses of this machine
}

// Join opens a way to the others.
func Join(o Options) (*Network, error) {
	to, err := address(o.To)
	if err != nil {
		return nil, err
	}
	n := &Network{to: to}
	switch {
	case to.Addr().IsMulticast():
		n.link, err = multicast.Open(multicast.Options{Group: to, Interface: o.Interface,
			TTL: o.TTL, Listen: o.Listen, MaxDatagram: maxDatagram})
	default:
		listen := o.Listen
		if listen == "" {
			listen = ":" + strconv.Itoa(int(to.Port()))
		}
		n.link, err = open(listen, to)
	}
	if err != nil {
		return nil, fmt.Errorf("dis: %w", err)
	}
	n.own = n.link.LocalAddr()
	n.here = map[netip.Addr]bool{n.own.Addr(): true}
	all, _ := net.InterfaceAddrs() // without them we hear ourselves, and know it by our name
	for _, a := range all {
		if p, err := netip.ParsePrefix(a.String()); err == nil {
			n.here[p.Addr().Unmap()] = true
		}
	}
	return n, nil
}

// echo says whether a datagram is our own, as multicast and broadcast bring it back.
func (n *Network) echo(from netip.AddrPort) bool {
	return from.Port() == n.own.Port() && n.here[from.Addr()] &&
		(n.to.Addr().IsMulticast() || from != n.to && n.to.Port() == n.own.Port())
}

// address reads where PDUs go.
func address(text string) (netip.AddrPort, error) {
	if text == "" {
		text = "255.255.255.255"
	}
	if a, err := netip.ParseAddr(strings.Trim(text, "[]")); err == nil {
		return netip.AddrPortFrom(a.Unmap(), Port), nil
	}
	a, err := netip.ParseAddrPort(text)
	if err != nil || a.Port() == 0 {
		return a, fmt.Errorf("dis: %q is no address to send to: name one such as "+
			"239.1.2.3:3000 (multicast), 192.0.2.255:3000 (broadcast) or 192.0.2.7:3000", text)
	}
	return netip.AddrPortFrom(a.Addr().Unmap(), a.Port()), nil
}

// To is where PDUs go.
func (n *Network) To() netip.AddrPort { return n.to }

// Addr is where this program is reached by unicast.
func (n *Network) Addr() netip.AddrPort { return n.own }

// Send sends a datagram to the others. That the network is busy is no error.
func (n *Network) Send(data []byte) error {
	_, err := n.link.Send([]link.Datagram{{Addr: n.to, Data: data}})
	if err == nil || errors.Is(err, link.ErrFull) {
		return nil
	}
	return fmt.Errorf("dis: cannot send to %v: %w", n.to, err)
}

// Receive waits for datagrams for at most so long, and goes through all that are there. Their data
// are good until the next. An error is the last.
func (n *Network) Receive(wait time.Duration) iter.Seq2[link.Datagram, error] {
	return func(yield func(link.Datagram, error) bool) {
		if _, err := n.link.Wait(wait); err != nil {
			yield(link.Datagram{}, fmt.Errorf("dis: %w", err))
			return
		}
		for {
			got, err := n.link.Receive(n.batch[:])
			if err != nil {
				yield(link.Datagram{}, fmt.Errorf("dis: %w", err))
				return
			}
			for _, d := range n.batch[:got] {
				if d.Data == nil || n.echo(d.Addr) {
					continue
				}
				if !yield(d, nil) {
					return
				}
			}
			if got < len(n.batch) {
				return
			}
		}
	}
}

// Counters say what the way has carried and lost.
func (n *Network) Counters() link.Counters { return n.link.Counters() }

// Close leaves.
func (n *Network) Close() error { return n.link.Close() }

// fallback is a socket that broadcasts nothing and shares its port with nobody.
func fallback(listen string) (link.Link, error) {
	return udp.Listen(listen, udp.Options{MaxDatagram: maxDatagram})
}

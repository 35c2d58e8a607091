package multicast

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
)

// Options are for Open. Only Group has no default.
type Options struct {
	// Group is the address and port of the group, like 239.1.2.3:4000 or
	// [ff12::1234]:4000. Addresses of 239.0.0.0/8 and ff12::/16 are free for use within
	// an organisation.
	Group netip.AddrPort
	// Interface is the network interface to use, like eth0. Empty: the one that the
	// system's routes choose for the group.
	Interface string
	// TTL is how many routers a datagram may pass. Zero means 1: it stays on the segment.
	TTL int
	// NoLoopback keeps datagrams from programs on this machine, this one included.
	NoLoopback bool
	// Listen is where this machine is reached by unicast, like :4000. Empty: any port.
	Listen string
	// MaxDatagram is the largest datagram carried, 1200 when zero.
	MaxDatagram int
	// ReadBuffer is the size of each socket's queue in bytes, 4 MiB when zero. The system
	// may grant less.
	ReadBuffer int
}

// mesh is the way out where there is no multicast.
const mesh = "or use a unicast mesh instead: leave out the group and give each member's address (coeval crimp --mesh)"

func (o *Options) fill() error {
	a := o.Group.Addr()
	switch {
	case !o.Group.IsValid() || o.Group.Port() == 0:
		return errors.New("multicast: no group, choose an address and port like 239.1.2.3:4000")
	case !a.IsMulticast() || a.Is4In6():
		return fmt.Errorf(
			"multicast: %v is no multicast address, choose one of 239.0.0.0/8 or ff12::/16", a)
	case o.TTL < 0 || o.TTL > 255:
		return fmt.Errorf("multicast: a TTL of %d, choose 1 to 255", o.TTL)
	case o.MaxDatagram < 0 || o.MaxDatagram > 65507 || o.ReadBuffer < 0:
		return fmt.Errorf("multicast: datagrams of %d bytes and a buffer of %d make no sense",
			o.MaxDatagram, o.ReadBuffer)
	}
	o.TTL = cmp.Or(o.TTL, 1)
	o.MaxDatagram = cmp.Or(o.MaxDatagram, 1200)
	o.ReadBuffer = cmp.Or(o.ReadBuffer, 4<<20)
	return nil
}

// device finds the interface to use: the one that is named, or the one by which the
// system would send to the group.
func (o *Options) device() (*net.Interface, error) {
	if name := cmp.Or(o.Interface, o.Group.Addr().Zone()); name != "" {
		i, err := net.InterfaceByName(name)
		if err != nil {
			return nil, fmt.Errorf("multicast: there is no interface %q, this machine has %s", name,
				usable())
		}
		return i, able(i)
	}
	conn, err := net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(o.Group)) // sends nothing
	if err != nil {
		return nil, fmt.Errorf(
			"multicast: no route to the group %v: name an interface (this machine has %s), add a "+
				"route like \"ip route add 224.0.0.0/4 dev eth0\", %s: %w",
			o.Group.Addr(), usable(), mesh, err)
	}
	local := conn.LocalAddr().(*net.UDPAddr).AddrPort().Addr().Unmap().WithZone("")
	conn.Close()
	all, err := net.Interfaces()
	if err != nil {
		return nil, fmt.Errorf("multicast: %w", err)
	}
	for i := range all {
		addrs, err := all[i].Addrs()
		if err != nil {
			continue
		}
		for _, a := range addrs {
			if p, err := netip.ParsePrefix(a.String()); err == nil &&
				p.Addr().Unmap().WithZone("") == local {
				return &all[i], able(&all[i])
			}
		}
	}
	return nil, fmt.Errorf("multicast: the interface with %v is not known, name one of %s", local,
		usable())
}

// able says what keeps an interface from multicast. The loopback interface does without the
// flag, which few systems set.
func able(i *net.Interface) error {
	switch {
	case i.Flags&net.FlagUp == 0:
		return fmt.Errorf(
			"multicast: interface %s is down: bring it up (ip link set %s up), name another of "+
				"%s, %s", i.Name, i.Name, usable(), mesh)
	case i.Flags&(net.FlagMulticast|net.FlagLoopback) == 0:
		return fmt.Errorf("multicast: interface %s does not do multicast: name another of %s, %s",
			i.Name, usable(), mesh)
	}
	return nil
}

// usable lists the interfaces that could be named.
func usable() string {
	all, _ := net.Interfaces()
	var names []string
	for i := range all {
		if all[i].Flags&net.FlagUp != 0 && all[i].Flags&(net.FlagMulticast|net.FlagLoopback) != 0 {
			names = append(names, all[i].Name)
		}
	}
	return cmp.Or(strings.Join(names, ", "), "none that does multicast")
}

package udp

import (
	"net"
	"net/netip"
	"slices"
)

// Candidates lists the addresses at which others may reach a socket that is bound to local, as far
// as this machine knows: the one it is bound to, or those of all interfaces that are up, IPv4
// before IPv6. How a router makes it known outside is not among them. Package paths tries them.
func Candidates(local netip.AddrPort) []netip.AddrPort {
	if ip := local.Addr().Unmap(); ip.IsValid() && !ip.IsUnspecified() {
		return []netip.AddrPort{netip.AddrPortFrom(ip, local.Port())}
	}
	addrs, err := net.InterfaceAddrs()
	if err != nil {
		return nil // there are routers still
	}
	return candidates(addrs, local)
}

func candidates(addrs []net.Addr, local netip.AddrPort) []netip.AddrPort {
	var four, six []netip.AddrPort
	for _, a := range addrs {
		n, ok := a.(*net.IPNet)
		if !ok {
			continue
		}
		ip, ok := netip.AddrFromSlice(n.IP)
		ip = ip.Unmap()
		if !ok || ip.IsLoopback() || ip.IsLinkLocalUnicast() || ip.IsMulticast() {
			continue
		}
		if at := netip.AddrPortFrom(ip, local.Port()); ip.Is4() {
			four = append(four, at)
		} else if local.Addr().Is6() {
			six = append(six, at)
		}
	}
	return slices.Concat(four, six)
}

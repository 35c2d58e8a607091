package udp

import (
	"net"
	"net/netip"
	"strconv"
	"sync/atomic"
)

// zones knows the numbers of the interfaces that link-local addresses name.
type zones struct{ last atomic.Pointer[zone] }

type zone struct {
	name  string
	index uint32
}

// with adds a zone to an address.
func (z *zones) with(a netip.Addr, index uint32) netip.Addr {
	if index == 0 || !a.IsLinkLocalUnicast() && !a.IsLinkLocalMulticast() {
		return a
	}
	last := z.last.Load()
	if last == nil || last.index != index {
		last = &zone{zoneName(index), index}
		z.last.Store(last)
	}
	return a.WithZone(last.name)
}

// index finds the number of a zone.
func (z *zones) index(name string) (uint32, bool) {
	if name == "" {
		return 0, true
	}
	if last := z.last.Load(); last != nil && last.name == name {
		return last.index, true
	}
	i, ok := zoneIndex(name)
	if ok {
		z.last.Store(&zone{name, i})
	}
	return i, ok
}

// zoneName is the name of an interface, or its number if it has none any more.
func zoneName(index uint32) string {
	if i, err := net.InterfaceByIndex(int(index)); err == nil {
		return i.Name
	}
	return strconv.FormatUint(uint64(index), 10)
}

// zoneIndex is the number of an interface.
func zoneIndex(name string) (uint32, bool) {
	if n, err := strconv.ParseUint(name, 10, 32); err == nil {
		return uint32(n), true
	}
	i, err := net.InterfaceByName(name)
	if err != nil {
		return 0, false
	}
	return uint32(i.Index), true
}

package link

import (
	"encoding/binary"
	"net/netip"
)

// Carrier tells apart the kinds of link that number their sessions.
type Carrier uint16

// The carriers with sessions.
const (
	WebSocket    Carrier = 1
	WebTransport Carrier = 2
	Member       Carrier = 3 // of a group, wherever it is just now: see package paths
)

// sessionPrefix lies in the range that RFC 4193 sets aside for private use, so
// it collides with no address that a UDP peer can have on the public internet.
var sessionPrefix = [6]byte{0xfd, 'c', 'o', 'e', 'v', 'a'}

// sessionPort is the same for all: the address alone tells sessions apart.
const sessionPort = 1

// SessionAddr is the address by which a carrier names its nth session. Layers
// above that know peers by address then need not know about sessions.
func SessionAddr(c Carrier, n uint64) netip.AddrPort {
	var a [16]byte
	copy(a[:], sessionPrefix[:])
	binary.BigEndian.PutUint16(a[6:], uint16(c))
	binary.BigEndian.PutUint64(a[8:], n)
	return netip.AddrPortFrom(netip.AddrFrom16(a), sessionPort)
}

// Session says which carrier and session an address names, and false for the
// address of a real host.
func Session(addr netip.AddrPort) (c Carrier, n uint64, ok bool) {
	a := addr.Addr().As16()
	if [6]byte(a[:6]) != sessionPrefix || addr.Port() != sessionPort {
		return 0, 0, false
	}
	return Carrier(binary.BigEndian.Uint16(a[6:])), binary.BigEndian.Uint64(a[8:]), true
}

package wire

import "net/netip"

// A Server is another one of the same game, at which a player can go on: it has the same keys, and
// knows of the same players.
type Server struct {
	Addr netip.AddrPort
	Name string // what players read, such as the name of a city
	Load uint8  // in percent
}

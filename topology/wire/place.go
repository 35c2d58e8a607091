package wire

import "net/netip"

// A Place is another server of the same game, at which a player can go on: one that has the same keys, and knows of the same players.
type Place struct {
	Addr netip.AddrPort
	Name string // what players read, such as the name of a city
	Load uint8  // in percent
}

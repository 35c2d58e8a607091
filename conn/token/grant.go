package token

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
)

// Limits of what a token can say. They keep a handshake within one datagram.
const (
	MaxServers  = 16
	MaxUserData = 256
	SecretSize  = 32
	IDSize      = 16
)

// Grant is what a token says to a server: who may come, to where, until when.
type Grant struct {
	// Protocol names the game; see ProtocolID. A server of another game refuses.
	Protocol uint64
	// Client is the player, as the issuer counts players. A player who connects
	// twice takes over from the first connection.
	Client uint64
	// Expires is the second (Unix time) from which the token no longer lets anyone in.
	Expires int64
	// Servers are the addresses at which the token may be used, in the order in
	// which the client tries them. None means any server that holds the key, and
	// then the client must be told an address by other means.
	Servers []netip.AddrPort
	// UserData is for the game: a name, a team, a rank. The client cannot read or
	// change it.
	UserData []byte
	// Resumed is set in tickets, by which a server lets a player return.
	Resumed bool
	// ID tells tokens apart; it is how a server knows one it has seen. Issue draws it.
	ID [IDSize]byte
	// Secret is shared by client and server, and nobody else. Issue draws it.
	Secret [SecretSize]byte
}

// ProtocolID makes the number that stands for a game in tokens and handshakes
// from the game's name.
func ProtocolID(game string) uint64 {
	sum := sha256.Sum256([]byte("coeval game " + game))
	return binary.BigEndian.Uint64(sum[:])
}

// Names reports whether the token may be used at a server known by any of the
// given addresses. A grant without servers may be used anywhere.
func (g *Grant) Names(addresses []netip.AddrPort) bool {
	if len(g.Servers) == 0 {
		return true
	}
	for _, s := range g.Servers {
		for _, a := range addresses {
			if s == a {
				return true
			}
		}
	}
	return false
}

// ErrMalformed says that bytes are not what they were said to be. It is all that
// a decoder tells, because who sends garbage is owed no explanation.
var ErrMalformed = errors.New("token: malformed")

func (g *Grant) check() error {
	switch {
	case len(g.Servers) > MaxServers:
		return fmt.Errorf("token: %d servers, at most %d fit", len(g.Servers), MaxServers)
	case len(g.UserData) > MaxUserData:
		return fmt.Errorf("token: %d bytes of user data, at most %d fit", len(g.UserData), MaxUserData)
	case g.Expires <= 0:
		return errors.New("token: no time of expiry, set Expires to a Unix time in the future")
	}
	for _, s := range g.Servers {
		if !s.IsValid() || s.Port() == 0 || s.Addr().Zone() != "" {
			return fmt.Errorf("token: server address %v: want an address without zone, and a port", s)
		}
	}
	return nil
}

// appendServers writes a list of addresses: a count, then for each a family (4 or
// 6), the address and the port.
func appendServers(b []byte, servers []netip.AddrPort) []byte {
	b = append(b, byte(len(servers)))
	for _, s := range servers {
		a := s.Addr().Unmap()
		if a.Is4() {
			v := a.As4()
			b = append(append(b, 4), v[:]...)
		} else {
			v := a.As16()
			b = append(append(b, 6), v[:]...)
		}
		b = binary.BigEndian.AppendUint16(b, s.Port())
	}
	return b
}

// readServers is the inverse of appendServers and returns what follows the list.
func readServers(b []byte) ([]netip.AddrPort, []byte, error) {
	if len(b) < 1 || b[0] > MaxServers {
		return nil, nil, ErrMalformed
	}
	n := int(b[0])
	b = b[1:]
	if n == 0 {
		return nil, b, nil
	}
	servers := make([]netip.AddrPort, 0, n)
	for range n {
		if len(b) < 1 {
			return nil, nil, ErrMalformed
		}
		size := 0
		switch b[0] {
		case 4:
			size = 4
		case 6:
			size = 16
		default:
			return nil, nil, ErrMalformed
		}
		if len(b) < 1+size+2 {
			return nil, nil, ErrMalformed
		}
		a, _ := netip.AddrFromSlice(b[1 : 1+size])
		port := binary.BigEndian.Uint16(b[1+size:])
		if port == 0 || a.Is4In6() {
			return nil, nil, ErrMalformed
		}
		servers = append(servers, netip.AddrPortFrom(a, port))
		b = b[1+size+2:]
	}
	return servers, b, nil
}

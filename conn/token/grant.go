package token

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"slices"

	"github.com/coeval-dev/coeval/bits"
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
	return slices.ContainsFunc(g.Servers, func(a netip.AddrPort) bool {
		return slices.Contains(addresses, a)
	})
}

// ErrMalformed says that bytes are not what they were said to be. It is all that
// a decoder tells, because who sends garbage is owed no explanation.
var ErrMalformed = errors.New("token: malformed")

func (g *Grant) check() error {
	switch {
	case len(g.Servers) > MaxServers:
		return fmt.Errorf("token: %d servers, at most %d fit", len(g.Servers), MaxServers)
	case len(g.UserData) > MaxUserData:
		return fmt.Errorf("token: %d bytes of user data, at most %d fit", len(g.UserData),
			MaxUserData)
	case g.Expires <= 0:
		return errors.New("token: no time of expiry, set Expires to a Unix time in the future")
	}
	for _, s := range g.Servers {
		if !s.IsValid() || s.Port() == 0 || s.Addr().Zone() != "" {
			return fmt.Errorf("token: server address %v: want an address without zone, and a port",
				s)
		}
	}
	return nil
}

// fields reads or writes what only a holder of the key can read.
func (g *Grant) fields(c *bits.Cursor) {
	c.Raw(g.ID[:])
	c.U64(&g.Client)
	c.Raw(g.Secret[:])
	c.Bool(&g.Resumed)
	servers(c, &g.Servers)
	n := uint16(len(g.UserData))
	if c.U16(&n); n > 0 {
		c.Check(n <= MaxUserData)
		c.Bytes(&g.UserData, int(n))
	}
}

// inClear reads or writes what anyone can read, and no one can change.
func (g *Grant) inClear(c *bits.Cursor) {
	version, expires := byte(sealedVersion), uint64(g.Expires)
	c.U8(&version)
	c.U64(&g.Protocol)
	c.U64(&expires)
	g.Expires = int64(expires)
	c.Check(version == sealedVersion && g.Expires > 0)
}

// servers is a list of addresses: a count, then each of them.
func servers(c *bits.Cursor, list *[]netip.AddrPort) {
	n := byte(len(*list))
	c.U8(&n)
	c.Check(n <= MaxServers)
	if c.Reading() && c.OK() && n > 0 {
		*list = make([]netip.AddrPort, n)
	}
	for i := 0; i < int(n) && c.OK(); i++ {
		c.Addr(&(*list)[i])
		c.Check(!c.Reading() || (*list)[i].Port() != 0)
	}
}

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
	// Resumed is set in tickets, by which a server lets a player return. A ticket names the servers
	// that the token before it named, those of a group where one of them belongs to one.
	Resumed bool
	// Issued is the second (Unix time) at which the player was given the first token, from which
	// all tickets since have come; it is handed on from each to the next. Zero, in a token, means
	// that the issuer does not say, and then it counts from when a server lets the player in.
	Issued int64
	// Until is the second from which no ticket lets the player in that has come from this token,
	// whatever else servers allow. Zero leaves it to them.
	Until int64
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
		return slices.ContainsFunc(addresses, func(b netip.AddrPort) bool {
			return plain(a) == plain(b)
		})
	})
}

// plain is an address in the form that tokens have: IPv4 as such.
func plain(a netip.AddrPort) netip.AddrPort {
	return netip.AddrPortFrom(a.Addr().Unmap(), a.Port())
}

// Ticket is the grant for the same player to come back with, good before the given second and no
// longer than the player may come back at all: most seconds after the first token was issued, or
// from now on where no one has said when that was. It reports false if that is over. Where the
// grant names servers, the ticket names the group as well, as far as there is room, the group
// first: the servers among which the player may move.
func (g *Grant) Ticket(now, life, most int64, group []netip.AddrPort) (Grant, bool) {
	t := Grant{Protocol: g.Protocol, Client: g.Client, UserData: g.UserData, Resumed: true,
		Issued: g.Issued, Until: g.Until}
	if t.Issued == 0 {
		t.Issued = max(now, 1)
	}
	t.Expires = min(now+life, t.End(most))
	if len(g.Servers) > 0 {
		for _, list := range [][]netip.AddrPort{group, g.Servers} {
			for _, a := range list {
				a = plain(a)
				if len(t.Servers) < MaxServers && names(a) && !slices.Contains(t.Servers, a) {
					t.Servers = append(t.Servers, a)
				}
			}
		}
	}
	return t, t.Expires > now
}

// End is the second from which no ticket lets the player in, where that may be most seconds after
// the first token was issued.
func (g *Grant) End(most int64) int64 {
	end := g.Issued + most
	if g.Until != 0 {
		end = min(end, g.Until)
	}
	return end
}

// names says whether a token can name a server by an address.
func names(a netip.AddrPort) bool {
	return a.IsValid() && a.Port() != 0 && a.Addr().Zone() == ""
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
	case g.Issued < 0 || g.Until < 0:
		return fmt.Errorf("token: issued at %d, until %d: want Unix times, or zeros", g.Issued,
			g.Until)
	case g.Resumed && g.Issued == 0:
		return errors.New("token: a ticket must say when the first token was issued")
	}
	for _, s := range g.Servers {
		if !names(s) {
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
	second(c, &g.Issued)
	second(c, &g.Until)
	c.Check(!g.Resumed || g.Issued != 0)
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

// second is a Unix time that may be zero.
func second(c *bits.Cursor, at *int64) {
	n := uint64(*at)
	c.U64(&n)
	*at = int64(n)
	c.Check(*at >= 0)
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

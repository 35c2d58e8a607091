package query

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/binary"
	"net/netip"
	"time"
)

const (
	cookieSize = 16
	cookieMark = 8 // bytes of the digest: eight of time, then these
	cookieKey  = 29
	cookieLife = time.Minute
)

// cookies let a server know an address again that has received an answer, without remembering it:
// a cookie is a digest of a secret, the address, its port and the time, which only who receives
// datagrams there can bring back. What is digested fills one block of SHA-256, always, so that
// nothing can be appended.
type cookies struct {
	in [cookieKey + 16 + 2 + 8]byte // begins with the secret
}

func newCookies(secret *[32]byte) (c cookies) {
	sum := sha256.Sum256(secret[:])
	copy(c.in[:cookieKey], sum[:])
	return c
}

func (c *cookies) bake(addr netip.AddrPort, at uint64) (k Cookie) {
	a := addr.Addr().As16()
	in := c.in[cookieKey:]
	copy(in, a[:])
	binary.BigEndian.PutUint16(in[16:], addr.Port())
	binary.BigEndian.PutUint64(in[18:], at)
	sum := sha256.Sum256(c.in[:])
	binary.BigEndian.PutUint64(k[:], at)
	copy(k[8:], sum[:cookieMark])
	return k
}

// give makes a cookie for an address.
func (c *cookies) give(addr netip.AddrPort, now time.Duration) Cookie {
	return c.bake(addr, uint64(now/time.Second)+1)
}

// good says whether a cookie was given to the address, and not long ago.
func (c *cookies) good(k *Cookie, addr netip.AddrPort, now time.Duration) bool {
	at := binary.BigEndian.Uint64(k[:])
	if age := uint64(now/time.Second) + 1 - at; at == 0 || age > uint64(cookieLife/time.Second) {
		return false
	}
	want := c.bake(addr, at)
	return subtle.ConstantTimeCompare(want[:], k[:]) == 1
}

package conn

import (
	"crypto/hmac"
	"crypto/sha256"
	"net/netip"
	"time"

	"github.com/coeval-dev/coeval/conn/seed"
)

// cookies let a server recognise an address that it has challenged without
// remembering it: a cookie is a keyed digest of the address, the client's nonce
// and the time, and only who receives datagrams at the address can return it.
//
// The digest is SHA-256 of a secret and what the cookie is for. All of it fits into one block,
// which is always full, so that it costs a fifth of what HMAC does and nothing can be appended.
type cookies struct {
	in [cookieKey + 16 + 2 + 4 + nonceSize]byte // begins with the key
}

// cookieKey is as long as one block of SHA-256, without its padding, leaves room for.
const cookieKey = 17

// cookieLife is generous, since an answer may be resent over a bad network.
const cookieLife = 20 * time.Second

const cookieSize = 4 + proofSize

func newCookies(r *seed.Reader) cookies {
	var c cookies
	r.Read(c.in[:cookieKey])
	return c
}

// cookieTime counts in sixteenths of a second.
func cookieTime(now time.Duration) uint32 { return uint32(now / (time.Second / 16)) }

// bake appends the cookie for an address. It allocates nothing, because it is
// done for anyone who asks.
func (c *cookies) bake(b []byte, addr netip.AddrPort, nonce []byte, at uint32) []byte {
	a := addr.Addr().As16()
	in := c.in[cookieKey:]
	copy(in, a[:])
	be.PutUint16(in[16:], addr.Port())
	be.PutUint32(in[18:], at)
	copy(in[22:], nonce)
	sum := sha256.Sum256(c.in[:])
	b = be.AppendUint32(b, at)
	return append(b, sum[:proofSize]...)
}

// good reports whether a cookie was baked here, for this address and nonce, not
// too long ago.
func (c *cookies) good(cookie []byte, addr netip.AddrPort, nonce []byte, now time.Duration) bool {
	at := be.Uint32(cookie)
	if age := cookieTime(now) - at; age > uint32(cookieLife/(time.Second/16)) {
		return false
	}
	var want [cookieSize]byte
	c.bake(want[:0], addr, nonce, at)
	return hmac.Equal(want[4:], cookie[4:cookieSize])
}

package token

import (
	"errors"
	"fmt"
	"io"

	"github.com/coeval-dev/coeval/bits"
	"golang.org/x/crypto/chacha20poly1305"
)

// The sealed letter:
//
//	version 1 | protocol 8 | expires 8 | nonce 24 | XChaCha20-Poly1305 of the rest, tag 16
//
// The first seventeen bytes stand in clear and are authenticated, so that a client
// can see whether its token is still good. XChaCha's nonce is long enough to be
// drawn at random by any number of issuers that share one key.
const (
	sealedVersion = 2
	clearSize     = 1 + 8 + 8
	nonceSize     = chacha20poly1305.NonceSizeX
	tagSize       = chacha20poly1305.Overhead

	grantMin = IDSize + 8 + SecretSize + 1 + 8 + 8 + 1 + 2
	grantMax = grantMin + MaxServers*(1+16+2) + MaxUserData

	// SealedMin and SealedMax bound the length of a sealed letter.
	SealedMin = clearSize + nonceSize + grantMin + tagSize
	SealedMax = clearSize + nonceSize + grantMax + tagSize
)

// ErrKeyMismatch says that a letter was sealed with another key, or altered.
var ErrKeyMismatch = errors.New(
	"token: sealed with another key, or altered: issuer and server must hold the same key")

// seal writes the letter for a grant whose ID and Secret are set.
func seal(key *Key, g *Grant, nonce *[nonceSize]byte) ([]byte, error) {
	aead, err := chacha20poly1305.NewX(key[:])
	if err != nil {
		return nil, fmt.Errorf("token: seal: %w", err)
	}
	plain := bits.CursorTo(make([]byte, 0, grantMax))
	g.fields(&plain)
	size := clearSize + nonceSize + len(plain.Data()) + tagSize
	out := bits.CursorTo(make([]byte, 0, size))
	g.inClear(&out)
	out.Raw(nonce[:])
	return aead.Seal(out.Data(), nonce[:], plain.Data(), out.Data()[:clearSize]), nil
}

// Open reads a sealed letter with the key it was sealed with. It says nothing of
// whether the grant has expired or is meant for this server: that is for the
// caller, who knows the time and its own address.
func Open(key Key, sealed []byte) (Grant, error) {
	var g Grant
	if err := g.readClear(sealed); err != nil {
		return Grant{}, err
	}
	aead, err := chacha20poly1305.NewX(key[:])
	if err != nil {
		return Grant{}, fmt.Errorf("token: open: %w", err)
	}
	nonce := sealed[clearSize : clearSize+nonceSize]
	b, err := aead.Open(nil, nonce, sealed[clearSize+nonceSize:], sealed[:clearSize])
	if err != nil {
		return Grant{}, ErrKeyMismatch
	}
	// From here on the bytes are those of a holder of the key, but a newer or a
	// broken issuer may still have written something else.
	c := bits.CursorOver(b)
	if g.fields(&c); !c.Done() {
		return Grant{}, ErrMalformed
	}
	return g, nil
}

// readClear fills in the part of a letter that anyone can read.
func (g *Grant) readClear(sealed []byte) error {
	c := bits.CursorOver(sealed)
	if g.inClear(&c); !c.OK() || len(sealed) < SealedMin || len(sealed) > SealedMax {
		return ErrMalformed
	}
	return nil
}

// draw fills b from a source of randomness.
func draw(entropy io.Reader, b []byte) error {
	if _, err := io.ReadFull(entropy, b); err != nil {
		return fmt.Errorf("token: draw randomness: %w", err)
	}
	return nil
}

package token

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

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
	sealedVersion = 1
	clearSize     = 1 + 8 + 8
	nonceSize     = chacha20poly1305.NonceSizeX
	tagSize       = chacha20poly1305.Overhead

	grantMin = IDSize + 8 + SecretSize + 1 + 1 + 2
	grantMax = grantMin + MaxServers*(1+16+2) + MaxUserData

	// SealedMin and SealedMax bound the length of a sealed letter.
	SealedMin = clearSize + nonceSize + grantMin + tagSize
	SealedMax = clearSize + nonceSize + grantMax + tagSize
)

const flagResumed = 1

// ErrKeyMismatch says that a letter was sealed with another key, or altered.
var ErrKeyMismatch = errors.New("token: sealed with another key, or altered: issuer and server must hold the same key")

// seal writes the letter for a grant whose ID and Secret are set.
func seal(key *Key, g *Grant, nonce *[nonceSize]byte) ([]byte, error) {
	aead, err := chacha20poly1305.NewX(key[:])
	if err != nil {
		return nil, fmt.Errorf("token: seal: %w", err)
	}
	plain := make([]byte, 0, grantMax)
	plain = append(plain, g.ID[:]...)
	plain = binary.BigEndian.AppendUint64(plain, g.Client)
	plain = append(plain, g.Secret[:]...)
	var flags byte
	if g.Resumed {
		flags |= flagResumed
	}
	plain = append(plain, flags)
	plain = appendServers(plain, g.Servers)
	plain = binary.BigEndian.AppendUint16(plain, uint16(len(g.UserData)))
	plain = append(plain, g.UserData...)

	out := make([]byte, 0, clearSize+nonceSize+len(plain)+tagSize)
	out = append(out, sealedVersion)
	out = binary.BigEndian.AppendUint64(out, g.Protocol)
	out = binary.BigEndian.AppendUint64(out, uint64(g.Expires))
	out = append(out, nonce[:]...)
	return aead.Seal(out, nonce[:], plain, out[:clearSize]), nil
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
	if len(b) < grantMin {
		return Grant{}, ErrMalformed
	}
	b = b[copy(g.ID[:], b):]
	g.Client = binary.BigEndian.Uint64(b)
	b = b[8:]
	b = b[copy(g.Secret[:], b):]
	if b[0]&^flagResumed != 0 {
		return Grant{}, ErrMalformed
	}
	g.Resumed = b[0]&flagResumed != 0
	if g.Servers, b, err = readServers(b[1:]); err != nil {
		return Grant{}, err
	}
	if len(b) < 2 || int(binary.BigEndian.Uint16(b)) != len(b)-2 || len(b)-2 > MaxUserData {
		return Grant{}, ErrMalformed
	}
	if len(b) > 2 {
		g.UserData = b[2:]
	}
	return g, nil
}

// readClear fills in the part of a letter that anyone can read.
func (g *Grant) readClear(sealed []byte) error {
	if len(sealed) < SealedMin || len(sealed) > SealedMax || sealed[0] != sealedVersion {
		return ErrMalformed
	}
	g.Protocol = binary.BigEndian.Uint64(sealed[1:])
	g.Expires = int64(binary.BigEndian.Uint64(sealed[9:]))
	if g.Expires <= 0 {
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

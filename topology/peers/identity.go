package peers

import (
	"crypto/ecdh"
	"crypto/ed25519"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/binary"
	"errors"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/member"
)

// An identity is what a player's machine keeps secret. By its public part, the card, the others
// know it again when it returns.
type identity struct {
	sign  ed25519.PrivateKey
	agree *ecdh.PrivateKey
}

// A card is the public part of an identity.
type card struct {
	sign  [32]byte // Ed25519
	agree [32]byte // X25519
	name  string
}

func newIdentity(seed [32]byte) (*identity, error) {
	part := func(what string) []byte {
		sum := sha256.Sum256(append([]byte("coeval peer "+what+" "), seed[:]...))
		return sum[:]
	}
	agree, err := ecdh.X25519().NewPrivateKey(part("agrees"))
	if err != nil {
		return nil, err
	}
	return &identity{sign: ed25519.NewKeyFromSeed(part("signs")), agree: agree}, nil
}

func (id *identity) card(name string) card {
	c := card{name: name}
	copy(c.sign[:], id.sign.Public().(ed25519.PublicKey))
	copy(c.agree[:], id.agree.PublicKey().Bytes())
	return c
}

func (c *card) fields(k *bits.Cursor) {
	k.Raw(c.sign[:])
	k.Raw(c.agree[:])
	k.Text8(&c.name, maxName)
}

func (c *card) signed(text []byte, s *[64]byte) bool {
	return ed25519.Verify(c.sign[:], text, s[:])
}

// statement is what is signed: what it is about, in which match, and the words.
func statement(about string, match *[32]byte, words ...[]byte) []byte {
	b := append([]byte("coeval peers "), about...)
	b = append(b, 0)
	b = append(b, match[:]...)
	for _, w := range words {
		b = append(b, w...)
	}
	return b
}

func (id *identity) signs(text []byte) (s [64]byte) {
	copy(s[:], ed25519.Sign(id.sign, text))
	return s
}

var errKeys = errors.New("peers: the keys of a card cannot be used")

// pairKey is the key of the connection between two members. Nobody else has it, not even another
// member: it takes the secret half of one of the two.
func (id *identity) pairKey(other *card, match *[32]byte, a, b member.ID) (token.Key, error) {
	public, err := ecdh.X25519().NewPublicKey(other.agree[:])
	if err != nil {
		return token.Key{}, errKeys
	}
	secret, err := id.agree.ECDH(public)
	if err != nil {
		return token.Key{}, errKeys
	}
	info := binary.BigEndian.AppendUint16(nil, uint16(min(a, b)))
	info = binary.BigEndian.AppendUint16(info, uint16(max(a, b)))
	key, err := hkdf.Key(sha256.New, secret, match[:], "coeval pair "+string(info), token.KeySize)
	if err != nil {
		return token.Key{}, err
	}
	return token.Key(key), nil
}

// doorKey is the key by which those who have been invited knock.
func doorKey(secret *[32]byte) token.Key {
	return sha256.Sum256(append([]byte("coeval door "), secret[:]...))
}

// seed32 draws a seed for another machine.
func (p *Peer) seed32() (s [32]byte) {
	_, _ = p.rand.Read(s[:])
	return s
}

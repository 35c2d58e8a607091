package conn

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
)

const (
	nonceSize = 16 // of the handshake's fresh randomness, each side
	keySize   = 16
	ivSize    = 12
	proofSize = 16
)

// maxNumber bounds the packets of a connection, each way; keys are renewed long before. At 60 a
// second it lasts for two years.
const maxNumber = 1<<32 - 1<<17

// direction seals or opens the packets that go one way. Both ways have one key, so
// that the cipher's tables are in the processor's cache once, and nonces that differ in
// their first bit.
type direction struct {
	aead  cipher.AEAD
	nonce [ivSize]byte // here, so that handing it to the cipher does not allocate
	low   uint32       // the last four bytes of it, for number zero
}

func newDirection(aead cipher.AEAD, iv []byte, toClient bool) direction {
	d := direction{aead: aead, low: be.Uint32(iv[8:])}
	copy(d.nonce[:], iv)
	d.nonce[0] &= 0x7f
	if toClient {
		d.nonce[0] |= 0x80
	}
	return d
}

// number sets the nonce for a packet: the connection's own bytes, with the number
// folded into the last four. No number is used twice in a direction, so no nonce is.
func (d *direction) number(n uint32) []byte {
	be.PutUint32(d.nonce[8:], d.low^n)
	return d.nonce[:]
}

// session is the keys of one connection.
type session struct {
	toServer, toClient direction
}

func newSession(key, iv []byte) session {
	block, err := aes.NewCipher(key)
	if err != nil {
		panic("conn: " + err.Error()) // only for a key of the wrong size
	}
	aead, err := cipher.NewGCMWithTagSize(block, tagSize)
	if err != nil {
		panic("conn: " + err.Error())
	}
	return session{newDirection(aead, iv, false), newDirection(aead, iv, true)}
}

// secrets derived from a token, by which each side proves that it knows it.
type handshakeKeys struct {
	proof, refusal, accept [32]byte
}

func deriveHandshake(secret *[32]byte) (k handshakeKeys) {
	expandKey(k.proof[:], secret[:], "coeval 2 proof")
	expandKey(k.refusal[:], secret[:], "coeval 2 refusal")
	expandKey(k.accept[:], secret[:], "coeval 2 accept")
	return k
}

// transcript is all that both sides must agree on before keys are made.
type transcript struct {
	protocol     uint64
	version      uint32
	clientNonce  [nonceSize]byte
	serverNonce  [nonceSize]byte
	client       identifier
	sealedDigest [32]byte // of the token, so that keys belong to one token
	clientShare  [shareSize]byte
	serverShare  [shareSize]byte
}

// chain is the secret of one generation of keys, from which they and the next secret are made, and
// from which none before can be.
type chain [32]byte

// deriveSession makes the first secret of a connection from the token's secret, the one that both
// sides have agreed on, and fresh randomness of both. Who learns the token's later still lacks the
// other, of which no one has kept a part. As long as either side draws its nonce honestly the
// keys have never been used before, whatever the other has forgotten in a restart.
func deriveSession(secret *[32]byte, shared *[shareSize]byte, t *transcript) (ch chain) {
	salt := make([]byte, 0, 2*nonceSize)
	salt = append(append(salt, t.clientNonce[:]...), t.serverNonce[:]...)
	both := append(append(make([]byte, 0, 32+shareSize), secret[:]...), shared[:]...)
	prk, err := hkdf.Extract(sha256.New, both, salt)
	if err != nil {
		panic("conn: " + err.Error())
	}
	clear(both)
	info := []byte("coeval 2 session")
	info = be.AppendUint64(info, t.protocol)
	info = be.AppendUint32(info, t.version)
	info = appendIdentifier(info, t.client)
	info = append(info, t.sealedDigest[:]...)
	info = append(info, t.clientShare[:]...)
	info = append(info, t.serverShare[:]...)
	expandKey(ch[:], prk, string(info))
	return ch
}

// next is the secret of the next generation.
func (ch *chain) next() (n chain) {
	expandKey(n[:], ch[:], "coeval 2 next")
	return n
}

// material is the key and the nonces' base of a generation.
func (ch *chain) material() (key, iv []byte) {
	okm := make([]byte, keySize+ivSize)
	expandKey(okm, ch[:], "coeval 2 key")
	return okm[:keySize], okm[keySize:]
}

// keys are those of a generation.
func (ch *chain) keys() session { return newSession(ch.material()) }

func expandKey(out, prk []byte, info string) {
	b, err := hkdf.Expand(sha256.New, prk, info, len(out))
	if err != nil {
		panic("conn: " + err.Error()) // only for lengths beyond 8160
	}
	copy(out, b)
}

// authenticate is HMAC-SHA-256 cut to proofSize.
func authenticate(key []byte, parts ...[]byte) (sum [proofSize]byte) {
	h := hmac.New(sha256.New, key)
	for _, p := range parts {
		h.Write(p)
	}
	copy(sum[:], h.Sum(nil))
	return sum
}

package directory

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"

	"github.com/coeval-dev/coeval/conn/token"
)

// SignatureHeader is where a request has its signature, in base64.
const SignatureHeader = "Coeval-Signature"

// Sign signs a request: what is asked at a path, with this body.
func Sign(key ed25519.PrivateKey, path string, body []byte) string {
	return base64.StdEncoding.EncodeToString(ed25519.Sign(key, signed(path, body)))
}

// signed is what a signature is of.
func signed(path string, body []byte) []byte {
	b := make([]byte, 0, len(path)+len(body)+24)
	b = append(b, "coeval directory 1\n"...)
	b = append(append(b, path...), '\n')
	return append(b, body...)
}

var errSignature = errors.New("the signature is not of the key that the entry was registered with")

// verify checks a signature.
func verify(key ed25519.PublicKey, path string, body []byte, signature string) error {
	if len(signature) > 128 {
		return errSignature
	}
	sig, err := base64.StdEncoding.DecodeString(signature)
	if err != nil || !ed25519.Verify(key, signed(path, body), sig) {
		return errSignature
	}
	return nil
}

// parseKey reads a public key.
func parseKey(text string) (ed25519.PublicKey, error) {
	if len(text) == 2*ed25519.PublicKeySize {
		if key, err := hex.DecodeString(text); err == nil {
			return key, nil
		}
	}
	return nil, errors.New("the key is not one of Ed25519, in 64 hexadecimal digits")
}

// IDSize is the length of an ID in bytes; as text it has twice as many digits.
const IDSize = 16

// IDOf is the ID of what registers with a key.
func IDOf(key ed25519.PublicKey) (id [IDSize]byte) {
	sum := sha256.Sum256(append([]byte("coeval directory entry "), key...))
	copy(id[:], sum[:])
	return id
}

// Fingerprint tells which key opens tokens, and nothing else of it.
func Fingerprint(k token.Key) string {
	sum := sha256.Sum256(append([]byte("coeval directory token key "), k[:]...))
	return hex.EncodeToString(sum[:8])
}

// GroupKey is the key that mirrors of a group register with: all that have the same token key, game
// and name have the same.
func GroupKey(k token.Key, game, name string) ed25519.PrivateKey {
	sum := sha256.New()
	sum.Write([]byte("coeval directory group "))
	sum.Write(k[:])
	sum.Write([]byte(game + "\n" + name))
	return ed25519.NewKeyFromSeed(sum.Sum(nil))
}

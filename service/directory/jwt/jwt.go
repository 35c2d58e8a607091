// Package jwt knows accounts by signed JSON Web Tokens (RFC 7519): HS256 by a shared secret, EdDSA
// by a public key of Ed25519. It is an example of a directory.Verifier, and enough for a backend
// that signs who its players are:
//
//	{"sub": "42", "exp": 1800000000, "name": "ada"}
//
// sub is the player's number, above zero. exp must be there. What the token's own header says of
// how it is signed counts only if it is what the key is for.
package jwt

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/coeval-dev/coeval/service/directory"
)

// A Verifier checks tokens by one key.
type Verifier struct {
	algorithm string
	verify    func(signed, signature []byte) bool
	// Now is the time. Default: the machine's.
	Now func() time.Time
}

var _ directory.Verifier = (*Verifier)(nil)

// leastSecret is how many bytes a secret of HS256 must have (RFC 7518, section 3.2).
const leastSecret = 32

// New makes a verifier of a file: a public key of Ed25519 in PEM, or else a secret for HS256.
func New(file []byte) (*Verifier, error) {
	v := &Verifier{Now: time.Now}
	if block, _ := pem.Decode(file); block != nil {
		key, err := x509.ParsePKIXPublicKey(block.Bytes)
		public, ok := key.(ed25519.PublicKey)
		if err != nil || !ok {
			return nil, errors.New("the PEM file has no public key of Ed25519")
		}
		v.algorithm = "EdDSA"
		v.verify = func(signed, sig []byte) bool { return ed25519.Verify(public, signed, sig) }
		return v, nil
	}
	secret := bytes.TrimSpace(file)
	if len(secret) < leastSecret {
		return nil, errors.New("the secret has less than 32 bytes: draw a longer one, or give a " +
			"public key in PEM")
	}
	v.algorithm = "HS256"
	v.verify = func(signed, sig []byte) bool {
		m := hmac.New(sha256.New, secret)
		m.Write(signed)
		return hmac.Equal(m.Sum(nil), sig)
	}
	return v, nil
}

var errBad = errors.New("the account's token is not good: sign in again")

// Verify checks a token, and says whose it is.
func (v *Verifier) Verify(_ context.Context, token string) (out directory.Account, err error) {
	parts := strings.Split(token, ".")
	if len(token) > 4096 || len(parts) != 3 {
		return out, errBad
	}
	var raw [3][]byte
	for i, p := range parts {
		if raw[i], err = base64.RawURLEncoding.Strict().DecodeString(p); err != nil {
			return out, errBad
		}
	}
	var header struct {
		Algorithm string          `json:"alg"`
		Critical  json.RawMessage `json:"crit"`
	}
	if json.Unmarshal(raw[0], &header) != nil || header.Algorithm != v.algorithm ||
		header.Critical != nil || !v.verify([]byte(parts[0]+"."+parts[1]), raw[2]) {
		return out, errBad
	}
	var claims struct {
		Subject string  `json:"sub"`
		Expires float64 `json:"exp"`
		Before  float64 `json:"nbf"`
		Name    string  `json:"name"`
	}
	if json.Unmarshal(raw[1], &claims) != nil {
		return out, errBad
	}
	now := float64(v.Now().Unix())
	if claims.Expires <= now || claims.Before > now {
		return out, errors.New("the account's token has expired: sign in again")
	}
	n, err := strconv.ParseUint(claims.Subject, 10, 64)
	if err != nil || n == 0 {
		return out, errors.New("the account's token has no number as its sub: the backend must " +
			"sign one")
	}
	return directory.Account{Client: n, Name: claims.Name}, nil
}

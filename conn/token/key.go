package token

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"
)

// KeySize is the length of a Key in bytes.
const KeySize = 32

// Key is what the issuer of tokens and the servers that accept them share. Who
// holds it can let anyone in as anybody, so it belongs in a file that only the
// server can read, never in a client.
type Key [KeySize]byte

// keyPrefix makes a key recognisable in a file, and by scanners for leaked secrets.
const keyPrefix = "coeval-key-1:"

// NewKey draws a key from a source of randomness, which must be a good one:
// crypto/rand.Reader.
func NewKey(entropy io.Reader) (Key, error) {
	var k Key
	if _, err := io.ReadFull(entropy, k[:]); err != nil {
		return Key{}, fmt.Errorf("token: draw key: %w", err)
	}
	return k, nil
}

// ErrKey says that a text is not a key.
var ErrKey = errors.New("token: not a key: want " + keyPrefix +
	" and 64 hexadecimal digits, as \"coeval token key\" prints")

// ParseKey reads the text form of a key, ignoring space around it, so that a
// key file may end in a newline.
func ParseKey(text string) (Key, error) {
	var k Key
	digits, ok := strings.CutPrefix(strings.TrimSpace(text), keyPrefix)
	if !ok || len(digits) != 2*KeySize {
		return Key{}, ErrKey
	}
	if _, err := hex.Decode(k[:], []byte(digits)); err != nil {
		return Key{}, ErrKey
	}
	return k, nil
}

// Text is the form in which a key is kept in a file. It is not called String, so
// that a key cannot slip into a log by way of a print statement.
func (k Key) Text() string { return keyPrefix + hex.EncodeToString(k[:]) }

// String hides the key.
func (k Key) String() string { return "token.Key(hidden)" }

// GoString hides the key from %#v as well.
func (k Key) GoString() string { return k.String() }

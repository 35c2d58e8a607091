package token

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io"
	"net/netip"
	"strings"
)

// Token is what a client is given in order to connect: the sealed letter for the
// server, and what the client itself must know. Send it to the client over a
// channel that nobody else can read, like https.
type Token struct {
	// Protocol and Expires are those of the grant.
	Protocol uint64
	Expires  int64
	// Servers are tried in order.
	Servers []netip.AddrPort
	// Secret is shared with the server by way of the letter.
	Secret [SecretSize]byte
	// Sealed is the letter.
	Sealed []byte
}

// MaxSize bounds the binary form of a token.
const MaxSize = 1 + 2 + SealedMax + SecretSize + 1 + MaxServers*(1+16+2)

const (
	tokenVersion = 1
	textPrefix   = "coeval-token-1:"
)

// Issue seals a grant into a token. It draws the grant's ID and Secret anew, so
// one Grant value may be issued many times.
func Issue(key Key, g Grant, entropy io.Reader) (Token, error) {
	if err := g.check(); err != nil {
		return Token{}, err
	}
	var nonce [nonceSize]byte
	for _, b := range [][]byte{g.ID[:], g.Secret[:], nonce[:]} {
		if err := draw(entropy, b); err != nil {
			return Token{}, err
		}
	}
	sealed, err := seal(&key, &g, &nonce)
	if err != nil {
		return Token{}, err
	}
	return Token{
		Protocol: g.Protocol,
		Expires:  g.Expires,
		Servers:  append([]netip.AddrPort(nil), g.Servers...),
		Secret:   g.Secret,
		Sealed:   sealed,
	}, nil
}

// Append writes the binary form of a token, in which it is kept and sent.
func (t *Token) Append(b []byte) []byte {
	b = append(b, tokenVersion)
	b = binary.BigEndian.AppendUint16(b, uint16(len(t.Sealed)))
	b = append(b, t.Sealed...)
	b = append(b, t.Secret[:]...)
	return appendServers(b, t.Servers)
}

// Parse reads the binary form of a token. The result does not refer to b.
func Parse(b []byte) (Token, error) {
	if len(b) < 3 || b[0] != tokenVersion {
		return Token{}, ErrMalformed
	}
	n := int(binary.BigEndian.Uint16(b[1:]))
	b = b[3:]
	if len(b) < n+SecretSize+1 {
		return Token{}, ErrMalformed
	}
	var g Grant
	if err := g.readClear(b[:n]); err != nil {
		return Token{}, err
	}
	t := Token{Protocol: g.Protocol, Expires: g.Expires, Sealed: append([]byte(nil), b[:n]...)}
	b = b[n:]
	b = b[copy(t.Secret[:], b):]
	servers, rest, err := readServers(b)
	if err != nil {
		return Token{}, err
	}
	if len(rest) != 0 {
		return Token{}, ErrMalformed
	}
	t.Servers = servers
	return t, nil
}

// Text is the form of a token that can be pasted and put into a URL.
func (t *Token) Text() string {
	return textPrefix + base64.RawURLEncoding.EncodeToString(t.Append(nil))
}

// ParseText reads the text form of a token, ignoring space around it.
func ParseText(text string) (Token, error) {
	digits, ok := strings.CutPrefix(strings.TrimSpace(text), textPrefix)
	if !ok {
		return Token{}, fmt.Errorf("%w: want %s and the rest, as \"coeval token issue\" prints", ErrMalformed, textPrefix)
	}
	b, err := base64.RawURLEncoding.Strict().DecodeString(digits)
	if err != nil {
		return Token{}, fmt.Errorf("%w: not base64: was it cut short?", ErrMalformed)
	}
	return Parse(b)
}

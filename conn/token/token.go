package token

import (
	"encoding/base64"
	"fmt"
	"io"
	"net/netip"
	"slices"
	"strings"

	"github.com/coeval-dev/coeval/bits"
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
		Servers:  slices.Clone(g.Servers),
		Secret:   g.Secret,
		Sealed:   sealed,
	}, nil
}

// Append writes the binary form of a token, in which it is kept and sent.
func (t *Token) Append(b []byte) []byte {
	c := bits.CursorTo(b)
	t.fields(&c)
	return c.Data()
}

// Parse reads the binary form of a token. The result does not refer to b.
func Parse(b []byte) (Token, error) {
	var t Token
	c := bits.CursorOver(b)
	if t.fields(&c); !c.Done() {
		return Token{}, ErrMalformed
	}
	var g Grant
	if err := g.readClear(t.Sealed); err != nil {
		return Token{}, err
	}
	t.Protocol, t.Expires, t.Sealed = g.Protocol, g.Expires, slices.Clone(t.Sealed)
	return t, nil
}

func (t *Token) fields(c *bits.Cursor) {
	version, n := byte(tokenVersion), uint16(len(t.Sealed))
	c.U8(&version)
	c.Check(version == tokenVersion)
	c.U16(&n)
	c.Bytes(&t.Sealed, int(n))
	c.Raw(t.Secret[:])
	servers(c, &t.Servers)
}

// Text is the form of a token that can be pasted and put into a URL.
func (t *Token) Text() string {
	return textPrefix + base64.RawURLEncoding.EncodeToString(t.Append(nil))
}

// ParseText reads the text form of a token, ignoring space around it.
func ParseText(text string) (Token, error) {
	digits, ok := strings.CutPrefix(strings.TrimSpace(text), textPrefix)
	if !ok {
		return Token{},
			fmt.Errorf("%w: want %s and the rest, as \"coeval token issue\" prints", ErrMalformed,
				textPrefix)
	}
	b, err := base64.RawURLEncoding.Strict().DecodeString(digits)
	if err != nil {
		return Token{}, fmt.Errorf("%w: not base64: was it cut short?", ErrMalformed)
	}
	return Parse(b)
}

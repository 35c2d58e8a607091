package admin

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// A Token is what is kept of one: who has it, and a hash by which it is known again. The secret
// itself is drawn from 256 bits, so a plain SHA-256 tells nothing of it.
type Token struct {
	ID   string `json:"id"`   // by which people speak of it
	Name string `json:"name"` // of whoever holds it
	Role Role   `json:"role"`
	Hash string `json:"sha256"`
	// Made is when it was made, and Expires from when it is good no more; zero is never.
	Made    time.Time `json:"made"`
	Expires time.Time `json:"expires,omitzero"`
}

// Expired says whether a token is good no more.
func (t *Token) Expired(now time.Time) bool { return !t.Expires.IsZero() && !now.Before(t.Expires) }

// tokenPrefix is how secrets begin, so that they are known for what they are where they should not
// be.
const tokenPrefix = "coeval-admin-1:"

const (
	secretBytes = 32
	mostTokens  = 1000
	mostName    = 64
	// tokenVersion is that of the file.
	tokenVersion = 1
)

// newToken draws a secret, and gives it with what is kept of it.
func newToken(role Role, name string, life time.Duration, now time.Time) (string, Token, error) {
	switch {
	case role < Watch || role > Operate:
		return "", Token{}, fmt.Errorf("%v is no role", role)
	case name == "" || len(name) > mostName || !plain(name):
		return "", Token{}, fmt.Errorf("the name %.80q: it must have 1 to %d bytes, in one line",
			name, mostName)
	case life < 0:
		return "", Token{}, fmt.Errorf("a life of %v: it must be above zero, or zero for ever", life)
	}
	var b [secretBytes]byte
	_, _ = rand.Read(b[:]) // it never fails
	secret := tokenPrefix + base64.RawURLEncoding.EncodeToString(b[:])
	hash := sha256.Sum256([]byte(secret))
	t := Token{
		ID: hex.EncodeToString(hash[:4]), Name: name, Role: role,
		Hash: hex.EncodeToString(hash[:]), Made: now.UTC().Truncate(time.Second),
	}
	if life > 0 {
		t.Expires = now.Add(life).UTC().Truncate(time.Second)
	}
	return secret, t, nil
}

// ParseSecret checks that a text has the form of a token's secret, such as one that a person has
// put into a file.
func ParseSecret(text string) (string, error) {
	text = strings.TrimSpace(text)
	rest, ok := strings.CutPrefix(text, tokenPrefix)
	if b, err := base64.RawURLEncoding.DecodeString(rest); !ok || err != nil ||
		len(b) != secretBytes {
		return "", fmt.Errorf("it is no token: it must begin with %s and be whole", tokenPrefix)
	}
	return text, nil
}

// A tokenFile is how tokens are kept.
type tokenFile struct {
	Version int     `json:"version"`
	Tokens  []Token `json:"tokens"`
}

var errDamaged = errors.New("it is damaged: put a copy in its place, or remove it and make anew " +
	"what it held")

// parseTokens reads the file of tokens, all of it or nothing.
func parseTokens(data []byte) ([]Token, error) {
	var f tokenFile
	if err := decodeStrict(data, &f); err != nil {
		return nil, fmt.Errorf("%w (%w)", errDamaged, err)
	}
	if f.Version != tokenVersion {
		return nil, fmt.Errorf("it has version %d, and this program reads %d: use the program that "+
			"wrote it", f.Version, tokenVersion)
	}
	if len(f.Tokens) > mostTokens {
		return nil, fmt.Errorf("it has %d tokens: revoke some, at most %d are read", len(f.Tokens),
			mostTokens)
	}
	for i := range f.Tokens {
		t := &f.Tokens[i]
		hash, err := hex.DecodeString(t.Hash)
		if err != nil || len(hash) != sha256.Size || t.Role < Watch || t.Role > Operate ||
			t.ID == "" || t.Name == "" || len(t.Name) > mostName || !plain(t.Name) {
			return nil, fmt.Errorf("%w (token %d)", errDamaged, i+1)
		}
	}
	return f.Tokens, nil
}

// findToken gives the token that a secret is of. It takes as long whichever it is.
func findToken(list []Token, secret string, now time.Time) (found Token, ok bool) {
	hash := sha256.Sum256([]byte(secret))
	text := []byte(hex.EncodeToString(hash[:]))
	for i := range list {
		if subtle.ConstantTimeCompare(text, []byte(list[i].Hash)) == 1 {
			found, ok = list[i], true
		}
	}
	return found, ok && !found.Expired(now)
}

// MakeToken makes a token, adds it to the folder's, and gives the secret, which is kept nowhere. A
// life of zero never ends.
func (f *Folder) MakeToken(role Role, name string, life time.Duration) (string, Token, error) {
	release, err := f.hold()
	if err != nil {
		return "", Token{}, err
	}
	defer release()
	list, err := f.readTokens()
	if err != nil {
		return "", Token{}, err
	}
	now := f.now()
	list = slices.DeleteFunc(list, func(t Token) bool { return t.Expired(now) })
	if len(list) >= mostTokens {
		return "", Token{}, fmt.Errorf("there are %d tokens: revoke some first", len(list))
	}
	secret, t, err := newToken(role, name, life, now)
	if err != nil {
		return "", Token{}, err
	}
	return secret, t, f.writeTokens(append(list, t))
}

// RevokeTokens removes the tokens with an ID, or all of a name, and gives them.
func (f *Folder) RevokeTokens(which string) (gone []Token, err error) {
	release, err := f.hold()
	if err != nil {
		return nil, err
	}
	defer release()
	list, err := f.readTokens()
	if err != nil {
		return nil, err
	}
	kept := slices.DeleteFunc(slices.Clone(list), func(t Token) bool {
		if t.ID != which && t.Name != which {
			return false
		}
		gone = append(gone, t)
		return true
	})
	if len(gone) == 0 {
		return nil, fmt.Errorf("there is no token with the ID or name %.80q", which)
	}
	return gone, f.writeTokens(kept)
}

// Tokens lists the tokens, those that have expired included. The file is replaced whole, so it can
// be read at any time.
func (f *Folder) Tokens() ([]Token, error) {
	return f.readTokens()
}

// readTokens reads the file. It is read for every request, so that what was revoked is so at once.
func (f *Folder) readTokens() ([]Token, error) {
	data, err := f.read(tokensName)
	if err != nil || data == nil {
		return nil, err
	}
	list, err := parseTokens(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.at(tokensName), err)
	}
	return list, nil
}

func (f *Folder) writeTokens(list []Token) error {
	if list == nil {
		list = []Token{}
	}
	return f.write(tokensName, tokenFile{Version: tokenVersion, Tokens: list})
}

// decodeStrict reads one JSON value with no field that is not known, and nothing after it.
func decodeStrict(data []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("something follows the JSON value")
	}
	return nil
}

// plain says whether a text is one line without control characters.
func plain(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool {
		return r < 0x20 || r >= 0x7f && r < 0xa0 || r == 0xfffd || r == 0x2028 || r == 0x2029
	})
}

// ErrNobody says that a token is none of a folder's, or is not good any more. Use errors.Is.
var ErrNobody = errors.New("the token is none of those that the folder knows, or has expired or " +
	"was revoked")

// Holder gives the token that a secret is of, for programs that let operators act without a server
// of this package.
func (f *Folder) Holder(secret string) (Token, error) {
	list, err := f.Tokens()
	if err != nil {
		return Token{}, err
	}
	if t, ok := findToken(list, secret, f.now()); ok {
		return t, nil
	}
	return Token{}, ErrNobody
}

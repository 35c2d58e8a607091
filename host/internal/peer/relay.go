//go:build !js

package peer

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"github.com/coeval-dev/coeval/conn"
	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/host/entry"
	"github.com/coeval-dev/coeval/topology/peers"
	"github.com/coeval-dev/coeval/topology/relay"
)

// At a relay players meet by a short code: the relay's own for the match, and a word that the relay
// is not told. The secret of the match comes from the word, so that the relay, which carries for
// those who do not reach each other, cannot let itself in.

// wordLetters are those of words: none looks like another.
const (
	wordLetters = "23456789ABCDEFGHJKMNPQRSTVWXYZ"
	wordSize    = 8
)

// drawWord makes a word by chance: some 39 bits.
func drawWord() string {
	word := make([]byte, 0, wordSize)
	for b := []byte{0}; len(word) < wordSize; {
		_, _ = rand.Read(b) // it never fails
		if most := 256 - 256%len(wordLetters); int(b[0]) < most {
			word = append(word, wordLetters[int(b[0])%len(wordLetters)])
		}
	}
	return string(word)
}

// A shortCode is what people tell each other who meet at a relay.
type shortCode struct {
	code relay.Code
	word string
}

func (c shortCode) String() string {
	return fmt.Sprintf("%v-%s-%s", c.code, c.word[:wordSize/2], c.word[wordSize/2:])
}

func (c shortCode) secret() [32]byte { return sha256.Sum256([]byte("coeval peer word " + c.word)) }

var errShortCode = errors.New("that is no code: it has four groups of four letters and digits, " +
	"such as K7QF-3M9P-7XK2-QW9D")

// parseShortCode reads a code as people write it: in any case, with or without hyphens.
func parseShortCode(text string) (c shortCode, err error) {
	plain := strings.ToUpper(strings.NewReplacer("-", "", " ", "").Replace(text))
	if len(plain) != len(c.code)+wordSize {
		return c, errShortCode
	}
	if c.code, err = relay.ParseCode(plain[:len(c.code)]); err != nil {
		return c, errShortCode
	}
	if c.word = plain[len(c.code):]; strings.Trim(c.word, wordLetters) != "" {
		return c, errShortCode
	}
	return c, nil
}

// meet connects with the relay.
func (s *session) meet(locals []netip.AddrPort) error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	base, err := entry.Base(s.Relay, "")
	if err != nil {
		return fmt.Errorf("--relay: %w", err)
	}
	a, err := entry.Ask(ctx, base)
	if err != nil {
		return fmt.Errorf("--relay: %w", err)
	}
	at, err := a.Resolve(ctx, base)
	if err != nil {
		return fmt.Errorf("--relay: %w", err)
	}
	o := conn.ClientOptions{Servers: []netip.AddrPort{at}}
	if o.Token, err = token.ParseText(a.Token); err != nil {
		return fmt.Errorf("--relay: %w", err)
	}
	o.Wall = s.peer.Wall
	_, _ = rand.Read(o.Seed[:]) // it never fails
	c, err := relay.NewClient(o)
	if err != nil {
		return err
	}
	s.peer.Meeting = &peers.Meeting{Client: c, Addrs: []netip.AddrPort{at}, Code: s.short.code,
		Locals: locals[:min(len(locals), relay.MaxLocals)]}
	return nil
}

// code waits for the relay to say by what others find the match.
func (s *session) code() (shortCode, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	for {
		err := s.match.Do(ctx, func() { s.short.code = s.mesh.Code() })
		if err == nil && s.short.code != (relay.Code{}) {
			return s.short, nil
		}
		select {
		case <-ctx.Done():
			return s.short, errors.New("the relay does not answer")
		case <-time.After(20 * time.Millisecond):
		}
		if err != nil {
			return s.short, err
		}
	}
}

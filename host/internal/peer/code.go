package peer

import (
	"crypto/rand"
	"errors"
	"fmt"
	"strings"

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

func (c shortCode) secret() [32]byte { return stretch(c.word) }

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

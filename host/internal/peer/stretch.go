package peer

import (
	"crypto/pbkdf2"
	"crypto/sha256"
)

// stretches is how often a word is hashed. A relay could try all words against what it carries. A
// word has 39 bits, so with this it takes 2^57 hashes: at 2^34 a second, which is a fast graphics
// card, three months instead of half a minute. Once takes a player's machine a moment.
const stretches = 1 << 17

// stretch makes the secret of a match from the word in its code.
func stretch(word string) (secret [32]byte) {
	b, err := pbkdf2.Key(sha256.New, word, []byte("coeval peer word"), stretches, len(secret))
	if err != nil { // of no hash that there is
		panic(err)
	}
	copy(secret[:], b)
	return secret
}

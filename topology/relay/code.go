package relay

import (
	"errors"
	"strings"
)

// A Code is what people tell each other to meet in a match: eight letters and digits, none of which
// looks like another. The zero Code is none.
type Code [8]byte

// letters are those of codes: no 0 and O, no 1, I and L, and no U, so that few words come of it.
const letters = "23456789ABCDEFGHJKMNPQRSTVWXYZ"

// ErrCode says that a text is no code.
var ErrCode = errors.New(
	"relay: not a code: it has eight letters and digits, such as K7QF-3M9P; none is 0 1 I L O U")

// String writes a code as people read it, in two halves.
func (c Code) String() string {
	if c == (Code{}) {
		return "none"
	}
	return string(c[:4]) + "-" + string(c[4:])
}

// ParseCode reads a code as people write it: in any case, with or without the hyphen.
func ParseCode(text string) (Code, error) {
	var c Code
	n := 0
	for _, r := range strings.ToUpper(text) {
		switch {
		case r == '-' || r == ' ':
			continue
		case n == len(c) || r > 'Z' || strings.IndexByte(letters, byte(r)) < 0:
			return Code{}, ErrCode
		}
		c[n] = byte(r)
		n++
	}
	if n < len(c) {
		return Code{}, ErrCode
	}
	return c, nil
}

// good says whether a code that came in a message is one.
func (c Code) good() bool {
	for _, b := range c {
		if strings.IndexByte(letters, b) < 0 {
			return false
		}
	}
	return true
}

// makeCode makes a code of a random number. Of 2^64 numbers a few make some codes likelier than
// others, by less than one in ten million.
func makeCode(random uint64) (c Code) {
	for i := range c {
		c[i] = letters[random%uint64(len(letters))]
		random /= uint64(len(letters))
	}
	return c
}

package query

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Clean is a text as it is sent: valid UTF-8 of characters that can be seen, in at most so many
// bytes. Whoever reads one that is not takes it for no answer, so that a server can neither move
// the cursor of a terminal nor write from right to left where people read a list.
func Clean(s string, most int) string {
	if !clean([]byte(s)) {
		s = strings.Map(func(r rune) rune {
			if r == utf8.RuneError || !shown(r) {
				return '?'
			}
			return r
		}, s)
	}
	if len(s) <= most {
		return s
	}
	for most > 0 && !utf8.RuneStart(s[most]) {
		most--
	}
	return s[:most]
}

func clean(b []byte) bool {
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		if r == utf8.RuneError && n <= 1 || !shown(r) {
			return false
		}
		b = b[n:]
	}
	return true
}

func shown(r rune) bool { return r == ' ' || unicode.IsGraphic(r) && !unicode.IsSpace(r) }

package lobby

import "strings"

// letters are those of codes: none is taken for another or for a digit, whether read or heard over
// a bad line, and without most vowels they make no words.
const (
	letters  = "ABCDEFGHJKMNPQRSTVWXYZ"
	CodeSize = 6
)

// draw makes a code that no room has.
func (l *Lobby) draw() string {
	for {
		var b [CodeSize]byte
		n := l.opt.Random()
		for i := range b {
			b[i] = letters[n%uint64(len(letters))]
			n /= uint64(len(letters))
		}
		if code := string(b[:]); l.rooms[code] == nil {
			return code
		}
	}
}

// ParseCode reads a code as people write it: in any case, with spaces or hyphens.
func ParseCode(text string) (code string, ok bool) {
	if len(text) > 4*CodeSize {
		return "", false
	}
	text = strings.ToUpper(strings.NewReplacer(" ", "", "-", "").Replace(text))
	return text, len(text) == CodeSize && strings.Trim(text, letters) == ""
}

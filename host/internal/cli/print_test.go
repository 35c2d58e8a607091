package cli

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// TestProgressFits: the bar takes one line, however narrow the terminal and long what is done.
func TestProgressFits(t *testing.T) {
	const what = "compiling the client of arena to WebAssembly, which takes a minute the first time"
	for width := range 130 {
		p := Progress{width: func() int { return width }}
		for _, done := range []float64{0, 0.31, 1} {
			line := p.line(done, what)
			most := width - 1
			if width == 0 { // it is not known
				most = 79
			}
			if n := utf8.RuneCountInString(line); n > most {
				t.Fatalf("%d columns of %d: %q", n, width, line)
			}
			if width > 40 && !strings.Contains(line, " %  compiling") {
				t.Errorf("%d columns: %q", width, line)
			}
		}
	}
}

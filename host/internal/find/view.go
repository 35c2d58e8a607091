//go:build !js

package find

import (
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// A view is the table while it is measured, on a terminal: written again and again at the same
// place, with a bar below. Elsewhere nothing is shown before the end, so that pipes stay clean. A
// nil view shows nothing.
type view struct {
	out   io.Writer
	size  func() (columns, rows int)
	lines int // that are on the terminal and will be written over
}

// newView makes a view if out is a terminal on which something is to be shown.
func newView(out io.Writer, quiet bool) *view {
	f, ok := out.(*os.File)
	if !ok || quiet || !term.IsTerminal(int(f.Fd())) {
		return nil
	}
	return &view{out: out, size: func() (int, int) {
		columns, rows, err := term.GetSize(int(f.Fd()))
		if err != nil || columns < 1 || rows < 3 {
			return 80, 24
		}
		return columns, rows
	}}
}

// say shows a line in place of a table.
func (v *view) say(what string) {
	if v != nil {
		v.write([]string{what + " ..."})
	}
}

const barWidth = 30

// show shows as much of a table as there is room for, and how much is done.
func (v *view) show(list []*Server, most int, part float64) {
	if v == nil {
		return
	}
	columns, rows := v.size()
	lines := table(list[:min(len(list), most)], columns-1)
	lines = lines[:min(len(lines), rows-2)]
	full := int(part * barWidth)
	lines = append(lines, cut(fmt.Sprintf("%s%s %3.0f %%  measuring %s",
		strings.Repeat("█", full), strings.Repeat("░", barWidth-full), 100*part,
		plural(len(list), "server")), columns-1))
	v.write(lines)
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// write writes lines over those that are there, in one go so that nothing flickers.
func (v *view) write(lines []string) {
	var b strings.Builder
	if v.lines > 0 {
		fmt.Fprintf(&b, "\x1b[%dA", v.lines)
	}
	for _, l := range lines {
		b.WriteString("\r\x1b[K" + l + "\r\n")
	}
	b.WriteString("\x1b[J") // what there was more
	v.lines = len(lines)
	_, _ = io.WriteString(v.out, b.String()) // the report comes again, and says so
}

// clear takes the table away, for what is printed next.
func (v *view) clear() {
	if v != nil && v.lines > 0 {
		v.write(nil)
		v.lines = 0
	}
}

// contains says whether a name has a text in it, however it is written.
func contains(name, text string) bool {
	return strings.Contains(strings.ToLower(name), strings.ToLower(text))
}

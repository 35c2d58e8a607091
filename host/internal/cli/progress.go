package cli

import (
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// A Progress is a bar on a terminal that says how far long work has come. On anything else it shows
// nothing, so that logs and pipes stay clean. A nil Progress shows nothing either.
type Progress struct {
	out   io.Writer
	shown string
}

// NewProgress makes a bar where out is a terminal.
func NewProgress(out io.Writer) *Progress {
	f, ok := out.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return nil
	}
	return &Progress{out: out}
}

const barWidth = 30

// Show draws the bar for a share of the work, from 0 to 1, with what is being done beside it.
func (p *Progress) Show(done float64, what string) {
	if p == nil {
		return
	}
	done = min(max(done, 0), 1)
	full := int(done * barWidth)
	line := fmt.Sprintf("%s%s %3.0f %%  %s", strings.Repeat("█", full),
		strings.Repeat("░", barWidth-full), done*100, what)
	if line != p.shown {
		p.shown = line
		fmt.Fprintf(p.out, "\r\x1b[K%s", line)
	}
}

// Clear takes the bar away, for what is printed next.
func (p *Progress) Clear() {
	if p != nil && p.shown != "" {
		p.shown = ""
		fmt.Fprint(p.out, "\r\x1b[K")
	}
}
